// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "harness/kernel/apt.h"
#include "harness/kernel/child.h"
#include "results/util/cleanup.h"

static void expect_mirror(const char *lines, const char *label, const char *uri)
{
	cleanup_free char *found = apt_pick_mirror(lines, label);

	if (uri)
		assert_string_equal(found, uri);
	else
		assert_null(found);
}

static void mirror_is_debians(void **state)
{
	static const char lines[] = "Docker|Docker CE|https://a.example/linux/debian/\n"
				    "Debian|Debian-Security|http://b.example/debian-security/\n"
				    "Debian|Debian|http://c.example/pub/\n"
				    "Debian|Debian|http://d.example/debian/\n";

	expect_mirror(lines, "Debian", "http://c.example/pub/");
	expect_mirror(lines, "Debian-Security", "http://b.example/debian-security/");
	expect_mirror("Ubuntu|Ubuntu|http://e.example/ubuntu/\n", "Debian", NULL);
	expect_mirror("", "Debian", NULL);
	expect_mirror("garbage\n|\n", "Debian", NULL);
}

/* Before the first apt-get update there is no origin; then only the address can tell. */
static void mirror_without_index_is_guessed(void **state)
{
	static const char lines[] =
		"||https://f.example/apt/\n||http://g.example/debian-security/\n"
		"||http://g.example/debian/";

	expect_mirror(lines, "Debian", "http://g.example/debian/");
	expect_mirror(lines, "Debian-Security", "http://g.example/debian-security/");
	expect_mirror("Docker|Docker CE|https://a.example/linux/debian/\n", "Debian", NULL);
}

static void code_name_is_that_of_the_updates(void **state)
{
	cleanup_free char *name = apt_codename("\ntrixie-updates\nother");

	assert_string_equal(name, "trixie");
	assert_null(apt_codename(""));
	assert_null(apt_codename("-updates\nstable\n"));
}

static void images_are_told_from_others(void **state)
{
	assert_true(apt_is_image("linux-image-7.3.4+deb13-cloud-amd64", "cloud"));
	assert_false(apt_is_image("linux-image-7.3.4+deb13-cloud-amd64", "generic"));
	assert_true(apt_is_image("linux-image-6.12.118+deb13-amd64", "generic"));
	assert_false(apt_is_image("linux-image-6.12.118+deb13-amd64", "cloud"));
	assert_false(apt_is_image("linux-image-amd64", "generic"));
	assert_false(apt_is_image("linux-image-cloud-amd64", "cloud"));
	assert_false(apt_is_image("linux-image-7.3.4+deb13-cloud-amd64-dbg", "cloud"));
	assert_false(apt_is_image("linux-image-7.3.4+deb13-cloud-amd64-unsigned", "cloud"));
	assert_false(apt_is_image("linux-image-7.3.4+deb13-rt-amd64", "generic"));
	assert_false(apt_is_image("linux-image-7.3.4+deb13-arm64", "generic"));
}

static void sources_are_told_from_others(void **state)
{
	assert_true(apt_is_source("linux-source-7.3", NULL));
	assert_true(apt_is_source("linux-source-6.12", NULL));
	assert_false(apt_is_source("linux-source", NULL));
	assert_false(apt_is_source("linux-source-", NULL));
	assert_false(apt_is_source("linux-source-7.3-doc", NULL));
	assert_false(apt_is_source("linux-image-7.3", NULL));
}

static void parts_are_those_of_the_same_version(void **state)
{
	static const char depends[] =
		"dracut | initramfs-tools (>= 0.120+deb8u2) | linux-initramfs-tool, "
		"linux-base-7.3.4+deb13-cloud-amd64 (= 7.3.4-1~bpo13+1), "
		"linux-modules-7.3.4+deb13-cloud-amd64:any (= 7.3.4-1~bpo13+1), "
		"linux-older (= 7.3.4-1~bpo13), a (= 7.3.4-1~bpo13+1) | b, "
		"kmod (>= 7.3.4-1~bpo13+1)";
	char **names = apt_same_version(depends, "7.3.4-1~bpo13+1");

	assert_string_equal(names[0], "linux-base-7.3.4+deb13-cloud-amd64");
	assert_string_equal(names[1], "linux-modules-7.3.4+deb13-cloud-amd64");
	assert_null(names[2]);
	free(names[0]);
	free(names[1]);
	free(names);
	names = apt_same_version("", "1");
	assert_null(names[0]);
	free(names);
}

static void add_line(void *arg, const char *text)
{
	strbuf_addf(arg, "<%s>", text);
}

static void child_gives_lines_and_status(void **state)
{
	static const char *const argv[] = { "sh", "-c",
					    "echo a; echo; printf 'b\\nlast'; echo bad >&2; cat; "
					    "echo \"$LC_ALL\" >&2; exit 7",
					    NULL };
	cleanup_strbuf struct strbuf out = STRBUF_INIT, errors = STRBUF_INIT;

	assert_int_equal(child_run(argv, "/", add_line, &out, &errors, NULL), 7);
	assert_string_equal(out.data, "<a><><b><last>");
	assert_string_equal(errors.data, "bad\nC\n");
}

static void child_gets_what_it_is_set_up_with(void **state)
{
	static const char *const argv[] = { "sh", "-c", "pwd; echo \"$A$HOME\"; tr a '\\0'", NULL };
	static const char *const env[] = { "A=b c", NULL };
	cleanup_strbuf struct strbuf out = STRBUF_INIT;
	char input[] = "/tmp/mmrig-child-XXXXXX";
	const struct child_setup setup = { .dir = "/", .env = env, .input = input, .output = &out };
	int fd = mkstemp(input);

	assert_int_equal(write(fd, "xay\n", 4), 4);
	close(fd);
	assert_int_equal(child_run_with(&setup, argv, add_line, NULL, NULL, NULL), 0);
	assert_int_equal(out.len, 10);
	assert_memory_equal(out.data, "/\nb c\nx\0y\n", 10);
	unlink(input);
	assert_int_equal(child_run_with(&setup, argv, NULL, NULL, NULL, NULL), 127);
}

static void child_signals_and_absence(void **state)
{
	static const char *const killed[] = { "sh", "-c", "kill -9 $$", NULL };
	static const char *const absent[] = { "no-such-program-anywhere", NULL };
	cleanup_error struct error err = ERROR_INIT;

	assert_int_equal(child_run(killed, NULL, NULL, NULL, NULL, NULL), 128 + 9);
	assert_int_equal(child_run(absent, NULL, NULL, NULL, NULL, &err), -1);
	assert_non_null(strstr(err.text, "no-such-program-anywhere"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mirror_is_debians),
		cmocka_unit_test(mirror_without_index_is_guessed),
		cmocka_unit_test(code_name_is_that_of_the_updates),
		cmocka_unit_test(images_are_told_from_others),
		cmocka_unit_test(sources_are_told_from_others),
		cmocka_unit_test(parts_are_those_of_the_same_version),
		cmocka_unit_test(child_gives_lines_and_status),
		cmocka_unit_test(child_gets_what_it_is_set_up_with),
		cmocka_unit_test(child_signals_and_absence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
