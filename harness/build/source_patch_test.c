// SPDX-License-Identifier: GPL-2.0-only
#include "harness/build/source_fixture.h"

static int patch_with(struct source *s, const char *file, struct error *err)
{
	cleanup_free char *path = path_join(top, file);

	strbuf_free(&told);
	return source_patch(s, path, err);
}

/* p.patch applies, and src/ is then as `linux` is. */
static void expect_applied(struct source *s)
{
	cleanup_error struct error err = ERROR_INIT;

	if (patch_with(s, "p.patch", &err) < 0)
		fail_msg("%s", err.text);
	checkout(s);
	run("diff -r --no-dereference -x .git linux cache/mmrig/sources/*/src");
}

static void refuse_patch(struct source *s, const char *text)
{
	cleanup_error struct error err = ERROR_INIT;
	cleanup_free char *object = xstrdup(s->object);

	assert_int_equal(patch_with(s, "p.patch", &err), -1);
	expect_error(&err, EXIT_USAGE, text);
	assert_non_null(strstr(err.text, "p.patch: "));
	assert_string_equal(s->object, object);
}

/* A tree at HEAD, clean, and whatever `script` makes of p.patch. */
static void make(const char *script, struct source *s)
{
	run(GIT_SCRIPT);
	run(script);
	open_tree_at("linux", "HEAD", s);
}

/* ---- that apply ---- */

static void patch_makes_another_object(void **state)
{
	struct source s;

	make("cd linux && sed -i 's/^line 5$/five/' mm/compaction.c && git mv mm/other.c mm/moved.c && "
	     "sed -i 's/^other 9$/nine/' mm/moved.c && git rm -q Kbuild && mkdir new && echo a >new/a.c && "
	     "git add new && chmod 644 scripts/x.sh && rm scripts/link && ln -s ../arch scripts/link && "
	     "printf 'a\\0b' >bin && git add bin && git diff --binary HEAD >../p.patch",
	     &s);
	expect_applied(&s);
	assert_string_equal(told.len ? told.data : "", "putting the sources in place\n");
	assert_string_not_equal(s.object, s.base);
	source_close(&s);
}

static void series_in_a_mailbox(void **state)
{
	struct source s;

	make("cd linux && sed -i 's/^line 5$/five/' mm/compaction.c && git commit -qam 'a: five' && "
	     "sed -i 's/^five$/cinq/' mm/compaction.c && echo x >mm/n.c && git add . && git commit -qam 'b: six' && "
	     "git format-patch --stdout --cover-letter HEAD~2 >../p.patch && git reset -q --hard HEAD~2 && "
	     "git apply ../p.patch",
	     &s);
	expect_applied(&s);
	source_close(&s);
}

static void two_patches_one_after_the_other(void **state)
{
	cleanup_error struct error err = ERROR_INIT;
	struct source s;

	make("cd linux && sed -i 's/^line 5$/five/' mm/compaction.c && git diff >../q.patch && git stash -q && "
	     "git stash apply -q && git add . && sed -i 's/^five$/cinq/' mm/compaction.c && git diff >../p.patch",
	     &s);
	assert_int_equal(patch_with(&s, "q.patch", &err), 0);
	expect_applied(&s);
	source_close(&s);
}

static void plain_diff_is_a_patch_too(void **state)
{
	struct source s;

	make("cp -r linux b && sed -i 's/^line 5$/five/' b/mm/compaction.c && "
	     "! diff -u linux/mm/compaction.c b/mm/compaction.c >p.patch; cp b/mm/compaction.c linux/mm/",
	     &s);
	expect_applied(&s);
	source_close(&s);
}

static void same_patch_gives_the_same_object(void **state)
{
	cleanup_free char *first = NULL;
	struct source s;

	make("cd linux && sed -i 's/^line 5$/five/' mm/compaction.c && git diff >../p.patch", &s);
	expect_applied(&s);
	first = xstrdup(s.object);
	source_close(&s);
	run("rm -r cache");
	open_tree_at("linux", NULL, &s);
	assert_string_equal(s.object, first);
	source_close(&s);
}

