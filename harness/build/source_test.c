// SPDX-License-Identifier: GPL-2.0-only
/* Git trees at a revision; src/, refs and differences. */
#include "harness/build/source_fixture.h"

#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

static char *git_says(const char *words)
{
	cleanup_free char *script = str_printf("cd linux && git %s", words);
	char *text = shell(script);

	text[strcspn(text, "\n")] = '\0';
	return text;
}

static void revision_is_a_commit_and_its_tree(void **state)
{
	static const char *const names[] = { "v7.3-rc2", "HEAD~1", "main~1", ":/one", "main@{1}" };
	cleanup_free char *commit = NULL, *tree = NULL, *what = NULL;
	struct source s;

	run(GIT_SCRIPT);
	commit = git_says("rev-parse v7.3-rc2");
	tree = git_says("rev-parse v7.3-rc2^{tree}");
	what = str_printf("v7.3-rc2 of %s/linux", top);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		open_tree_at("linux", names[i], &s);
		assert_string_equal(s.commit, commit);
		assert_string_equal(s.object, tree);
		assert_string_equal(s.base, tree);
		assert_string_equal(s.version, "7.3.0-rc2");
		assert_string_equal(s.what, what);
		assert_false(s.dirty);
		assert_null(s.changes);
		source_close(&s);
	}
	open_tree_at("linux", commit, &s);
	assert_string_equal(s.object, tree);
	source_close(&s);
	open_tree_at("linux", "main", &s);
	assert_true(str_starts(s.what, "v7.3-rc2-1-g"));
	source_close(&s);
}

static void shallow_clone_says_how_to_deepen(void **state)
{
	struct source s;

	run(GIT_SCRIPT "cd .. && git clone -q --depth 1 \"file://$PWD/linux\" shallow");
	refuse_tree("shallow", "HEAD~1", "this clone is shallow: git -C '/tmp/");
	refuse_tree("shallow", "v7.3-rc2", "fetch --unshallow --tags");
	open_tree_at("shallow", "HEAD", &s);
	source_close(&s);
	open_tree_at("shallow", NULL, &s);
	assert_false(s.dirty);
	source_close(&s);
}

static void bare_repository_has_revisions_only(void **state)
{
	struct source s;

	run(GIT_SCRIPT "cd .. && git clone -q --bare linux bare.git");
	open_tree_at("bare.git", "v7.3-rc2", &s);
	assert_string_equal(s.version, "7.3.0-rc2");
	checkout(&s);
	source_close(&s);
	refuse_tree("bare.git", NULL, "a bare repository, which has no files");
}

/* ---- surprises of the environment ---- */

/* Hooks, filters, attributes, helpers: a file that only they could make must not appear. */
static void configuration_of_others_does_nothing(void **state)
{
	cleanup_free char *tree = NULL;
	struct source s;

	run(GIT_SCRIPT
	    "tree=$(git rev-parse HEAD^{tree})\n"
	    "mkdir -p .git/hooks && printf '#!/bin/sh\\ntouch \"%s/evil\"\\n' \"$PWD/..\" "
	    ">.git/hooks/post-checkout && cp .git/hooks/post-checkout .git/hooks/fsmonitor\n"
	    "chmod 755 .git/hooks/*\n"
	    "git config core.fsmonitor .git/hooks/fsmonitor && git config core.autocrlf true\n"
	    "git config filter.evil.clean \"$PWD/.git/hooks/fsmonitor\"\n"
	    "mkdir -p ../home/.config/git && printf '* filter=evil text eol=crlf\\n' "
	    ">../home/.config/git/attributes\n"
	    "printf '[core]\\n\\thooksPath = %s\\n\\tautocrlf = true\\n[filter \"evil\"]\\n\\tclean = "
	    "touch %s/evil\\n' \"$PWD/.git/hooks\" \"$PWD/..\" >../home/.gitconfig\n"
	    "sed -i 's/line 1$/line one/' mm/compaction.c && rm -f ../evil");
	setenv("GIT_DIR", "/nowhere", 1);
	setenv("GIT_INDEX_FILE", "/nowhere", 1);
	setenv("GIT_CONFIG_COUNT", "1", 1);
	setenv("GIT_CONFIG_KEY_0", "core.bare", 1);
	setenv("GIT_CONFIG_VALUE_0", "nonsense", 1);
	open_tree_at("linux", NULL, &s);
	assert_true(s.dirty);
	checkout(&s);
	unsetenv("GIT_DIR");
	unsetenv("GIT_INDEX_FILE");
	unsetenv("GIT_CONFIG_COUNT");
	run("test ! -e evil");
	run("cmp linux/mm/compaction.c cache/mmrig/sources/*/src/mm/compaction.c");
	source_close(&s);
}

