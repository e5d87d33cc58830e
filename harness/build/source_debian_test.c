// SPDX-License-Identifier: GPL-2.0-only
/* Debian's source packages, with an apt of our own in PATH that serves one. */
#include "harness/build/source_fixture.h"

#include <signal.h>
#include <sys/wait.h>

#define VERSION "7.3.4-1~bpo13+1"
#define DEB "linux-source-7.3_" VERSION "_all.deb"

/* It answers like apt what mmrig asks, and notes each question. */
static const char fake_apt[] =
	"#!/bin/sh\n"
	"top=$(dirname \"$0\")/..\n"
	"echo \"${0##*/} $*\" >>\"$top/apt.log\"\n"
	"deb=\"$top/repo/" DEB "\"\n"
	"case \"${0##*/} $*\" in\n"
	"*pkgnames\\ linux-image-*) echo linux-image-7.3.4-amd64 ;;\n"
	"*pkgnames\\ linux-source-*) printf 'linux-source\\nlinux-source-7.3\\nlinux-source-6.12\\n"
	"linux-source-7.3-doc\\n' ;;\n"
	"*madison*-doc*) exit 1 ;;\n"
	"*madison*) printf ' linux-source-7.3 | " VERSION
	" | http://m/ stable-backports/main amd64 Packages\\n"
	" linux-source-6.12 | 6.12.90-1 | http://m/ stable/main amd64 Packages\\n' ;;\n"
	"*show*) printf 'Package: linux-source-7.3\\nArchitecture: all\\nDepends: binutils, xz-utils\\n"
	"SHA256: %s\\nSize: %s\\n' $(sha256sum \"$deb\" | cut -d' ' -f1) $(stat -c %s \"$deb\") ;;\n"
	"*download*) cp \"$deb\" . ;;\n"
	"esac\n";

/* $1: what is in usr/src. */
#define PACK                                                                      \
	"mkdir -p repo && echo 2.0 >debian-binary && XZ_OPT=-0 tar cJf data.tar.xz usr && " \
	"XZ_OPT=-0 tar cJf control.tar.xz --files-from=/dev/null && rm -f repo/*.deb && "   \
	"ar rc 'repo/" DEB "' debian-binary control.tar.xz data.tar.xz\n"

#define MAKE_DEB                                                                         \
	TREE_SCRIPT                                                                      \
	"printf '/*\\n!/debian/\\n' >.gitignore; echo 1 >mm/forced.o; cd ..\n"           \
	"head -c 700000 /dev/urandom | base64 >linux/mm/large.c\n"                      \
	"rm -rf linux-source-7.3 usr && mv linux linux-source-7.3 && mkdir -p usr/src\n" \
	"XZ_OPT=-0 tar cJf usr/src/linux-source-7.3.tar.xz linux-source-7.3\n" PACK

static void install_apt(void)
{
	cleanup_free char *bin = path_join(top, "bin"), *get = path_join(bin, "apt-get"),
			  *path = str_printf("%s:%s", bin, getenv("PATH"));

	assert_int_equal(dir_make(bin, 0755, NULL), 0);
	assert_int_equal(file_write_atomic(get, fake_apt, strlen(fake_apt), 0755, NULL), 0);
	run("cp bin/apt-get bin/apt-cache");
	if (!strstr(getenv("PATH"), top))
		setenv("PATH", path, 1);
}

static int debian_fresh(void **state)
{
	fixture_fresh(state);
	install_apt();
	run(MAKE_DEB);
	return 0;
}

static int open_debian(const char *spec, struct source *s, struct error *err)
{
	const struct source_request r = { .debian = spec,
					  .mirror = "http://mirror.example/debian/",
					  .progress = note_progress };

	strbuf_free(&told);
	return source_open(&r, s, err);
}

static void must_open(const char *spec, struct source *s)
{
	cleanup_error struct error err = ERROR_INIT;

	if (open_debian(spec, s, &err) < 0)
		fail_msg("%s", err.text);
}

static void must_not_open(const char *spec, int status, const char *text)
{
	cleanup_error struct error err = ERROR_INIT;
	struct source s;

	assert_int_equal(open_debian(spec, &s, &err), -1);
	expect_error(&err, status, text);
}