/* On what is not committed, too: such objects are in our repository alone. */
static void patch_on_a_dirty_tree(void **state)
{
	struct source s;

	run(GIT_SCRIPT "sed -i 's/^line 5$/five/' mm/compaction.c && git diff >../p.patch && "
		       "git checkout -q . && sed -i 's/^line 60$/sixty/' mm/compaction.c");
	open_tree_at("linux", NULL, &s);
	run("cd linux && git apply ../p.patch");
	expect_applied(&s);
	source_close(&s);
}

static void offsets_are_told(void **state)
{
	struct source s;

	make("cd linux && sed -i 's/^line 20$/zwanzig/; s/^line 50$/fifty/' mm/compaction.c && git diff >../p.patch && "
	     "git checkout -q . && sed -i '3d;7d' mm/compaction.c && git commit -qam shorter && "
	     "git apply ../p.patch",
	     &s);
	expect_applied(&s);
	source_close(&s);
	open_tree_at("linux", "HEAD", &s);
	assert_int_equal(patch_with(&s, "p.patch", NULL), 0);
	assert_true(was_told("/p.patch: mm/compaction.c: hunk 1 applies 2 lines further up; "
			     "1 more hunk is off too\n"));
	assert_true(str_starts(told.data, "warning: /"));
	source_close(&s);
}

/* ---- that do not ---- */

static void hunk_is_named(void **state)
{
	struct source s;

	make("cd linux && sed -i 's/^line 10$/ten/; s/^line 40$/forty/; s/^line 55$/x/' mm/compaction.c && "
	     "sed -i 's/^other 5$/five/' mm/other.c && git diff >../p.patch && git checkout -q . && "
	     "sed -i 's/^line 3[5-9]$/x/; s/^line 4.$/y/' mm/compaction.c && git commit -qam y",
	     &s);
	refuse_patch(&s, "mm/compaction.c: hunk 2 (@@ -37,7 +37,7 @@ line 36) does not apply");
	run("cd linux && sed -i 's/^line 5./z/' mm/compaction.c && git commit -qam z");
	source_close(&s);
	open_tree_at("linux", "HEAD", &s);
	refuse_patch(&s, "hunk 2 (@@ -37,7 +37,7 @@ line 36) does not apply; nor does 1 more");
	source_close(&s);
}

static void fuzz_is_refused_and_told(void **state)
{
	struct source s;

	make("cd linux && sed -i 's/^line 40$/forty/' mm/compaction.c && git diff >../p.patch && git checkout -q . && "
	     "sed -i 's/^line 37$/x/' mm/compaction.c && git commit -qam y",
	     &s);
	refuse_patch(
		&s, "mm/compaction.c: hunk 1 (@@ -37,7 +37,7 @@ line 36) applies only with fuzz 1");
	run("cd linux && sed -i 's/^line 38$/x/' mm/compaction.c && git commit -qam y");
	source_close(&s);
	open_tree_at("linux", "HEAD", &s);
	refuse_patch(&s, "applies only with fuzz 2; it was made for another version");
	source_close(&s);
}

/* In a series the second patch is for what the first one makes. */
static void hunk_in_a_series(void **state)
{
	struct source s;

	make("cd linux && sed -i 's/^line 5$/five/' mm/compaction.c && git commit -qam a && "
	     "sed -i 's/^five$/cinq/; s/^line 40$/forty/' mm/compaction.c && git commit -qam b && "
	     "git format-patch --stdout HEAD~2 >../p.patch && git reset -q --hard HEAD~2 && "
	     "sed -i 's/^line 4.$/z/' mm/compaction.c && git commit -qam c",
	     &s);
	refuse_patch(&s, "mm/compaction.c: hunk 2 (@@ -37,7 +37,7 @@ line 36) does not apply");
	source_close(&s);
}

static void applied_patch_is_told(void **state)
{
	struct source s;

	make("cd linux && git diff HEAD~1 >../p.patch", &s);
	refuse_patch(&s, "p.patch: is applied already: this tree (v7.3-rc2-1-g");
	source_close(&s);
}

static void missing_files_are_named(void **state)
{
	struct source s;

	make("cd linux && sed -i 's/^line 5$/five/' mm/compaction.c && sed -i 's/^other 5$/five/' mm/other.c && "
	     "git diff >../p.patch && git checkout -q . && git rm -q mm/other.c && git commit -qm y",
	     &s);
	refuse_patch(&s, "p.patch: mm/other.c is not in this tree (v7.3-rc2-2-g");
	run("cd linux && git rm -q mm/compaction.c && git commit -qm y");
	source_close(&s);
	open_tree_at("linux", "HEAD", &s);
	refuse_patch(&s, "mm/compaction.c is not in this tree");
	refuse_patch(&s, "; nor is 1 more of its files");
	source_close(&s);
}

