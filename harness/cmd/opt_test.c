// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness/cmd/help.h"
#include "harness/cmd/opt.h"
#include "results/util/cleanup.h"
#include "results/verdict.h"

struct brew_args {
	bool strong, milk;
	const char *name, *grind;
	struct opt_list add;
	uint64_t cups, water;
};

static const struct opt brew_opts[] = {
	OPT_FLAG("strong", struct brew_args, strong, "use more beans"),
	OPT_FLAG("milk", struct brew_args, milk, "add milk"),
	OPT_STRING_LETTER('n', "name", struct brew_args, name, "TEXT", "what to write on the cup"),
	OPT_LIST("add", struct brew_args, add, "THING", "what to put in"),
	OPT_U64("cups", struct brew_args, cups, "N", 1, 12, "how many cups"),
	OPT_BYTES("water", struct brew_args, water, "SIZE", "how much water"),
	OPT_CHOICE("grind", struct brew_args, grind, "fine|coarse",
		   "size of the grains; a sentence that is long enough to be wrapped somewhere"),
	OPT_END,
};

static int brew_run(const struct command *self, int argc, char **argv, struct error *err);

static const struct command brew = {
	.name = "brew",
	.args = "BEAN [PLACE]",
	.summary = "make coffee",
	.text = "It is made slowly.\n\n    mmrig brew arabica\n",
	.opts = brew_opts,
	.run = brew_run,
};

static int fail_run(const struct command *self, int argc, char **argv, struct error *err)
{
	return error_set(err, EXIT_NO_VERDICT, "pot: is \033 broken");
}

static const struct command pot_clean = { .name = "clean", .summary = "clean it", .run = fail_run };
static const struct command pot_fill = {
	.name = "fill", .summary = "fill it", .opts = brew_opts, .run = brew_run
};
static const struct command *const pot_sub[] = { &pot_clean, &pot_fill, NULL };
static const struct command pot = { .name = "pot", .summary = "see to the pot", .sub = pot_sub };

const struct command *const command_table[] = { &brew, &pot, &command_help, NULL };

static int brew_run(const struct command *self, int argc, char **argv, struct error *err)
{
	struct brew_args args = { .cups = 2 };
	int n, status = opt_parse(self, argc, argv, &args, &n, 1, 2, err);

	opt_list_free(&args.add);
	if (status < 0)
		return -1;
	printf("%s: %d cups\n", argv[0], (int)args.cups);
	return args.strong ? EXIT_AGAINST : EXIT_GOOD;
}

/* ---- parsing ---- */

#define ARGV(...) ((char *[]){ (char *)"mmrig", ##__VA_ARGS__, NULL })
#define W(s) ((char *)(s))

static int count(char **argv)
{
	int n = 0;

	while (argv[n])
		n++;
	return n;
}

static int parse(char **argv, struct brew_args *args, int *n, struct error *err)
{
	return opt_parse(&brew, count(argv) - 1, argv + 1, args, n, 1, 2, err);
}

static void expect_error(char **argv, const char *text)
{
	cleanup_error struct error err = ERROR_INIT;
	struct brew_args args = { .strong = false };
	int n;

	assert_int_equal(parse(argv, &args, &n, &err), -1);
	assert_int_equal(err.status, EXIT_USAGE);
	assert_string_equal(err.text, text);
	opt_list_free(&args.add);
}

static void test_every_kind(void **state)
{
	char **argv = ARGV(W("--strong"), W("robusta"), W("--cups"), W("12"), W("--water=1.5M"),
			   W("--add"), W("sugar"), W("--name=a=b"), W("here"), W("--add=salt"),
			   W("--grind"), W("coarse"));
	struct brew_args args = { .milk = true };
	int n = 0;

	assert_int_equal(parse(argv, &args, &n, NULL), 0);
	assert_int_equal(n, 2);
	assert_string_equal(argv[1], "robusta");
	assert_string_equal(argv[2], "here");
	assert_true(args.strong && args.milk);
	assert_int_equal(args.cups, 12);
	assert_int_equal(args.water, 1572864);
	assert_string_equal(args.name, "a=b");
	assert_string_equal(args.grind, "coarse");
	assert_int_equal(args.add.n, 2);
	assert_string_equal(args.add.item[0], "sugar");
	assert_string_equal(args.add.item[1], "salt");
	assert_null(args.add.item[2]);
	opt_list_free(&args.add);
	assert_null(args.add.item);
}