static void tree_of_another_owner(void **state)
{
	struct source s;

	if (geteuid() != 0)
		skip();
	run(GIT_SCRIPT "cd .. && chown -R 1234:1234 linux");
	open_tree_at("linux", "v7.3-rc2", &s);
	checkout(&s);
	source_close(&s);
	open_tree_at("linux", NULL, &s);
	assert_false(s.dirty);
	source_close(&s);
}

static void worktrees_and_alternates_are_followed(void **state)
{
	struct source s;

	run(GIT_SCRIPT "cd .. && git -C linux worktree add -q ../tree v7.3-rc2 && "
		       "git clone -q -s linux shared");
	open_tree_at("tree", NULL, &s);
	assert_false(s.dirty);
	assert_true(str_starts(s.what, "v7.3-rc2 of "));
	checkout(&s);
	source_close(&s);
	open_tree_at("shared", "HEAD~1", &s);
	checkout(&s);
	source_close(&s);
}

static void partial_clone_is_not_completed_in_secret(void **state)
{
	run(GIT_SCRIPT "git config uploadpack.allowFilter true && cd .. && "
		       "git clone -q --filter=blob:none \"file://$PWD/linux\" partial");
	refuse_tree("partial", "HEAD~1", "a partial clone that lacks 1 of the files");
	run("rm -rf partial && git clone -q --filter=blob:none --no-checkout \"file://$PWD/linux\" partial && "
	    "cd partial && git sparse-checkout set --cone arch/x86 scripts && git checkout -q && test ! -e mm");
	refuse_tree("partial", NULL, "a partial clone that lacks 2 of the files");
}

/* ---- nothing is written ---- */

/* The patch makes what a later commit holds, in a pack: git would touch that pack's time. */
static void users_tree_is_left_as_it_is(void **state)
{
	cleanup_free char *before = NULL, *after = NULL, *patch = path_join(top, "p.patch");
	cleanup_error struct error err = ERROR_INIT;
	struct source s;

	run(GIT_SCRIPT
	    "git diff HEAD~1 >../p.patch && git gc -q && git checkout -q HEAD~1 && "
	    "echo new >mm/new.c && git add mm/new.c && echo more >>mm/new.c && "
	    "sed -i 's/^other 5$/five/' mm/other.c && rm mm/compaction.c && "
	    "git show main:mm/compaction.c >mm/compaction.c && touch -d '2 days ago' mm/other.c && "
	    "find . -type f -exec touch -h -d yesterday {} + && sleep 0.01");
	before = shell(FINGERPRINT);
	open_tree_at("linux", NULL, &s);
	assert_true(s.dirty);
	checkout(&s);
	source_close(&s);
	open_tree_at("linux", "HEAD", &s);
	assert_int_equal(source_patch(&s, patch, &err), 0);
	checkout(&s);
	assert_int_equal(source_keep(s.id, "k", s.object, &err), 0);
	free(source_diff(s.id, s.base, s.object, false, &err));
	source_close(&s);
	refuse_tree("linux", "nothing", "no such revision");
	after = shell(FINGERPRINT);
	assert_string_equal(before, after);
}

static void read_only_tree_will_do(void **state)
{
	struct source s;

	run(GIT_SCRIPT "echo changed >>mm/other.c; chmod -R a-w .");
	open_tree_at("linux", NULL, &s);
	assert_true(s.dirty);
	checkout(&s);
	source_close(&s);
	run("chmod -R u+w linux");
}

/* ---- src/ ---- */

