// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <sched.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "harness/build/toolchain.h"
#include "harness/cmd/opt.h"
#include "harness/engine/progress.h"
#include "harness/kernel/kernel.h"
#include "harness/scenario/scenario.h"
#include "harness/vm/vm.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"
#include "results/verdict.h"

#define QEMU_MAJOR_MIN 7
#define QEMU_MINOR_MIN 2
#define MEMORY_WARN_BYTES (3ULL << 30)	/* the smallest useful guest, and the host beside it */
#define RESULTS_MIN_BYTES (64ULL << 20) /* one run set with its consoles and samples */
#define CACHE_MIN_BYTES (1ULL << 30)	/* one kernel: the package, its modules, an image */
#define DISK_WARN_FACTOR 4

struct doctor_args {
	bool json;
};

static const struct opt doctor_opts[] = {
	OPT_FLAG("json", struct doctor_args, json, "print one JSON document"),
	OPT_END,
};

enum state { STATE_OK, STATE_WARN, STATE_MISSING };

static const char *const state_names[] = {
	[STATE_OK] = "ok",
	[STATE_WARN] = "warn",
	[STATE_MISSING] = "missing",
};

struct check {
	const char *name;
	enum state state;
	char *text; /* what was found */
	char *mend; /* the command that mends it, or NULL */
};

struct report {
	struct check check[24];
	size_t n;
};

/* Takes text and mend over. */
static void report_add(struct report *r, const char *name, enum state state, char *text, char *mend)
{
	if (r->n == ARRAY_SIZE(r->check)) {
		free(text);
		free(mend);
		return;
	}
	r->check[r->n++] = (struct check){ name, state, text, mend };
}

static void report_free(struct report *r)
{
	for (size_t i = 0; i < r->n; i++) {
		free(r->check[i].text);
		free(r->check[i].mend);
	}
}

static char *as_root(const char *command)
{
	return str_printf("%s%s", geteuid() ? "sudo " : "", command);
}

static char *error_text(const struct error *err)
{
	return xstrdup(err->text ? err->text : "failed without a reason");
}

static double gib(uint64_t bytes)
{
	return (double)bytes / (double)(1ULL << 30);
}

/* ---- QEMU, kernels, accelerator ---- */

static bool version_too_old(unsigned int major, unsigned int minor)
{
	return major < QEMU_MAJOR_MIN || (major == QEMU_MAJOR_MIN && minor < QEMU_MINOR_MIN);
}

static void check_qemu(struct report *r)
{
	cleanup_error struct error err = ERROR_INIT;
	char *version = qemu_version(NULL, &err);
	unsigned int major, minor;

	if (!version) {
		report_add(r, "qemu", STATE_MISSING, error_text(&err),
			   as_root("apt-get install qemu-system-x86"));
	} else if (sscanf(version, "%u.%u", &major, &minor) == 2 && version_too_old(major, minor)) {
		report_add(r, "qemu", STATE_MISSING,
			   str_printf("%s is older than %d.%d", version, QEMU_MAJOR_MIN,
				      QEMU_MINOR_MIN),
			   as_root("apt-get install qemu-system-x86"));
		free(version);
	} else {
		report_add(r, "qemu", STATE_OK, version, NULL);
	}
}

/* *image: a cached kernel for the accelerator's probe, heap, or NULL. */
static void check_kernels(struct report *r, char **image)
{
	cleanup_error struct error err = ERROR_INIT;
	struct kernel *kernels = NULL;
	size_t n = 0;

	*image = NULL;
	if (kernel_list(&kernels, &n, &err) < 0) {
		report_add(r, "kernels", STATE_WARN, error_text(&err), NULL);
		return;
	}
	if (n) {
		*image = xstrdup(kernels[n - 1].image);
		report_add(r, "kernels", STATE_OK,
			   str_printf("%zu in the cache, the last is %s", n, kernels[n - 1].name),
			   NULL);
	} else {
		report_add(r, "kernels", STATE_WARN,
			   xstrdup("none in the cache yet; a run fetches what it needs"),
			   xstrdup("mmrig kernel fetch debian:7.3"));
	}
	kernel_list_free(kernels, n);
}