static void other_depths_are_recognised(void **state)
{
	struct source s;

	make("cd linux && sed -i 's/^line 5$/five/' mm/compaction.c && git diff --no-prefix >../p.patch && "
	     "git checkout -q .",
	     &s);
	refuse_patch(&s, "(mm/compaction.c): made with -p0?");
	run("sed -i 's,^--- ,--- x/y/,; s,^+++ ,+++ x/z/,; /^diff/d; /^index/d' p.patch");
	refuse_patch(&s, "(x/y/mm/compaction.c): it is one for -p2");
	source_close(&s);
}

static void file_that_is_there_already(void **state)
{
	struct source s;

	make("cd linux && echo a >mm/new.c && git add . && git diff --cached >../p.patch && echo b >mm/new.c && "
	     "git commit -qam new",
	     &s);
	refuse_patch(&s, "it makes mm/new.c, which is in this tree already");
	source_close(&s);
}

static void what_is_no_patch(void **state)
{
	static const char *const scripts[] = {
		": >p.patch",
		"echo hello >p.patch",
		"printf '<html><script>x</script>\\n' >p.patch",
		"head -c 5000 /dev/urandom >p.patch",
		"printf '\\n\\n-x\\n+y\\n' >p.patch",
	};
	cleanup_error struct error err = ERROR_INIT;
	struct source s;

	make("true", &s);
	for (size_t i = 0; i < ARRAY_SIZE(scripts); i++) {
		run(scripts[i]);
		refuse_patch(&s, "p.patch: not a patch: there is no unified diff in it");
	}
	run("printf 'Content-Transfer-Encoding: base64\\n\\nAAAA\\n' >p.patch");
	refuse_patch(&s, "it is a mail in base64 or quoted-printable");
	assert_int_equal(patch_with(&s, "absent.patch", &err), -1);
	expect_error(&err, EXIT_USAGE, "absent.patch: cannot open: No such file");
	assert_int_equal(patch_with(&s, "linux", &err), -1);
	expect_error(&err, EXIT_USAGE, "linux: cannot read: Is a directory");
	source_close(&s);
}

static void damaged_patches(void **state)
{
	struct source s;

	make("cd linux && sed -i 's/^line 5$/five/' mm/compaction.c && git diff >../p.patch && git checkout -q . && "
	     "head -n -3 ../p.patch >../q && mv ../q ../p.patch",
	     &s);
	refuse_patch(&s, "damaged patch: corrupt patch at ");
	source_close(&s);
}

/* The tree has LF; and whatever else is wrong is said as well. */
static void carriage_returns_are_told(void **state)
{
	struct source s;

	make("cd linux && sed -i 's/^line 5$/five/' mm/compaction.c && git diff >../p.patch && "
	     "git checkout -q . && sed -i 's/$/\\r/' ../p.patch",
	     &s);
	refuse_patch(&s, "p.patch: its lines end in CR LF, those of the tree in LF; without the CRs it "
			 "applies: sed -i 's/\\r$//' takes them out");
	run("cd linux && sed -i 's/^line 5$/v/' mm/compaction.c && git commit -qam y");
	source_close(&s);
	open_tree_at("linux", "HEAD", &s);
	refuse_patch(&s, "mm/compaction.c: hunk 1 (@@ -2,7 +2,7 @@ line 1) does not apply; besides, the "
			 "lines of the patch end in CR LF");
	run("sed -i 's, [ab]/, ,g' p.patch");
	refuse_patch(&s, "made with -p0? Make it with git diff, or put a/ and b/ before them; besides, ");
	source_close(&s);
}

/* A file of the tree may have them: there is nothing wrong with that. */
static void file_with_carriage_returns(void **state)
{
	struct source s;

	make("cd linux && sed -i 's/$/\\r/' mm/compaction.c && git commit -qam crlf && "
	     "sed -i 's/^line 5/five/' mm/compaction.c && git diff >../p.patch",
	     &s);
	expect_applied(&s);
	source_close(&s);
}