static void unchanged_files_keep_their_times(void **state)
{
	static const char times[] =
		"cd cache/mmrig/sources/*/src && find . -type f ! -name compaction.c "
		"-printf '%p %T@ %C@ %i\\n' | sort";
	cleanup_free char *before = NULL, *after = NULL, *changed = NULL;
	struct source s;

	run(GIT_SCRIPT);
	open_tree_at("linux", "v7.3-rc2", &s);
	checkout(&s);
	before = shell(times);
	source_close(&s);
	for (int i = 0; i < 2; i++) {
		open_tree_at("linux", "main", &s);
		checkout(&s);
		source_close(&s);
		after = shell(times);
		assert_string_equal(before, after);
		free(STEAL(after));
	}
	changed = shell("grep -c thirty cache/mmrig/sources/*/src/mm/compaction.c");
	assert_string_equal(changed, "1\n");
}

/* What a build, a user or a half-made checkout did to src/ does not stay. */
static void checkout_mends(void **state)
{
	struct source s;

	run(GIT_SCRIPT);
	open_tree_at("linux", "v7.3-rc2", &s);
	checkout(&s);
	run("cd cache/mmrig/sources/*/src && echo x >>mm/other.c && rm Kbuild && chmod 644 scripts/x.sh && "
	    "mkdir -p include && echo half >include/half.h && touch ../checkout");
	checkout(&s);
	run("cd cache/mmrig/sources/*/ && test ! -e src/include && test ! -e checkout && "
	    "git -C ../../../../linux archive v7.3-rc2 | tar x -C \"$PWD\"/../../../../home && "
	    "diff -r src ../../../../home");
	run("rm -r cache/mmrig/sources/*/src");
	checkout(&s);
	run("test -e cache/mmrig/sources/*/src/Kbuild");
	source_close(&s);
}

/* A killed git leaves its lock, and objects without a name. */
static void leftovers_are_swept(void **state)
{
	struct source s;

	run(GIT_SCRIPT);
	open_tree_at("linux", NULL, &s);
	checkout(&s);
	source_close(&s);
	run("cd cache/mmrig/sources/*/ && touch index.lock && mkdir -p .new-1 git/own/pack git/own/ab && "
	    "touch .new-1/x git/own/pack/tmp_pack_x git/own/ab/tmp_obj_x");
	run("echo x >>linux/mm/other.c");
	open_tree_at("linux", NULL, &s);
	checkout(&s);
	source_close(&s);
	run("cd cache/mmrig/sources/*/ && test ! -e .new-1 && test ! -e index.lock && "
	    "test -z \"$(find git -name 'tmp_*')\"");
}

/* ---- by id ---- */

static void kernels_keep_their_objects(void **state)
{
	cleanup_error struct error err = ERROR_INIT;
	cleanup_free char *found = NULL;
	struct source s;

	run(GIT_SCRIPT);
	open_tree_at("linux", "main", &s);
	assert_int_equal(source_keep(s.id, "7.3~rc2..x.lock", s.object, &err), 0);
	found = shell(
		"cd cache/mmrig/sources/*/ && git --git-dir=git for-each-ref --format='%(objectname)'");
	assert_memory_equal(found, s.object, 40);
	run("cd cache/mmrig/sources/*/ && git --git-dir=git fsck --no-dangling");
	assert_int_equal(source_keep(s.id, "7.3~rc2..x.lock", NULL, &err), 0);
	assert_int_equal(source_keep(s.id, "7.3~rc2..x.lock", NULL, &err), 0);
	free(STEAL(found));
	found = shell("cd cache/mmrig/sources/*/ && git --git-dir=git for-each-ref");
	assert_string_equal(found, "");
	assert_int_equal(source_keep("tree-0", "k", NULL, &err), 0);
	assert_int_equal(source_keep("tree-0", "k", s.object, &err), -1);
	expect_error(&err, EXIT_USAGE, "tree-0: no such source");
	assert_int_equal(source_keep(s.id, "k", "--help", &err), -1);
	expect_error(&err, EXIT_USAGE, "no object of a source");
	assert_int_equal(source_keep(s.id, "k", "0123456789012345678901234567890123456789", &err),
			 -1);
	expect_error(&err, EXIT_NO_VERDICT, "are not there any more");
	source_close(&s);
}