static char *kvm_mend(void)
{
	if (access("/dev/kvm", F_OK) < 0)
		return as_root("modprobe kvm_intel # or kvm_amd; in a VM: nested KVM on its host");
	if (access("/dev/kvm", R_OK | W_OK) < 0)
		return as_root("usermod -aG kvm \"$USER\" # and log in again");
	return NULL;
}

/* NULL, which is silent, where nobody waits before a screen. */
static struct progress *live_line(void)
{
	struct progress_config config = { .out = stderr, .is_tty = true };

	return isatty(STDERR_FILENO) ? progress_new(&config) : NULL;
}

static void check_accel(struct report *r, const char *image)
{
	cleanup_error struct error err = ERROR_INIT;
	struct accel_result result = { VM_ACCEL_TCG, "", false };
	bool unprobed = !image && access("/dev/kvm", R_OK | W_OK) == 0;
	struct progress *live = live_line();
	int status;

	progress_task(live, "proving the accelerator by a boot", -1);
	status = accel_probe(NULL, image, &result, &err);
	progress_finish(live);
	if (status < 0) {
		report_add(r, "accelerator", STATE_MISSING, error_text(&err), kvm_mend());
		return;
	}
	if (unprobed)
		report_add(r, "accelerator", STATE_WARN,
			   str_printf("%s; not proved by a boot, for want of a kernel",
				      result.reason),
			   xstrdup("mmrig kernel fetch debian:7.3"));
	else
		report_add(r, "accelerator", result.accel == VM_ACCEL_KVM ? STATE_OK : STATE_WARN,
			   xstrdup(result.reason),
			   result.accel == VM_ACCEL_KVM ? NULL : kvm_mend());
}

/* ---- the host ---- */

/* 0 where /proc/meminfo has no such line. */
static uint64_t meminfo_bytes(const char *key)
{
	cleanup_free char *text = file_read("/proc/meminfo", 65536, NULL, NULL);
	const char *line = text ? strstr(text, key) : NULL;

	return line ? strtoull(line + strlen(key), NULL, 10) << 10 : 0;
}

static void check_memory(struct report *r)
{
	uint64_t available = meminfo_bytes("MemAvailable:"), total = meminfo_bytes("MemTotal:");
	bool little = available < MEMORY_WARN_BYTES;

	report_add(r, "memory", little ? STATE_WARN : STATE_OK,
		   str_printf("%.1f GiB of %.1f GiB available", gib(available), gib(total)),
		   little ? xstrdup("mmrig run SCENARIO --memory 1G") : NULL);
}

static unsigned int usable_cpus(void)
{
	cpu_set_t set;

	/* EINVAL where the host has more CPUs than the set holds. */
	if (sched_getaffinity(0, sizeof(set), &set) < 0)
		return (unsigned int)sysconf(_SC_NPROCESSORS_ONLN);
	return (unsigned int)CPU_COUNT(&set);
}

static void check_cpus(struct report *r)
{
	unsigned int cpus = usable_cpus();
	const char *soft = cpus > 1 ? "" : ": guest and driver share it, so times are soft";
	double load = 0;
	bool busy;

	report_add(r, "cpus", cpus > 1 ? STATE_OK : STATE_WARN,
		   str_printf("%u usable%s", cpus, soft), NULL);
	if (getloadavg(&load, 1) != 1)
		return;
	busy = load > cpus / 2.0;
	report_add(r, "load", busy ? STATE_WARN : STATE_OK,
		   str_printf("%.2f over the last minute%s", load,
			      busy ? ": times will be soft, counters less so" : ""),
		   busy ? xstrdup("top # and stop what need not run, or wait") : NULL);
}

/* The nearest folder on the way up that is there: where `path` would be made. */
static char *existing_parent(const char *path)
{
	cleanup_free char *cwd = getcwd(NULL, 0);
	char *at = *path == '/' ? xstrdup(path) : path_join(cwd ? cwd : ".", path);

	while (!file_exists(at)) {
		char *slash = strrchr(at, '/');

		if (!slash || slash == at) {
			free(at);
			return xstrdup("/");
		}
		*slash = '\0';
	}
	return at;
}

