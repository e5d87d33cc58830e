// SPDX-License-Identifier: GPL-2.0-only
#include "harness/build/toolchain.h"

#include <ctype.h>
#include <string.h>

#include "harness/kernel/child.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"
#include "results/util/str.h"
#include "results/verdict.h"

void toolchain_free(struct toolchain *t)
{
	free(t->cc);
	free(t->cc_line);
	free(t->cc_version);
	free(t->ld_line);
	free(t->ld_version);
	*t = (struct toolchain){ 0 };
}

int toolchain_compare(const char *a, const char *b)
{
	for (int i = 0; i < 3; i++) {
		char *end_a, *end_b;
		unsigned long na = strtoul(a, &end_a, 10), nb = strtoul(b, &end_b, 10);

		if (na != nb)
			return na < nb ? -1 : 1;
		a = end_a + (*end_a == '.');
		b = end_b + (*end_b == '.');
	}
	return 0;
}

static void keep_first(void *arg, const char *line)
{
	char **first = arg;

	if (!*first)
		*first = xstrdup(line);
}

/* First line that it prints; NULL when it is not there or fails. */
static char *first_line(const char *const *argv)
{
	char *line = NULL;

	if (child_run(argv, NULL, keep_first, &line, NULL, NULL) != 0 || !line || !*line) {
		free(line);
		return NULL;
	}
	return line;
}

static bool succeeds(const char *const *argv)
{
	return child_run(argv, NULL, NULL, NULL, NULL, NULL) == 0;
}

/* "2.40" of "GNU ld (GNU Binutils for Debian) 2.40". */
static char *last_word(const char *line)
{
	const char *blank = strrchr(line, ' ');

	return xstrdup(blank ? blank + 1 : line);
}

/* ---- what is missing ---- */

struct missing {
	struct strbuf what, packages;
};

static void add_missing(struct missing *m, const char *what, const char *package)
{
	strbuf_addf(&m->what, "%s%s", m->what.len ? ", " : "", what);
	strbuf_addf(&m->packages, " %s", package);
}

static int report_missing(struct missing *m, const char *purpose, struct error *err)
{
	int ret = 0;

	if (m->what.len) {
		error_set(err, EXIT_USAGE, "missing for %s: %s", purpose, m->what.data);
		ret = error_hint(err, "apt-get install%s", m->packages.data);
	}
	strbuf_free(&m->what);
	strbuf_free(&m->packages);
	return ret;
}

/* gcc builds the helpers that run on the host, whatever the kernel is compiled with. */
static int check_tools(struct error *err)
{
	static const struct {
		const char *program, *package;
	} tools[] = {
		{ "make", "make" }, { "gcc", "gcc" },	  { "ld", "binutils" },
		{ "flex", "flex" }, { "bison", "bison" }, { "bc", "bc" },
	};
	const char *const elf[] = { "gcc", "-E", "-x", "c", "-include", "gelf.h", "/dev/null", NULL };
	struct missing m = { STRBUF_INIT, STRBUF_INIT };
	bool gcc = true;

	for (size_t i = 0; i < ARRAY_SIZE(tools); i++) {
		const char *const argv[] = { tools[i].program, "--version", NULL };

		if (succeeds(argv))
			continue;
		add_missing(&m, tools[i].program, tools[i].package);
		gcc = gcc && strcmp(tools[i].program, "gcc") != 0;
	}
	if (gcc && !succeeds(elf))
		add_missing(&m, "the headers of libelf", "libelf-dev");
	return report_missing(&m, "building kernels", err);
}