static void expect_name(char **argv, const char *name, const char *first)
{
	struct brew_args args = { .strong = false };
	int n = 0;

	assert_int_equal(parse(argv, &args, &n, NULL), 0);
	assert_int_equal(n, 1);
	assert_string_equal(argv[1], first);
	assert_string_equal(args.name, name);
}

static void test_flags_last_word_counts(void **state)
{
	struct brew_args args = { .strong = false, .milk = true };
	int n;

	assert_int_equal(parse(ARGV(W("x"), W("--strong"), W("--no-milk"), W("--no-strong")), &args,
			       &n, NULL),
			 0);
	assert_false(args.strong);
	assert_false(args.milk);
}

static void test_two_dashes_end_options(void **state)
{
	char **argv = ARGV(W("--"), W("--strong"), W("-"));
	struct brew_args args = { .strong = false };
	int n = 0;

	assert_int_equal(parse(argv, &args, &n, NULL), 0);
	assert_int_equal(n, 2);
	assert_string_equal(argv[1], "--strong");
	assert_string_equal(argv[2], "-");
	assert_false(args.strong);
}

static void test_unknown_options(void **state)
{
	expect_error(ARGV(W("x"), W("--cpus=3")),
		     "brew: unknown option --cpus; did you mean --cups?");
	expect_error(ARGV(W("x"), W("--gr")), "brew: unknown option --gr; did you mean --grind?");
	expect_error(ARGV(W("x"), W("--no-mlik")),
		     "brew: unknown option --no-mlik; did you mean --no-milk?");
	expect_error(
		ARGV(W("x"), W("--no-cups")),
		"brew: unknown option --no-cups; only flags have a --no-, and --cups takes a value");
	expect_error(ARGV(W("x"), W("--temperature")),
		     "brew: unknown option --temperature; --help lists the options");
	expect_error(ARGV(W("x"), W("-s")), "brew: unknown option -s; did you mean --strong?");
}

static void test_bad_values(void **state)
{
	expect_error(ARGV(W("x"), W("--cups"), W("13")),
		     "brew: --cups: 13 is out of range; allowed are 1 to 12");
	expect_error(ARGV(W("x"), W("--cups"), W("-1")),
		     "brew: --cups: \"-1\" is not a whole number");
	expect_error(
		ARGV(W("x"), W("--water=much")),
		"brew: --water: \"much\" is not a size; write bytes or a number with K, M, G or T,"
		" as in 512M");
	expect_error(ARGV(W("x"), W("--grind=corse")),
		     "brew: --grind: \"corse\" is none of fine|coarse; did you mean coarse?");
	expect_error(ARGV(W("x"), W("--grind=f")), "brew: --grind: \"f\" is none of fine|coarse");
	expect_error(ARGV(W("x"), W("--name")), "brew: --name needs a value: --name TEXT");
	expect_error(ARGV(W("x"), W("--name="), W("y")),
		     "brew: --name: the value is empty; it takes TEXT");
	expect_error(
		ARGV(W("x"), W("--name"), W("--milk")),
		"brew: --name needs a value, but --milk follows; write --name=--milk if that is it");
	expect_error(ARGV(W("x"), W("--milk=no")),
		     "brew: --milk takes no value; write --milk or --no-milk");
}

static void test_counts_of_arguments(void **state)
{
	expect_error(ARGV(W("--milk")),
		     "brew: an argument is missing; usage: brew BEAN [PLACE] [--OPTION]...");
	expect_error(ARGV(W("a"), W("b"), W("c")),
		     "brew: one argument too many: \"c\"; usage: brew BEAN [PLACE] [--OPTION]...");
}

/* ---- the program ---- */

struct output {
	char *out, *err;
	size_t out_len, err_len;
	int status;
};

static void output_free(struct output *o)
{
	free(o->out);
	free(o->err);
}

/* glibc's stdout and stderr may be assigned to. */
static struct output run_main(char **argv)
{
	FILE *out = stdout, *errs = stderr;
	struct output o = { NULL, NULL, 0, 0, 0 };

	stdout = open_memstream(&o.out, &o.out_len);
	stderr = open_memstream(&o.err, &o.err_len);
	o.status = command_main(count(argv), argv);
	fclose(stdout);
	fclose(stderr);
	stdout = out;
	stderr = errs;
	return o;
}

