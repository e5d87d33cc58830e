// SPDX-License-Identifier: GPL-2.0-only
/* Files as they stand: changed git trees, and folders without git. */
#include "harness/build/source_fixture.h"

/* The object of the tree as it stands. */
static char *object_now(void)
{
	struct source s;
	char *object;

	open_tree_at("linux", NULL, &s);
	object = xstrdup(s.object);
	source_close(&s);
	return object;
}

/* The object is made of just these files, which src/ then shows. */
static void expect_files(const char *list)
{
	cleanup_free char *found = NULL;
	struct source s;

	open_tree_at("linux", NULL, &s);
	checkout(&s);
	source_close(&s);
	found = shell(
		"cd cache/mmrig/sources/*/src && find . ! -type d -printf '%P\\n' | LC_ALL=C sort | tr '\\n' ' '");
	found[strcspn(found, "\n")] = '\0';
	assert_string_equal(found, list);
}

#define FILES ".gitignore Kbuild Kconfig Makefile arch/x86/Makefile mm/compaction.c "

static void clean_tree_is_its_commit(void **state)
{
	cleanup_free char *tree = NULL;
	struct source s;

	run(GIT_SCRIPT);
	tree = shell("cd linux && git rev-parse HEAD^{tree}");
	open_tree_at("linux", NULL, &s);
	assert_memory_equal(tree, s.object, 40);
	assert_false(s.dirty);
	assert_null(s.changes);
	assert_non_null(s.commit);
	source_close(&s);
}

static void changes_are_built_and_kept(void **state)
{
	cleanup_free char *path = path_join(top, "changes"), *head = NULL, *object = NULL;
	struct source s;

	run(GIT_SCRIPT
	    "git rm -q --cached mm/other.c && sed -i 's/^line 5$/five/' mm/compaction.c && "
	    "git add mm/compaction.c && sed -i 's/^line 6$/six/' mm/compaction.c && rm Kbuild && "
	    "echo Kbuild >Kbuild && printf 'a\\0b' >mm/new.bin && echo x >mm/x.o && "
	    "chmod 644 scripts/x.sh && rm scripts/link && ln -s ../arch scripts/link");
	open_tree_at("linux", NULL, &s);
	checkout(&s);
	assert_true(s.dirty);
	assert_non_null(strstr(s.what, "-dirty of /"));
	assert_non_null(strstr(s.changes, "+six"));
	assert_int_equal(file_write_atomic(path, s.changes, strlen(s.changes), 0644, NULL), 0);
	object = xstrdup(s.object);
	source_close(&s);
	head = shell(
		"cd linux && diff -r --no-dereference -x .git -x x.o . ../cache/mmrig/sources/*/src && "
		"git reset -q --hard && git clean -qfd && git apply --index ../changes && git write-tree");
	assert_memory_equal(head, object, 40);
}

/* What the same files give does not hang on how they came about. */
static void same_files_same_object(void **state)
{
	cleanup_free char *first = NULL, *second = NULL, *third = NULL, *clean = NULL;

	run(GIT_SCRIPT "echo new >mm/new.c");
	first = object_now();
	run("cd linux && git add mm/new.c && git commit -qm new");
	second = object_now();
	assert_string_equal(first, second);
	run("cd linux && git reset -q --hard HEAD~1");
	clean = object_now();
	assert_string_not_equal(first, clean);
	run("cd linux && echo new >mm/new.c && find . -name '*.c' -exec touch -d yesterday {} +");
	third = object_now();
	assert_string_equal(first, third);
}

/* Written within the same tick as the index, at the same size. */
static void quick_change_is_seen(void **state)
{
	struct source s;

	for (int i = 0; i < 3; i++) {
		run("rm -rf linux;" GIT_SCRIPT
		    "echo aaaa >mm/quick.c && git add mm/quick.c && echo bbbb >mm/quick.c");
		open_tree_at("linux", NULL, &s);
		assert_non_null(strstr(s.changes, "+bbbb"));
		source_close(&s);
	}
}

static void hidden_changes_are_seen(void **state)
{
	struct source s;

	run(GIT_SCRIPT "git update-index --assume-unchanged mm/other.c && "
		       "git update-index --skip-worktree mm/compaction.c && "
		       "echo one >>mm/other.c && echo two >>mm/compaction.c");
	open_tree_at("linux", NULL, &s);
	assert_non_null(strstr(s.changes, "+one"));
	assert_non_null(strstr(s.changes, "+two"));
	source_close(&s);
}