int toolchain_check_config(const char *config, struct error *err)
{
	static const struct {
		const char *line, *program, *package;
	} needs[] = {
		{ "CONFIG_KERNEL_BZIP2=y", "bzip2", "bzip2" },
		{ "CONFIG_KERNEL_LZMA=y", "xz", "xz-utils" },
		{ "CONFIG_KERNEL_XZ=y", "xz", "xz-utils" },
		{ "CONFIG_KERNEL_LZO=y", "lzop", "lzop" },
		{ "CONFIG_KERNEL_LZ4=y", "lz4", "lz4" },
		{ "CONFIG_KERNEL_ZSTD=y", "zstd", "zstd" },
		{ "CONFIG_IKHEADERS=y", "cpio", "cpio" },
		{ "CONFIG_DEBUG_INFO_BTF=y", "pahole", "pahole" },
	};
	static const char *const ssl[] = { "gcc", "-E", "-x", "c", "-include", "openssl/evp.h",
					   "/dev/null", NULL };
	cleanup_free char *text = file_read(config, 0, NULL, err);
	struct missing m = { STRBUF_INIT, STRBUF_INIT };

	if (!text)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(needs); i++) {
		cleanup_free char *line = str_printf("\n%s\n", needs[i].line);
		const char *const argv[] = { needs[i].program, "--version", NULL };

		if (strstr(text, line) && !succeeds(argv))
			add_missing(&m, needs[i].program, needs[i].package);
	}
	if (strstr(text, "\nCONFIG_SYSTEM_TRUSTED_KEYRING=y\n") && !succeeds(ssl))
		add_missing(&m, "the headers of OpenSSL", "libssl-dev");
	return report_missing(&m, "this config", err);
}

/* ---- the compiler ---- */