static void check_disk(struct report *r, const char *name, const char *path, uint64_t min_bytes,
		       const char *variable)
{
	cleanup_free char *at = existing_parent(path);
	uint64_t bytes = 0;
	struct statvfs fs;
	struct stat st;

	if (stat(at, &st) < 0 || !S_ISDIR(st.st_mode) || access(at, W_OK | X_OK) < 0) {
		report_add(r, name, STATE_MISSING,
			   str_printf("%s: %s is no folder that can be written", path, at),
			   str_printf("export %s=DIR", variable));
		return;
	}
	if (statvfs(at, &fs) == 0)
		bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
	if (bytes < min_bytes * DISK_WARN_FACTOR)
		report_add(r, name, bytes < min_bytes ? STATE_MISSING : STATE_WARN,
			   str_printf("%s: only %.2f GiB free", path, gib(bytes)),
			   str_printf("export %s=DIR # where there is more room", variable));
	else
		report_add(r, name, STATE_OK, str_printf("%s: %.1f GiB free", path, gib(bytes)),
			   NULL);
}

static void check_disks(struct report *r)
{
	cleanup_error struct error err = ERROR_INIT;
	const char *results = getenv("MMRIG_RESULTS");
	cleanup_free char *cache = cache_dir("kernels", &err);

	check_disk(r, "results", results && *results ? results : "mmrig-results", RESULTS_MIN_BYTES,
		   "MMRIG_RESULTS");
	if (cache)
		check_disk(r, "cache", cache, CACHE_MIN_BYTES, "XDG_CACHE_HOME");
	else
		report_add(r, "cache", STATE_MISSING, error_text(&err),
			   xstrdup("export XDG_CACHE_HOME=DIR"));
}

/* ---- programs and pieces ---- */

/* Debian keeps depmod in /sbin, which is not in everyone's PATH. */
static char *program_find(const char *name)
{
	const char *env = getenv("PATH");
	cleanup_free char *path = str_printf("%s:/usr/sbin:/sbin", env ? env : "/usr/bin:/bin");
	char *rest = NULL;

	for (char *dir = strtok_r(path, ":", &rest); dir; dir = strtok_r(NULL, ":", &rest)) {
		char *at = path_join(dir, name);

		if (access(at, X_OK) == 0)
			return at;
		free(at);
	}
	return NULL;
}

static void check_program(struct report *r, const char *program, enum state absent,
			  const char *purpose, const char *install)
{
	char *at = program_find(program);

	if (at)
		report_add(r, program, STATE_OK, at, NULL);
	else
		report_add(r, program, absent, str_printf("not found: %s", purpose),
			   as_root(install));
}

static void check_keyring(struct report *r)
{
	static const char *const keyrings[] = {
		"/usr/share/keyrings/debian-archive-keyring.gpg",
		"/usr/share/keyrings/debian-archive-keyring.pgp",
	};

	for (size_t i = 0; i < ARRAY_SIZE(keyrings); i++) {
		if (file_exists(keyrings[i])) {
			report_add(r, "keyring", STATE_OK, xstrdup(keyrings[i]), NULL);
			return;
		}
	}
	report_add(r, "keyring", STATE_WARN,
		   str_printf("%s not found: kernels from Debian cannot be verified", keyrings[0]),
		   as_root("apt-get install debian-archive-keyring"));
}

static void check_toolchain(struct report *r)
{
	cleanup_error struct error err = ERROR_INIT;
	struct toolchain t;

	if (toolchain_find(NULL, &t, &err) < 0) {
		report_add(r, "toolchain", STATE_WARN, error_text(&err), NULL);
		return;
	}
	report_add(r, "toolchain", t.ccache ? STATE_OK : STATE_WARN,
		   str_printf("gcc %s, ld %s, %s", t.cc_version, t.ld_version,
			      t.ccache ? "ccache" : "no ccache: kernels are built from nothing each time"),
		   t.ccache ? NULL : as_root("apt-get install ccache"));
	toolchain_free(&t);
}