static void sparse_tree_is_filled_from_its_commit(void **state)
{
	static const char *const modes[] = { "--no-sparse-index", "--sparse-index" };

	for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
		cleanup_free char *script = str_printf(
			"cd linux && mkdir drivers && echo a >drivers/a.c && echo b >drivers/b.c && git add . && "
			"git commit -qm drivers && git sparse-checkout set --cone %s arch/x86 scripts mm && "
			"test ! -e drivers",
			modes[i]);
		struct source s;

		run("rm -rf linux;" GIT_SCRIPT);
		run(script);
		open_tree_at("linux", NULL, &s);
		assert_false(s.dirty);
		checkout(&s);
		source_close(&s);
		run("test -e cache/mmrig/sources/*/src/drivers/a.c; mkdir linux/drivers; echo aa >linux/drivers/a.c");
		open_tree_at("linux", NULL, &s);
		assert_non_null(strstr(s.changes, "+aa"));
		assert_null(strstr(s.changes, "b.c"));
		source_close(&s);
	}
}

static void odd_indexes_will_do(void **state)
{
	static const char *const scripts[] = {
		"git update-index --split-index && echo 1 >>Kconfig && git add Kconfig",
		"git config core.untrackedCache true && git update-index --untracked-cache && git status >../s",
		"git update-index --index-version 4",
		"chmod 000 .git/index",
		"echo garbage >.git/index",
	};

	for (size_t i = 0; i < ARRAY_SIZE(scripts); i++) {
		cleanup_free char *script =
			str_printf("cd linux && %s; echo changed >>mm/other.c", scripts[i]);
		struct source s;

		run("rm -rf linux;" GIT_SCRIPT);
		run(script);
		open_tree_at("linux", NULL, &s);
		assert_non_null(strstr(s.changes, "\n other 60\n+changed\n"));
		source_close(&s);
	}
}

static void conflict_is_taken_as_it_stands(void **state)
{
	struct source s;

	run(GIT_SCRIPT
	    "git checkout -q -b side HEAD~1 && sed -i 's/^line 30$/dreissig/' mm/compaction.c && "
	    "git commit -qam side && ! git merge -q main >/dev/null 2>&1 && echo n >n.c && git add -N n.c");
	open_tree_at("linux", NULL, &s);
	assert_non_null(strstr(s.changes, "+<<<<<<< "));
	assert_non_null(strstr(s.changes, "+n\n"));
	source_close(&s);
}

static void what_the_user_ignores_is_left_out(void **state)
{
	struct source s;

	run(GIT_SCRIPT
	    "mkdir -p ../home/.config/git .git/info mmrig-results && echo '*.notes' "
	    ">../home/.config/git/ignore && echo /scratch/ >.git/info/exclude && mkdir scratch && "
	    "echo 1 >scratch/x.c && echo 2 >my.notes && echo 3 >mm/z.o && echo 4 >mmrig-results/x");
	open_tree_at("linux", NULL, &s);
	assert_false(s.dirty);
	source_close(&s);
	run("cd linux && echo '*.memo' >../ign && git config core.excludesFile ../ign && rm my.notes && "
	    "echo >x.memo");
	open_tree_at("linux", NULL, &s);
	assert_false(s.dirty);
	source_close(&s);
}

static void what_can_be_no_source_is_left_out(void **state)
{
	struct source s;

	run(GIT_SCRIPT "truncate -s 65M disk.img && git init -q sub && echo >sub/x && mkfifo pipe");
	open_tree_at("linux", NULL, &s);
	assert_false(s.dirty);
	assert_true(was_told("warning: "));
	assert_true(was_told("/linux/disk.img: 68 MB, left out of the sources\n"));
	assert_true(
		was_told("/linux/sub/: a git repository of its own, left out of the sources\n"));
	source_close(&s);
}

static void hostile_names_are_names(void **state)
{
	struct source s;

	run(GIT_SCRIPT
	    "touch -- '-x' 'a\nb' \"c'd\" '\"e\"' ':(top)f' '*' '<script>' \"$(printf 'g\\033[31m')\"; "
	    "truncate -s 65M \"$(printf 'big\\033[31m\\nx')\"");
	open_tree_at("linux", NULL, &s);
	assert_true(s.dirty);
	assert_false(was_told("\033"));
	checkout(&s);
	source_close(&s);
	run("cd linux && diff -r -x .git -x 'big*' . ../cache/mmrig/sources/*/src");
}

/* ---- no git ---- */

static void folder_is_taken_without_its_products(void **state)
{
	struct source s;

	run(TREE_SCRIPT "echo 1 >vmlinux; echo 2 >mm/compaction.o; echo 3 >mm/vmlinux");
	expect_files(FILES "mm/other.c mm/vmlinux scripts/link scripts/x.sh ");
	open_tree_at("linux", NULL, &s);
	assert_null(s.commit);
	assert_false(s.dirty);
	assert_true(str_ends(s.what, "/linux"));
	assert_string_equal(s.version, "7.3.0-rc2");
	source_close(&s);
}