/* It goes into make's CC= as a word. */
static bool is_plain(const char *cc)
{
	return *cc && *cc != '-' &&
	       !cc[strspn(cc, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+.,-/")];
}

static int no_compiler(const char *cc, const char *why, struct error *err)
{
	const char *name = strrchr(cc, '/') ? strrchr(cc, '/') + 1 : cc;

	error_set(err, EXIT_USAGE, "--cc %s: %s", cc, why);
	if (!strchr(cc, '/') && (str_starts(name, "gcc") || str_starts(name, "clang")))
		return error_hint(err, "apt-get install %s", name);
	return -1;
}

/* clang says 4.2.1 to -dumpversion before 11, and does not know -dumpfullversion. */
static char *compiler_version(const char *cc, bool clang)
{
	const char *const gcc_argv[] = { cc, "-dumpfullversion", "-dumpversion", NULL };
	const char *const clang_argv[] = { cc, "-dumpversion", NULL };
	char *version = first_line(clang ? clang_argv : gcc_argv);

	if (version && isdigit((unsigned char)*version))
		return version;
	free(version);
	return NULL;
}

static int find_compiler(const char *cc, struct toolchain *t, struct error *err)
{
	const char *const version[] = { cc, "--version", NULL };
	const char *const map[] = { cc, "-ffile-prefix-map=a=b", "-E", "-x", "c", "/dev/null", NULL };
	cleanup_error struct error absent = ERROR_INIT;
	int status;

	if (!is_plain(cc))
		return error_set(err, EXIT_USAGE,
				 "--cc \"%s\": is no compiler's name or path; options go with it nowhere, and "
				 "ccache is used by itself",
				 cc);
	status = child_run(version, NULL, NULL, NULL, NULL, &absent);
	if (status < 0 || status == 127) /* of a path, exec() is the first to know */
		return no_compiler(cc, "no such compiler here", err);
	t->cc = xstrdup(cc);
	t->cc_line = first_line(version);
	t->clang = t->cc_line && strstr(t->cc_line, "clang");
	t->cc_version = t->cc_line ? compiler_version(cc, t->clang) : NULL;
	if (!t->cc_version)
		return no_compiler(cc, "it does not say which C compiler it is", err);
	t->prefix_map = succeeds(map);
	return 0;
}

int toolchain_find(const char *cc, struct toolchain *t, struct error *err)
{
	static const char *const ld[] = { "ld", "--version", NULL };
	cleanup_free char *ccache = NULL;

	*t = (struct toolchain){ 0 };
	if (check_tools(err) < 0)
		return -1;
	if (find_compiler(cc ? cc : "gcc", t, err) < 0) {
		toolchain_free(t);
		return -1;
	}
	t->ld_line = first_line(ld);
	t->ld_version = last_word(t->ld_line ? t->ld_line : "");
	/* Not started: even asked for its version it makes a folder for the user. */
	ccache = child_find_program("ccache", NULL);
	t->ccache = ccache != NULL;
	return 0;
}

/* ---- too old ---- */

static int check_least(const char *script, const char *tool, const char *name, const char *have,
		       struct error *err)
{
	const char *const argv[] = { "sh", script, tool, NULL };
	cleanup_free char *least = first_line(argv);

	if (!least || !isdigit((unsigned char)*least) || !isdigit((unsigned char)*have) ||
	    toolchain_compare(have, least) >= 0)
		return 0;
	return error_set(err, EXIT_USAGE, "%s %s is too old for this kernel, which needs at least %s",
			 name, have, least);
}

int toolchain_check_source(const struct toolchain *t, const char *src, struct error *err)
{
	cleanup_free char *script = path_join(src, "scripts/min-tool-version.sh");

	if (!file_exists(script))
		return 0;
	if (check_least(script, t->clang ? "llvm" : "gcc", t->cc, t->cc_version, err) < 0)
		return error_hint(err, "give another with --cc");
	if (t->ld_line && str_starts(t->ld_line, "GNU ld"))
		return check_least(script, "binutils", "ld", t->ld_version, err);
	return 0;
}

/* ---- too new ---- */

/*
 * The kernel that was the newest when a gcc came out, and what is known to go wrong before: fixed by
 * "kbuild: add -fno-PIE" (4.9), "scripts/dtc: Remove
 * redundant YYLOC global declaration" (5.6), "tools: subcmd: Fix use-after-free for realloc" (5.17),
 * "x86/boot: Compile boot code with -std=gnu11 too" (6.14).
 */
static const struct era {
	int gcc;
	const char *kernel, *fixed, *trouble;
} eras[] = {
	{ 6, "4.5", "4.9", "distributions' gcc makes position independent code" },
	{ 7, "4.11", NULL, NULL },
	{ 8, "4.16", NULL, NULL },
	{ 9, "5.0", NULL, NULL },
	{ 10, "5.6", "5.6", "-fno-common: \"multiple definition of yylloc\" in scripts/dtc" },
	{ 11, "5.12", NULL, NULL },
	{ 12, "5.17", "5.17", "-Wuse-after-free is an error in tools/lib/subcmd" },
	{ 13, "6.3", NULL, NULL },
	{ 14, "6.8", NULL, NULL },
	{ 15, "6.14", "6.14", "C23: \"false\" is a keyword in arch/x86/boot" },
};

char *toolchain_too_new(const struct toolchain *t, const char *version)
{
	cleanup_strbuf struct strbuf sb = STRBUF_INIT;
	int major = atoi(t->cc_version);
	bool newer = false;

	if (t->clang)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(eras) && eras[i].gcc <= major; i++) {
		newer |= toolchain_compare(version, eras[i].kernel) < 0;
		if (eras[i].fixed && toolchain_compare(version, eras[i].fixed) < 0)
			strbuf_addf(&sb, "; gcc %d before %s: %s", eras[i].gcc, eras[i].fixed,
				    eras[i].trouble);
	}
	if (!newer)
		return NULL;
	return str_printf("%s %s is newer than this kernel, %s, and may be too new for it%s; an older "
			  "one is given with --cc",
			  t->cc, t->cc_version, version, sb.len ? sb.data : "");
}

/* ---- what a log says is missing ---- */

char *toolchain_missing(const char *line)
{
	static const struct {
		const char *text, *what, *package;
	} known[] = {
		{ "openssl/", "the headers of OpenSSL", "libssl-dev" },
		{ "gelf.h:", "the headers of libelf", "libelf-dev" },
		{ "libelf.h:", "the headers of libelf", "libelf-dev" },
		{ " bc: ", "bc", "bc" },
		{ " flex: ", "flex", "flex" },
		{ " bison: ", "bison", "bison" },
		{ " lz4: ", "lz4", "lz4" },
		{ " lz4c: ", "lz4c", "lz4" },
		{ " lzop: ", "lzop", "lzop" },
		{ " xz: ", "xz", "xz-utils" },
		{ " zstd: ", "zstd", "zstd" },
		{ " cpio: ", "cpio", "cpio" },
		{ " perl: ", "perl", "perl" },
		{ " python3: ", "python3", "python3" },
		{ " rsync: ", "rsync", "rsync" },
		{ " openssl: ", "openssl", "openssl" },
	};

	if (!strstr(line, "not found") && !strstr(line, "No such file or directory"))
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (strstr(line, known[i].text))
			return str_printf("%s: missing; apt-get install %s", known[i].what,
					  known[i].package);
	return NULL;
}