static void expect_main(char **argv, int status, const char *out, const char *err)
{
	__attribute__((cleanup(output_free))) struct output o = run_main(argv);

	assert_string_equal(o.err, err);
	assert_string_equal(o.out, out);
	assert_int_equal(o.status, status);
}

static void test_runs_and_errors(void **state)
{
	expect_main(ARGV(W("brew"), W("arabica")), 0, "arabica: 2 cups\n", "");
	expect_main(ARGV(W("brew"), W("arabica"), W("--strong"), W("--cups=3")), 1,
		    "arabica: 3 cups\n", "");
	expect_main(ARGV(W("berw")), 2, "",
		    "mmrig: unknown command \"berw\"; did you mean mmrig brew?\n");
	expect_main(ARGV(W("teapots")), 2, "",
		    "mmrig: unknown command \"teapots\"; mmrig --help lists the commands\n");
	expect_main(ARGV(W("pot"), W("clena")), 2, "",
		    "mmrig: unknown command \"clena\"; did you mean mmrig pot clean?\n");
	expect_main(ARGV(W("pot"), W("fill")), 2, "",
		    "mmrig: pot: fill: an argument is missing; usage: fill [--OPTION]...\n");
	expect_main(ARGV(W("pot"), W("clean")), 4, "", "mmrig: pot: pot: is \\x1b broken\n");
	expect_main(ARGV(W("help"), W("brew"), W("x")), 2, "",
		    "mmrig: mmrig brew has no commands of its own, so no \"x\"\n");
	expect_main(ARGV(W("--strong")), 2, "",
		    "mmrig: --strong stands where a command is due; options follow it,"
		    " as in mmrig list metrics --json\n");
	expect_main(ARGV(W("--hlep")), 2, "",
		    "mmrig: --hlep stands where a command is due; did you mean --help?\n");
}

static void test_letters(void **state)
{
	expect_name(ARGV(W("x"), W("-n"), W("tea")), "tea", "x");
	expect_name(ARGV(W("-ntea"), W("x")), "tea", "x");
	expect_name(ARGV(W("-n=tea"), W("x")), "tea", "x");
	expect_name(ARGV(W("-n"), W("-"), W("x")), "-", "x");
	expect_name(ARGV(W("-n"), W("-n"), W("x")), "-n", "x");
	expect_error(ARGV(W("x"), W("-n")), "brew: --name needs a value: --name TEXT");
	expect_error(ARGV(W("x"), W("-n=")), "brew: --name: the value is empty; it takes TEXT");
	expect_error(ARGV(W("x"), W("-n"), W("--milk")),
		     "brew: --name needs a value, but --milk follows; write --name=--milk if that"
		     " is it");
	expect_error(ARGV(W("x"), W("-N"), W("y")),
		     "brew: unknown option -N; --help lists the options");
	expect_error(ARGV(W("x"), W("-\xff")),
		     "brew: unknown option -\xff; --help lists the options");
	expect_main(ARGV(W("brew"), W("x"), W("-n"), W("-h")), 0, "x: 2 cups\n", "");
	expect_main(ARGV(W("brew"), W("x"), W("-n-h")), 0, "x: 2 cups\n", "");
}

static const char brew_help[] =
	"usage: mmrig brew BEAN [PLACE] [--OPTION]...\n"
	"\n"
	"make coffee\n"
	"\n"
	"It is made slowly.\n"
	"\n"
	"    mmrig brew arabica\n"
	"\n"
	"options:\n"
	"  --strong                use more beans\n"
	"  --milk                  add milk\n"
	"  -n, --name TEXT         what to write on the cup\n"
	"  --add THING             what to put in; may be repeated\n"
	"  --cups N                how many cups (1 to 12)\n"
	"  --water SIZE            how much water\n"
	"  --grind fine|coarse     size of the grains; a sentence that is long enough to\n"
	"                          be wrapped somewhere\n";

static const char pot_help[] = "usage: mmrig pot COMMAND\n"
			       "\n"
			       "see to the pot\n"
			       "\n"
			       "commands:\n"
			       "  clean       clean it\n"
			       "  fill        fill it\n";