static void package_becomes_a_source(void **state)
{
	static const char times[] = "cd cache/mmrig/sources/debian-" VERSION "/src && "
				    "find . -printf '%p %T@ %C@ %i\\n' | sort";
	cleanup_free char *before = NULL, *after = NULL, *tree = NULL;
	struct source s;

	must_open("debian:7.3", &s);
	assert_string_equal(s.id, "debian-" VERSION);
	assert_string_equal(s.what, "linux-source-7.3 " VERSION);
	assert_string_equal(s.version, "7.3.0-rc2");
	assert_null(s.commit);
	assert_false(s.dirty);
	assert_true(was_told("linux-source-7.3 " VERSION ", "));
	assert_true(was_told("unpacking\n"));
	assert_true(was_told("taking in the files\n"));
	before = shell(times);
	checkout(&s);
	after = shell(times);
	assert_string_equal(before, after);
	run("diff -r --no-dereference linux-source-7.3 cache/mmrig/sources/*/src && "
	    "test -x cache/mmrig/sources/*/src/scripts/x.sh && test ! -e cache/mmrig/sources/*/.new-*");
	tree = shell("cd linux-source-7.3 && git init -q . && git add -f -A && git write-tree");
	assert_memory_equal(tree, s.object, 40);
	source_close(&s);
}

static void second_time_asks_nobody(void **state)
{
	static const char *const specs[] = { "debian:7.3", "debian:7.3.4", "debian:" VERSION };
	cleanup_free char *object = NULL, *log = NULL;
	struct source s;

	must_open("debian:7.3", &s);
	object = xstrdup(s.object);
	source_close(&s);
	log = shell("grep -c download apt.log; rm -r apt.log bin repo");
	assert_string_equal(log, "1\n");
	for (size_t i = 0; i < ARRAY_SIZE(specs); i++) {
		must_open(specs[i], &s);
		assert_string_equal(s.object, object);
		assert_string_equal(s.what, "linux-source-7.3 " VERSION);
		source_close(&s);
	}
}

static void patch_on_a_package(void **state)
{
	cleanup_free char *path = path_join(top, "p.patch");
	struct source s;

	run("cp -r linux-source-7.3 b && sed -i 's/^line 5$/five/' b/mm/compaction.c && "
	    "! diff -u linux-source-7.3/mm/compaction.c b/mm/compaction.c >p.patch");
	must_open("debian:7.3", &s);
	assert_int_equal(source_patch(&s, path, NULL), 0);
	checkout(&s);
	run("diff -r --no-dereference b cache/mmrig/sources/*/src");
	assert_int_equal(source_keep(s.id, "k", s.object, NULL), 0);
	source_close(&s);
	must_open("debian:7.3", &s);
	assert_string_equal(s.object, s.base);
	checkout(&s);
	run("diff -r --no-dereference linux-source-7.3 cache/mmrig/sources/*/src");
	source_close(&s);
}

static void what_the_archive_lacks(void **state)
{
	must_not_open(
		"debian:5.10", EXIT_USAGE,
		"debian:5.10: the Debian archive has no such linux-source package; the nearest are "
		"6.12.90-1, " VERSION);
	must_not_open("debian:7.3/cloud", EXIT_USAGE, "sources have no flavour; write debian:7.3");
	must_not_open("7.3", EXIT_USAGE, "7.3: not a kernel that can be fetched");
	must_not_open("debian:../../x", EXIT_USAGE,
		      "debian:../../x: no version of a Debian kernel");
	run("test -z \"$(ls cache/mmrig/sources 2>/dev/null)\"");
}

/* ---- ended in the middle ---- */

static const char *fatal_text;
static double fatal_percent;

static void die_there(void *arg, const char *text, double percent)
{
	if (!strcmp(text, fatal_text) && percent >= fatal_percent)
		kill(getpid(), SIGKILL);
}