static void changed_blanks_are_told(void **state)
{
	struct source s;

	make("cd linux && sed -i 's/ /\\t/' mm/compaction.c && git commit -qam tabs && "
	     "sed -i 's/^line.5$/five/' mm/compaction.c && git diff >../p.patch && git checkout -q . && "
	     "sed -i 's/\\t/ /' ../p.patch",
	     &s);
	refuse_patch(&s, "mm/compaction.c: hunk 1 (@@ -2,7 +2,7 @@ line 1) does not apply; only blanks "
			 "differ: tabs or line ends were changed on the way");
	source_close(&s);
}

/* Names that lead out, and a script for ed(1), which patch(1) would run. */
static void hostile_patches(void **state)
{
	struct source s;

	make("printf -- '--- a/../../evil\\n+++ b/../../evil\\n@@ -0,0 +1 @@\\n+x\\n' >p.patch",
	     &s);
	refuse_patch(&s, "damaged patch: invalid path '../../evil'");
	run("printf -- '--- a/.git/config\\n+++ b/.git/config\\n@@ -0,0 +1 @@\\n+x\\n' >p.patch");
	refuse_patch(&s, "p.patch: ");
	run("printf -- '--- a/mm/other.c\\n+++ b/mm/other.c\\n@@ -1 +1 @@\\n-nothing\\n+x\\n1s/a/b/\\n!touch "
	    "%s/evil\\nw\\nq\\n' \"$PWD\" >p.patch");
	refuse_patch(&s, "mm/other.c: hunk 1 (@@ -1 +1 @@) does not apply");
	run("test ! -e evil && test ! -e ../evil && test -z \"$(find . -name evil)\"");
	source_close(&s);
}

static void path_is_no_option(void **state)
{
	cleanup_error struct error err = ERROR_INIT;
	struct source s;

	make("cd linux && sed -i 's/^line 5$/five/' mm/compaction.c && git diff >../--reverse", &s);
	assert_int_equal(chdir(top), 0);
	assert_int_equal(source_patch(&s, "--reverse", &err), 0);
	assert_int_equal(chdir("/"), 0);
	assert_string_not_equal(s.object, s.base);
	source_close(&s);
}

/* patch(1) is only asked for its opinion. */
static void without_patch_the_hunk_is_named_all_the_same(void **state)
{
	cleanup_free char *path = xstrdup(getenv("PATH")), *bin = path_join(top, "bin");
	struct source s;

	make("cd linux && sed -i 's/^line 10$/ten/; s/^line 40$/forty/' mm/compaction.c && git diff >../p.patch && "
	     "git checkout -q . && sed -i 's/^line 4.$/y/' mm/compaction.c && git commit -qam y && "
	     "mkdir ../bin && printf '#!/bin/sh\\nexit 2\\n' >../bin/patch && chmod 755 ../bin/patch",
	     &s);
	cleanup_free char *both = str_printf("%s:%s", bin, path);

	setenv("PATH", both, 1);
	refuse_patch(&s, "mm/compaction.c: hunk 2 (@@ -37,7 +37,7 @@ line 36) does not apply");
	setenv("PATH", path, 1);
	source_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		fixture_test(patch_makes_another_object),
		fixture_test(series_in_a_mailbox),
		fixture_test(two_patches_one_after_the_other),
		fixture_test(plain_diff_is_a_patch_too),
		fixture_test(same_patch_gives_the_same_object),
		fixture_test(patch_on_a_dirty_tree),
		fixture_test(offsets_are_told),
		fixture_test(hunk_is_named),
		fixture_test(fuzz_is_refused_and_told),
		fixture_test(hunk_in_a_series),
		fixture_test(applied_patch_is_told),
		fixture_test(missing_files_are_named),
		fixture_test(other_depths_are_recognised),
		fixture_test(file_that_is_there_already),
		fixture_test(what_is_no_patch),
		fixture_test(damaged_patches),
		fixture_test(carriage_returns_are_told),
		fixture_test(file_with_carriage_returns),
		fixture_test(changed_blanks_are_told),
		fixture_test(hostile_patches),
		fixture_test(path_is_no_option),
		fixture_test(without_patch_the_hunk_is_named_all_the_same),
	};

	return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