static void attributes_change_no_byte(void **state)
{
	run(TREE_SCRIPT
	    "printf '* text eol=crlf ident working-tree-encoding=UTF-16\n' >.gitattributes && "
	    "printf 'a\r\nb\n$Id: x$\n' >mm/x.c");
	expect_files(".gitattributes " FILES "mm/other.c mm/x.c scripts/link scripts/x.sh ");
	run("diff -r --no-dereference linux cache/mmrig/sources/*/src");
}

static void folder_is_followed(void **state)
{
	cleanup_free char *first = NULL, *last = NULL, *packs = NULL, *again = NULL;

	run(TREE_SCRIPT);
	first = object_now();
	packs = shell("ls -R cache/mmrig/sources/*/git/own");
	last = object_now();
	again = shell("ls -R cache/mmrig/sources/*/git/own");
	assert_string_equal(first, last);
	assert_string_equal(packs, again);
	run("cd linux && rm mm/other.c && mkdir mm/other.c && echo x >mm/other.c/x && echo y >mm/y.tmp && "
	    "sed -i 's/^line 4$/four/' mm/compaction.c");
	expect_files(FILES "mm/other.c/x mm/y.tmp scripts/link scripts/x.sh ");
	run("grep -q four cache/mmrig/sources/*/src/mm/compaction.c && echo '*.tmp' >>linux/.gitignore");
	expect_files(FILES "mm/other.c/x scripts/link scripts/x.sh ");
	run("cd linux && sed -i '/tmp/d' .gitignore && rm -r mm/y.tmp mm/other.c && seq -f 'other %g' 60 >mm/other.c && "
	    "sed -i 's/^four$/line 4/' mm/compaction.c");
	free(STEAL(last));
	last = object_now();
	assert_string_equal(first, last);
}

/* linux-source's own .gitignore would ignore all of it. */
static void debians_gitignore_is_understood(void **state)
{
	run(TREE_SCRIPT
	    "printf '.*\\n*.o\\nmodules.order\\n/vmlinux\\n!tags/\\n/include/generated/\\n/*\\n!/debian/\\n' "
	    ">.gitignore; echo '!keep.o' >mm/.gitignore; mkdir -p include/generated tags drivers; "
	    "for f in .config modules.order vmlinux x.o mm/x.o mm/keep.o mm/modules.order mm/vmlinux "
	    "include/generated/x.h include/x.h tags/x.c drivers/d.c; do echo >$f; done");
	expect_files(
		"Kbuild Kconfig Makefile arch/x86/Makefile drivers/d.c include/x.h mm/compaction.c mm/keep.o "
		"mm/other.c mm/vmlinux scripts/link scripts/x.sh tags/x.c ");
}

static void debians_gitignore_in_a_git_tree(void **state)
{
	struct source s;

	run(TREE_SCRIPT
	    "printf '/vmlinux\n/*\n!/debian/\n' >.gitignore; git init -q . && git add -f . && "
	    "git commit -qm one && echo >vmlinux && echo new >mm/new.c");
	open_tree_at("linux", NULL, &s);
	assert_non_null(strstr(s.changes, "b/mm/new.c"));
	assert_null(strstr(s.changes, "b/vmlinux"));
	source_close(&s);
}

static void git_tree_without_a_commit_is_a_folder(void **state)
{
	struct source s;

	run(TREE_SCRIPT "git init -q .");
	open_tree_at("linux", NULL, &s);
	assert_null(s.commit);
	checkout(&s);
	source_close(&s);
	refuse_tree("linux", "HEAD", "HEAD: no such revision");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		fixture_test(clean_tree_is_its_commit),
		fixture_test(changes_are_built_and_kept),
		fixture_test(same_files_same_object),
		fixture_test(quick_change_is_seen),
		fixture_test(hidden_changes_are_seen),
		fixture_test(sparse_tree_is_filled_from_its_commit),
		fixture_test(odd_indexes_will_do),
		fixture_test(conflict_is_taken_as_it_stands),
		fixture_test(what_the_user_ignores_is_left_out),
		fixture_test(what_can_be_no_source_is_left_out),
		fixture_test(hostile_names_are_names),
		fixture_test(folder_is_taken_without_its_products),
		fixture_test(attributes_change_no_byte),
		fixture_test(folder_is_followed),
		fixture_test(debians_gitignore_is_understood),
		fixture_test(debians_gitignore_in_a_git_tree),
		fixture_test(git_tree_without_a_commit_is_a_folder),
	};

	return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