static void test_help_goes_where_it_belongs(void **state)
{
	__attribute__((cleanup(output_free))) struct output asked = run_main(ARGV(W("--help")));

	expect_main(ARGV(W("brew"), W("--help")), 0, brew_help, "");
	expect_main(ARGV(W("help"), W("brew")), 0, brew_help, "");
	expect_main(ARGV(W("brew"), W("x"), W("-h")), 0, brew_help, "");
	expect_main(ARGV(W("brew"), W("x"), W("--name"), W("-h")), 0, "x: 2 cups\n", "");
	expect_main(ARGV(W("brew"), W("x"), W("--"), W("--help")), 0, "x: 2 cups\n", "");
	expect_main(ARGV(W("brew"), W("--strong"), W("--help")), 0, brew_help, "");
	/* What stands where a value is due is no wish for help. */
	expect_main(ARGV(W("brew"), W("x"), W("--name"), W("--help")), 2, "",
		    "mmrig: brew: --name needs a value, but --help follows; write --name=--help if "
		    "that is it\n");
	expect_main(ARGV(W("pot"), W("fill"), W("x"), W("--cups"), W("--help")), 2, "",
		    "mmrig: pot: fill: --cups needs a value, but --help follows; write --cups=--help "
		    "if that is it\n");
	expect_main(ARGV(W("brew"), W("--name"), W("-h"), W("x")), 0, "x: 2 cups\n", "");
	expect_main(ARGV(W("brew"), W("--name=--help"), W("x")), 0, "x: 2 cups\n", "");
	expect_main(ARGV(W("pot"), W("--help")), 0, pot_help, "");
	expect_main(ARGV(W("pot")), 2, "", pot_help);
	expect_main(ARGV(W("--version")), 0, "mmrig " MMRIG_VERSION "\n", "");
	assert_int_equal(asked.status, 0);
	assert_string_equal(asked.err, "");
	assert_non_null(strstr(asked.out, "\n  130  interrupted by the user\n"));
	expect_main(ARGV(), 2, "", asked.out);
}

static void test_manual_is_made_of_the_tables(void **state)
{
	cleanup_free char *man = command_manual_text();

	assert_non_null(
		strstr(man, ".Ss mmrig pot fill\n.D1 Ic \"mmrig pot fill [--OPTION]...\"\n"));
	assert_non_null(strstr(man, ".It Fl -grind Ar \"fine|coarse\"\nsize of the grains; "));
	assert_non_null(strstr(man, ".It Fl n , Fl -name Ar \"TEXT\"\nwhat to write on the cup\n"));
	assert_non_null(strstr(man, ".Bd -literal\n    mmrig brew arabica\n.Ed\n"));
	assert_non_null(strstr(man, ".It workload-failed\n"));
	assert_non_null(strstr(man, ".It 125\n"));
}

static void test_completion_knows_words(void **state)
{
	cleanup_free char *text = command_completion_text();

	assert_non_null(strstr(text, "_mmrig_words \"brew pot help --help --version\"\n"));
	assert_non_null(
		strstr(text, "\"brew:--grind\") _mmrig_words \"fine coarse\"; return ;;\n"));
	assert_non_null(
		strstr(text, "\"brew:--name\" | \"brew:-n\") _mmrig_files -f; return ;;\n"));
	assert_non_null(strstr(text, " --name -n --add "));
	assert_non_null(strstr(text, "\"pot fill:-\"*) _mmrig_words \"--help --strong --milk "));
}

static int full_stdout_status(void)
{
	FILE *out = stdout, *errs = stderr;
	char *text = NULL;
	size_t len;
	int status;

	stdout = fopen("/dev/full", "w");
	stderr = open_memstream(&text, &len);
	status = command_main(3, ARGV(W("brew"), W("x")));
	fclose(stdout);
	fclose(stderr);
	stdout = out;
	stderr = errs;
	assert_string_equal(text,
			    "mmrig: standard output: cannot write: No space left on device\n");
	free(text);
	return status;
}

static void test_lost_results_are_an_error(void **state)
{
	assert_int_equal(full_stdout_status(), 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_kind),
		cmocka_unit_test(test_letters),
		cmocka_unit_test(test_flags_last_word_counts),
		cmocka_unit_test(test_two_dashes_end_options),
		cmocka_unit_test(test_unknown_options),
		cmocka_unit_test(test_bad_values),
		cmocka_unit_test(test_counts_of_arguments),
		cmocka_unit_test(test_runs_and_errors),
		cmocka_unit_test(test_help_goes_where_it_belongs),
		cmocka_unit_test(test_manual_is_made_of_the_tables),
		cmocka_unit_test(test_completion_knows_words),
		cmocka_unit_test(test_lost_results_are_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
