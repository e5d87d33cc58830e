// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program that misbehaves, for ci/e2e/toolbox.sh: it stands where fio would in the toolbox, and takes the
 * last word of its command line for what it is to do wrong.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void hang(void)
{
	for (;;)
		pause();
}

/* Alive, but not getting anywhere. */
static void poller(void)
{
	for (;;)
		usleep(10000);
}

static void spin(void)
{
	for (;;)
		;
}

static void forks(void)
{
	for (;;)
		if (fork() == 0)
			hang();
}

static void bomb(void)
{
	for (;;)
		fork();
}

static void output(void)
{
	static char text[1 << 20];

	memset(text, 'x', sizeof(text));
	for (size_t i = 80; i < sizeof(text); i += 80)
		text[i] = '\n';
	for (int i = 0; i < 1024; i++)
		(void)!write(i % 2 + 1, text, sizeof(text));
	fprintf(stderr, "fio: error: the last line of many\n");
	exit(1);
}

/* What outlives it holds its output open, ignores signals, and is of another session. */
static void orphan(void)
{
	if (fork() == 0) {
		setsid();
		for (int s = 1; s < NSIG; s++)
			signal(s, SIG_IGN);
		if (fork() == 0)
			spin();
		hang();
	}
	sleep(1);
	printf("fio: error: my children are still there\n");
	fflush(stdout);
	_exit(1);
}

static void eat(void)
{
	for (;;) {
		char *p = malloc(1 << 20);

		if (p)
			memset(p, 1, 1 << 20);
	}
}

static void fall(void)
{
	raise(SIGSEGV);
}

static void silent(void)
{
	exit(9);
}

static void lacking(void)
{
	printf("fio: io_uring_setup: Function not implemented\n");
	exit(1);
}

/* Control characters, quotes, and no newline at the end. */
static void rude(void)
{
	printf("\033[31mfio: error: \"quoted\" \\ \xff\xfe <script>");
	exit(1);
}

static void wrong(void)
{
	exit(0); /* and no report */
}

static void environment(void)
{
	extern char **environ;
	char cwd[256], byte;

	printf("error:");
	for (char **e = environ; *e; e++)
		printf(" %s", *e);
	printf(" cwd=%s stdin=%zd fds=%d uid=%d", getcwd(cwd, sizeof(cwd)), read(0, &byte, 1),
	       dup(0), (int)getuid());
	exit(1);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*fn)(void);
	} bad[] = { { "hang", hang },	  { "poller", poller }, { "spin", spin },
		    { "forks", forks },	  { "bomb", bomb },	{ "output", output },
		    { "orphan", orphan }, { "eat", eat },	{ "fall", fall },
		    { "silent", silent }, { "lacking", lacking }, { "rude", rude },
		    { "wrong", wrong },	  { "environment", environment } };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (strcmp(argv[argc - 1], bad[i].name) == 0)
			bad[i].fn();
	fprintf(stderr, "bad-program: nothing of that name\n");
	return 1;
}