static void die_at(const char *text, double percent)
{
	const struct source_request r = { .debian = "debian:7.3",
					  .mirror = "http://mirror.example/debian/",
					  .progress = die_there };
	struct source s;
	int status;
	pid_t pid;

	fatal_text = text;
	fatal_percent = percent;
	pid = fork();
	if (pid == 0)
		_exit(source_open(&r, &s, NULL) < 0 ? 1 : 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
}

static void what_was_killed_is_started_anew(void **state)
{
	static const struct {
		const char *text;
		double percent;
	} points[] = { { "unpacking", 20 }, { "unpacking", 99 }, { "taking in the files", 0 } };
	cleanup_free char *object = NULL;
	struct source s;

	must_open("debian:7.3", &s);
	object = xstrdup(s.object);
	source_close(&s);
	for (size_t i = 0; i < ARRAY_SIZE(points); i++) {
		run("rm -r cache");
		die_at(points[i].text, points[i].percent);
		run("cd cache/mmrig/sources/*/ && test -e src && echo rest >src/mm/rest.c");
		must_open("debian:7.3", &s);
		assert_string_equal(s.object, object);
		checkout(&s);
		source_close(&s);
		run("diff -r --no-dereference linux-source-7.3 cache/mmrig/sources/*/src && "
		    "test -z \"$(find cache/mmrig/sources -name '.new-*' -o -name 'tmp_*')\"");
	}
}

/* ---- bad packages ---- */

static void nothing_is_left(void)
{
	run("test -z \"$(ls -A cache/mmrig/sources)\"");
	must_not_open("debian:7.3", EXIT_USAGE, "");
}

static void damaged_packages(void **state)
{
	run("f='repo/" DEB "'; truncate -s $(($(stat -c %s \"$f\") / 2)) \"$f\"");
	must_not_open("debian:7.3", EXIT_USAGE, "damaged or truncated package");
	nothing_is_left();
	run("f=usr/src/linux-source-7.3.tar.xz; truncate -s $(($(stat -c %s $f) / 2)) $f\n" PACK);
	must_not_open("debian:7.3", EXIT_USAGE, "damaged or truncated package");
	nothing_is_left();
	run("mv usr/src/linux-source-7.3.tar.xz usr/src/other.tar.xz\n" PACK);
	must_not_open("debian:7.3", EXIT_USAGE,
		      "no usr/src/linux-source-7.3.tar.* in this package");
	nothing_is_left();
	run("echo no archive >'repo/" DEB "'");
	must_not_open("debian:7.3", EXIT_USAGE, DEB ": ");
}

static void members_that_lead_out(void **state)
{
	run("mkdir x && cd x && mkdir l && echo 1 >evil && tar cf ../a.tar --transform=s,evil,l/../../evil, evil && "
	    "cd .. && xz <a.tar >usr/src/linux-source-7.3.tar.xz\n" PACK);
	must_not_open("debian:7.3", EXIT_USAGE, "refused: member \"l/../../evil\" leads out");
	nothing_is_left();
	run("cd x && mkdir out && ln -s ../../../../../out l/link && tar cf ../a.tar l && rm l/link && mkdir l/link && "
	    "echo 1 >l/link/evil && tar rf ../a.tar l/link/evil && cd .. && mkdir out && "
	    "xz <a.tar >usr/src/linux-source-7.3.tar.xz\n" PACK);
	must_not_open("debian:7.3", EXIT_NO_VERDICT, "link/evil: cannot write");
	run("test -z \"$(ls out)\"");
}

static void package_of_something_else(void **state)
{
	run("rm -r linux-source-7.3/Kconfig && XZ_OPT=-0 tar cJf usr/src/linux-source-7.3.tar.xz linux-source-7.3\n" PACK);
	must_not_open("debian:7.3", EXIT_USAGE,
		      "linux-source-7.3 " VERSION ": no kernel tree: it has no Kconfig");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(package_becomes_a_source, debian_fresh),
		cmocka_unit_test_setup(second_time_asks_nobody, debian_fresh),
		cmocka_unit_test_setup(patch_on_a_package, debian_fresh),
		cmocka_unit_test_setup(what_the_archive_lacks, debian_fresh),
		cmocka_unit_test_setup(what_was_killed_is_started_anew, debian_fresh),
		cmocka_unit_test_setup(damaged_packages, debian_fresh),
		cmocka_unit_test_setup(members_that_lead_out, debian_fresh),
		cmocka_unit_test_setup(package_of_something_else, debian_fresh),
	};

	return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
