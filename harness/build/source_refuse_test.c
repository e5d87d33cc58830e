// SPDX-License-Identifier: GPL-2.0-only
/* What no kernel can be built from. */
#include "harness/build/source_fixture.h"

static void what_is_no_revision_is_refused(void **state)
{
	run(GIT_SCRIPT);
	refuse_tree("linux", "v9", "v9: no such revision in /");
	refuse_tree("linux", "", ": no such revision");
	refuse_tree("linux", "--help", "--help: no such revision");
	refuse_tree("linux", "-x", "-x: no such revision");
	refuse_tree("linux", "--output=x", "no such revision");
	refuse_tree("linux", "HEAD~5", "HEAD~5: no such revision");
	refuse_tree("linux", "v7.3-rc2..main", "no such revision");
	refuse_tree("linux", "a\n\033[31mb", "no such revision");
	refuse_tree("linux", "0123456789012345678901234567890123456789", "no such revision");
	refuse_tree("linux", "HEAD:mm", "HEAD:mm: a tree in ");
	refuse_tree("linux", "HEAD:Makefile", "HEAD:Makefile: a blob in ");
}

static void what_is_no_tree_is_refused(void **state)
{
	run(GIT_SCRIPT);
	refuse_tree("nowhere", NULL, "nowhere: cannot open: No such file");
	refuse_tree("linux/Makefile", NULL, "not a folder");
	refuse_tree("linux/mm", NULL, "linux/mm: no kernel tree: it has no Makefile");
	refuse_tree("linux/mm", "HEAD", "not the top of a git tree, so it has no revision HEAD");
	refuse_tree("home", NULL, "home: no kernel tree");
	run("cd linux && git rm -q --cached -r arch && git commit -qm three");
	refuse_tree("linux", "HEAD", "no kernel tree: it has no arch/x86");
	run("cd linux && git reset -q --hard v7.3-rc2 && echo all: >Makefile && git commit -qam four");
	refuse_tree("linux", "HEAD", "sets no VERSION and PATCHLEVEL");
	refuse_tree("linux", NULL, "sets no VERSION and PATCHLEVEL");
}

static void broken_repositories_are_refused(void **state)
{
	run(TREE_SCRIPT "git init -q --object-format=sha256 . && git add . && git commit -qm one");
	refuse_tree("linux", "HEAD", "a repository of sha256 objects");
	refuse_tree("linux", NULL, "a repository of sha256 objects");
	run(TREE_SCRIPT "echo 'gitdir: /nowhere' >.git");
	refuse_tree("linux", NULL, "git cannot read this tree: ");
	run(TREE_SCRIPT "git init -q . && echo '[broken' >.git/config");
	refuse_tree("linux", NULL, "git cannot read this tree: ");
}

/* Each of them gets as far as a folder in the cache. */
static void refused_source_leaves_nothing(void **state)
{
	struct source s;

	run(GIT_SCRIPT "git rm -q --cached -r arch && git commit -qm three");
	refuse_tree("linux", "HEAD", "no kernel tree: it has no arch/x86");
	run("test -z \"$(ls -A cache/mmrig/sources)\"");
	run("cd linux && git reset -q --hard v7.3-rc2 && echo all: >Makefile && git commit -qam four");
	refuse_tree("linux", NULL, "sets no VERSION and PATCHLEVEL");
	run("test -z \"$(ls -A cache/mmrig/sources)\"");
	/* What was there before stays. */
	open_tree_at("linux", "v7.3-rc2", &s);
	assert_true(s.made);
	checkout(&s);
	source_close(&s);
	refuse_tree("linux", "HEAD", "sets no VERSION and PATCHLEVEL");
	run("test -e cache/mmrig/sources/*/src/Makefile");
	open_tree_at("linux", "v7.3-rc2", &s);
	assert_false(s.made);
	source_close(&s);
}

static void requests_that_contradict_themselves(void **state)
{
	cleanup_error struct error err = ERROR_INIT;
	struct source_request r = { 0 };
	struct source s;

	assert_int_equal(source_open(&r, &s, &err), -1);
	expect_error(&err, EXIT_USAGE, "one of them");
	r = (struct source_request){ .tree = "a", .debian = "debian:7.3" };
	assert_int_equal(source_open(&r, &s, &err), -1);
	expect_error(&err, EXIT_USAGE, "one of them");
	r = (struct source_request){ .rev = "v7", .debian = "debian:7.3" };
	assert_int_equal(source_open(&r, &s, &err), -1);
	expect_error(&err, EXIT_USAGE, "debian:7.3: has no revision v7");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		fixture_test(what_is_no_revision_is_refused),
		fixture_test(what_is_no_tree_is_refused),
		fixture_test(broken_repositories_are_refused),
		fixture_test(refused_source_leaves_nothing),
		fixture_test(requests_that_contradict_themselves),
	};

	return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