static void check_agent(struct report *r)
{
	cleanup_error struct error err = ERROR_INIT;
	char *agent = libexec_path("agent", &err);

	if (agent)
		report_add(r, "agent", STATE_OK, agent, NULL);
	else
		report_add(r, "agent", STATE_MISSING, error_text(&err), xstrdup("make"));
}

static void check_scenarios(struct report *r)
{
	cleanup_error struct error err = ERROR_INIT;
	struct scenario_entry *list = NULL;
	size_t n = 0;

	if (scenario_list(&list, &n, &err) < 0)
		report_add(r, "scenarios", STATE_MISSING, error_text(&err), NULL);
	else
		report_add(r, "scenarios", n ? STATE_OK : STATE_WARN,
			   str_printf("%zu can be named", n),
			   n ? NULL : xstrdup("export MMRIG_SCENARIOS=DIR"));
	scenario_list_free(list, n);
}

static void check_all(struct report *r)
{
	cleanup_free char *image = NULL;

	check_qemu(r);
	check_kernels(r, &image);
	check_accel(r, image);
	check_memory(r);
	check_cpus(r);
	check_disks(r);
	check_program(r, "apt-get", STATE_WARN,
		      "\"debian:\" kernels cannot be fetched; give --kernel a path", "make deps");
	check_keyring(r);
	check_program(r, "depmod", STATE_MISSING, "the modules of a kernel cannot be put in order",
		      "apt-get install kmod");
	check_toolchain(r);
	check_agent(r);
	check_scenarios(r);
}

/* ---- output ---- */

static void print_text(const struct report *r)
{
	for (size_t i = 0; i < r->n; i++) {
		const struct check *c = &r->check[i];
		cleanup_strbuf struct strbuf line = STRBUF_INIT;

		strbuf_addf(&line, "%-8s %-12s ", state_names[c->state], c->name);
		progress_printable(&line, c->text);
		strbuf_adds(&line, "\n");
		if (c->mend)
			strbuf_addf(&line, "%-22s%s\n", "", c->mend);
		fputs(line.data, stdout);
	}
}

static void json_set_text(json_t *j, const char *key, const char *text)
{
	cleanup_strbuf struct strbuf sb = STRBUF_INIT;

	progress_printable(&sb, text);
	json_object_set_new(j, key, json_string(sb.data ? sb.data : ""));
}

static void print_json(const struct report *r, bool good)
{
	json_t *checks = json_array(), *doc = json_object();
	cleanup_free char *text = NULL;

	for (size_t i = 0; i < r->n; i++) {
		const struct check *c = &r->check[i];
		json_t *j = json_object();

		json_set_text(j, "name", c->name);
		json_set_text(j, "state", state_names[c->state]);
		json_set_text(j, "text", c->text);
		if (c->mend)
			json_set_text(j, "mend", c->mend);
		json_array_append_new(checks, j);
	}
	json_object_set_new(doc, "schema", json_integer(1));
	json_object_set_new(doc, "good", json_boolean(good));
	json_object_set_new(doc, "checks", checks);
	text = json_dumps(doc, JSON_INDENT(2));
	json_decref(doc);
	printf("%s\n", text ? text : "");
}

static int doctor_run(const struct command *self, int argc, char **argv, struct error *err)
{
	struct doctor_args args = { false };
	struct report report = { .n = 0 };
	bool good = true;

	if (opt_parse(self, argc, argv, &args, NULL, 0, 0, err) < 0)
		return -1;
	check_all(&report);
	for (size_t i = 0; i < report.n; i++)
		good = good && report.check[i].state != STATE_MISSING;
	if (args.json)
		print_json(&report, good);
	else
		print_text(&report);
	report_free(&report);
	return good ? EXIT_GOOD : EXIT_NO_VERDICT;
}

const struct command command_doctor = {
	.name = "doctor",
	.summary = "check this host: QEMU, accelerator, memory, disk, and what kernels need",
	.text = "A line for each thing looked at: ok, warn (runs work, but slower or softer) or"
		" missing, with the command that mends it below. The accelerator is proved by"
		" booting a kernel of the cache, once per boot of the host. The exit status is 4"
		" when something is missing.\n",
	.opts = doctor_opts,
	.run = doctor_run,
};
