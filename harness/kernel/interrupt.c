// SPDX-License-Identifier: GPL-2.0-only
#include "harness/kernel/interrupt.h"

#include <string.h>
#include <unistd.h>

#include "results/util/cleanup.h"
#include "results/verdict.h"

static const int signals[INTERRUPT_SIGNALS] = { SIGINT, SIGTERM, SIGHUP };

/* A handler knows nothing else. */
static const char *volatile next_text = "";
static volatile pid_t owner;
static volatile bool on_terminal;

static void say(const char *text)
{
	/* Nobody is left to be told of a failure. */
	if (write(STDERR_FILENO, text, strlen(text)) < 0)
		return;
}

/* A child that has not become its program yet has inherited this, and is to die like any other. */
static void on_signal(int sig)
{
	if (getpid() != owner) {
		signal(sig, SIG_DFL);
		raise(sig);
		return;
	}
	if (on_terminal)
		say("\r\033[K"); /* a live line stands there */
	say("mmrig: kernel: interrupted; ");
	say(next_text);
	say("\n");
	_exit(EXIT_INTERRUPTED);
}

void interrupt_next(const char *next)
{
	next_text = next;
}

void interrupt_begin(struct interrupt *w, const char *next)
{
	struct sigaction action = { .sa_handler = on_signal };

	*w = (struct interrupt){ 0 };
	next_text = next;
	owner = getpid();
	on_terminal = isatty(STDERR_FILENO);
	sigfillset(&action.sa_mask); /* else a second one would say it again */
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		if (sigaction(signals[i], NULL, &w->before[i]) == 0 &&
		    w->before[i].sa_handler == SIG_DFL)
			w->ours[i] = sigaction(signals[i], &action, NULL) == 0;
}

void interrupt_end(struct interrupt *w)
{
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		if (w->ours[i])
			sigaction(signals[i], &w->before[i], NULL);
}