static void differences_of_objects(void **state)
{
	cleanup_free char *stat = NULL, *whole = NULL, *none = NULL, *id = NULL, *old = NULL,
			  *new = NULL;
	cleanup_error struct error err = ERROR_INIT;
	struct source s;

	run(GIT_SCRIPT);
	open_tree_at("linux", "v7.3-rc2", &s);
	id = xstrdup(s.id);
	old = xstrdup(s.object);
	source_close(&s);
	open_tree_at("linux", "main", &s);
	new = xstrdup(s.object);
	source_close(&s);
	stat = source_diff(id, old, new, true, &err);
	assert_non_null(strstr(stat, " mm/compaction.c | 2 +-"));
	whole = source_diff(id, old, new, false, &err);
	assert_non_null(strstr(whole, "\n-line 30\n+line thirty\n"));
	none = source_diff(id, old, old, false, &err);
	assert_string_equal(none, "");
	assert_null(source_diff("../x", old, new, false, &err));
	expect_error(&err, EXIT_USAGE, "no such source");
	run("mv linux elsewhere");
	assert_null(source_diff(id, old, new, false, &err));
	expect_error(&err, EXIT_NO_VERDICT, "are not there any more");
}

/* ---- two at once ---- */

/* Another process that has the source open until this one waits for it; then it calls `then`. */
static pid_t hold_source(int (*then)(struct source *s))
{
	int ready[2], waits[2];
	struct source s;
	pid_t pid;
	char c;

	assert_int_equal(pipe(ready), 0);
	assert_int_equal(pipe(waits), 0);
	pid = fork();
	if (pid == 0) {
		struct pollfd p = { .fd = waits[0], .events = POLLIN };

		open_tree_at("linux", "main", &s);
		assert_int_equal(write(ready[1], "x", 1), 1);
		_exit(poll(&p, 1, 60000) == 1 ? then(&s) : 99);
	}
	assert_int_equal(read(ready[0], &c, 1), 1);
	close(ready[0]);
	close(ready[1]);
	close(waits[0]);
	waiting_fd = waits[1];
	return pid;
}

static void await_holder(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	close(waiting_fd);
	waiting_fd = -1;
}

static int just_end(struct source *s)
{
	return 0;
}

static void second_one_waits_and_says_so(void **state)
{
	struct source s;
	pid_t pid;

	run(GIT_SCRIPT);
	pid = hold_source(just_end);
	open_tree_at("linux", "v7.3-rc2", &s);
	assert_true(was_told("waiting for another build of the same source"));
	source_close(&s);
	await_holder(pid);
	open_tree_at("linux", "v7.3-rc2", &s);
	assert_false(was_told("waiting"));
	source_close(&s);
}

static int remove_it(struct source *s)
{
	return dir_remove(s->dir, NULL) ? 1 : 0;
}

/* The folder goes away under one that waits for it, as `kernel rm` does it. */
static void removed_folder_is_made_again(void **state)
{
	struct source s;
	pid_t pid;

	run(GIT_SCRIPT);
	pid = hold_source(remove_it);
	open_tree_at("linux", "main", &s);
	await_holder(pid);
	checkout(&s);
	run("test -e cache/mmrig/sources/*/src/Makefile");
	source_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		fixture_test(revision_is_a_commit_and_its_tree),
		fixture_test(shallow_clone_says_how_to_deepen),
		fixture_test(bare_repository_has_revisions_only),
		fixture_test(configuration_of_others_does_nothing),
		fixture_test(tree_of_another_owner),
		fixture_test(worktrees_and_alternates_are_followed),
		fixture_test(partial_clone_is_not_completed_in_secret),
		fixture_test(users_tree_is_left_as_it_is),
		fixture_test(read_only_tree_will_do),
		fixture_test(unchanged_files_keep_their_times),
		fixture_test(checkout_mends),
		fixture_test(leftovers_are_swept),
		fixture_test(kernels_keep_their_objects),
		fixture_test(differences_of_objects),
		fixture_test(second_one_waits_and_says_so),
		fixture_test(removed_folder_is_made_again),
	};

	return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
