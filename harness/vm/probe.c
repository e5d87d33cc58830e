// SPDX-License-Identifier: GPL-2.0-only
#include "harness/vm/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <string.h>

#include "harness/vm/program.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"
#include "results/util/hash.h"
#include "results/verdict.h"

#define PROBE_SCHEMA 1
#define PROBE_MEMORY_BYTES (512UL << 20)
#define CONSOLE_KEEP_BYTES 65536
/* A kernel boots under KVM in one or two seconds; one emulated by the host takes minutes. */
#define PROBE_DEADLINE_MS 10000

#define BANNER "Linux version"
#define PANIC "Kernel panic - not syncing"

/*
 * The banner is not enough: where KVM falls back to an instruction emulator the kernel comes as far
 * and crawls on. These end a boot without initramfs.
 */
static const char *const booted_mark[] = { "Freeing unused kernel", "VFS: Cannot open root device",
					   "VFS: Unable to mount root fs", "Run /init as init",
					   "Run /sbin/init as init" };

struct boot {
	uv_timer_t timer;
	struct vm *vm;
	char console[CONSOLE_KEEP_BYTES + 1];
	size_t len;
	bool booted, timed_out, over;
	int status;
};

static void on_console(void *arg, const uint8_t *data, size_t len)
{
	struct boot *b = arg;

	for (size_t i = 0; i < len && b->len < CONSOLE_KEEP_BYTES; i++)
		b->console[b->len++] = data[i] ? (char)data[i] : ' ';
	b->console[b->len] = '\0';
	if (b->booted || !strstr(b->console, BANNER))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(booted_mark); i++)
		b->booted = b->booted || strstr(b->console, booted_mark[i]);
	if (b->booted)
		vm_stop(b->vm, 0);
}

static void on_exited(void *arg, int status)
{
	struct boot *b = arg;

	b->over = true;
	b->status = status;
	uv_close((uv_handle_t *)&b->timer, NULL);
}

static void on_deadline(uv_timer_t *timer)
{
	struct boot *b = timer->data;

	b->timed_out = true;
	vm_stop(b->vm, 0);
}

/* The first line of QEMU's own words that speaks of an error, else its first line. */
static char *error_line(const char *text)
{
	const char *line = text;

	for (const char *p = text; *p; p += strcspn(p, "\n"), p += *p == '\n')
		if (memmem(p, strcspn(p, "\n"), "error", 5)) {
			line = p;
			break;
		}
	return xstrndup(line, strcspn(line, "\n"));
}

/*
 * *final: the answer holds for other kernels. One that panics by itself (a bad commit in the middle
 * of a bisection) would otherwise decide for all that come after it.
 */
static void judge(const struct probe *p, const struct boot *b, struct accel_result *r, bool *final)
{
	cleanup_free char *line = error_line(vm_stderr(b->vm));
	bool panic = !b->booted && !b->timed_out && strstr(b->console, PANIC);

	*final = !panic;
	r->accel = b->booted ? VM_ACCEL_KVM : VM_ACCEL_TCG;
	if (b->booted)
		snprintf(r->reason, sizeof(r->reason), "kvm");
	else if (panic)
		snprintf(r->reason, sizeof(r->reason), "tcg: this kernel panics early under %s",
			 p->device);
	else if (b->timed_out)
		snprintf(r->reason, sizeof(r->reason), "tcg: %s opens, but a kernel %s within %u s",
			 p->device,
			 strstr(b->console, BANNER) ? "starts and does not get far" :
						      "does not print a word",
			 (p->deadline_ms + 999) / 1000);
	else
		snprintf(r->reason, sizeof(r->reason), "tcg: %s opens, but QEMU dies of it: %.150s",
			 p->device, *line ? line : "it says nothing");
}

static int boot_once(const struct probe *p, const char *qemu, const char *kernel,
		     struct accel_result *r, bool *final, struct error *err)
{
	const struct vm_config config = {
		.qemu = qemu,
		.kernel = kernel,
		.memory_bytes = PROBE_MEMORY_BYTES,
		.cpus = 1,
		.cmdline = "console=ttyS0 earlyprintk=ttyS0 panic=-1",
		.accel = VM_ACCEL_KVM,
		.channel = VM_CHANNEL_SERIAL,
	};
	cleanup_free struct boot *b = xcalloc(1, sizeof(*b));
	const struct vm_handlers handlers = { b, on_console, NULL, on_exited };
	uv_loop_t loop;
	int ret;

	if (uv_loop_init(&loop) < 0)
		return error_set(err, EXIT_NO_VERDICT, "no event loop for the probe of KVM");
	uv_timer_init(&loop, &b->timer);
	b->timer.data = b;
	ret = vm_start(&loop, &config, &handlers, &b->vm, err);
	uv_update_time(&loop);
	if (ret == 0)
		uv_timer_start(&b->timer, on_deadline, p->deadline_ms, 0);
	else
		uv_close((uv_handle_t *)&b->timer, NULL);
	uv_run(&loop, UV_RUN_DEFAULT);
	uv_loop_close(&loop);
	if (ret < 0)
		return ret;
	judge(p, b, r, final);
	vm_free(b->vm);
	return 0;
}

/* 0 when the device opens; else the answer stands in r. */
static int open_device(const struct probe *p, struct accel_result *r)
{
	cleanup_close int fd = open(p->device, O_RDWR | O_CLOEXEC);

	if (fd >= 0)
		return 0;
	r->accel = VM_ACCEL_TCG;
	if (errno == ENOENT)
		snprintf(r->reason, sizeof(r->reason), "tcg: no %s", p->device);
	else if (errno == EACCES || errno == EPERM)
		snprintf(r->reason, sizeof(r->reason),
			 "tcg: %s is not permitted; join its group: "
			 "usermod -aG kvm USER, and log in again",
			 p->device);
	else
		snprintf(r->reason, sizeof(r->reason), "tcg: %s does not open: %s", p->device,
			 strerror(errno));
	return -1;
}

/* What the answer depends on, as one line. */
static char *answer_key(const struct probe *p, const char *program, struct error *err)
{
	cleanup_free char *boot_id = file_read("/proc/sys/kernel/random/boot_id", 4096, NULL, err);
	cleanup_free char *identity = boot_id ? qemu_identity(program, err) : NULL;

	if (!identity)
		return NULL;
	boot_id[strcspn(boot_id, "\n")] = '\0';
	return str_printf("%s %s %u %s", boot_id, p->device, p->deadline_ms, identity);
}

static char *answer_file(const char *program, struct error *err)
{
	cleanup_free char *dir = cache_dir("accel", err),
			  *hash = hash_bytes(program, strlen(program));
	cleanup_free char *name = str_printf("%.16s.json", strchr(hash, ':') + 1);

	return dir ? path_join(dir, name) : NULL;
}

static bool load_answer(const char *file, const char *key, struct accel_result *r)
{
	json_t *o = json_load_file(file, 0, NULL);
	const char *same, *accel, *reason;
	int schema;
	bool ok = json_unpack(o, "{s:i,s:s,s:s,s:s}", "schema", &schema, "key", &same, "accel",
			      &accel, "reason", &reason) == 0 &&
		  schema == PROBE_SCHEMA && strcmp(same, key) == 0 &&
		  (strcmp(accel, "kvm") == 0 || strcmp(accel, "tcg") == 0);

	if (ok) {
		r->accel = strcmp(accel, "kvm") == 0 ? VM_ACCEL_KVM : VM_ACCEL_TCG;
		snprintf(r->reason, sizeof(r->reason), "%s", reason);
		r->cached = true;
	}
	json_decref(o);
	return ok;
}

/* Best effort: without it the next start probes again. */
static void store_answer(const char *file, const char *key, const struct accel_result *r)
{
	json_t *o = json_pack("{s:i,s:s,s:s,s:s}", "schema", PROBE_SCHEMA, "key", key, "accel",
			      accel_name(r->accel), "reason", r->reason);
	cleanup_free char *text = o ? json_dumps(o, JSON_INDENT(2)) : NULL;

	if (text)
		file_write_atomic(file, text, strlen(text), 0644, NULL);
	json_decref(o);
}

int probe_accel(const struct probe *p, const char *qemu, const char *kernel, struct accel_result *r,
		struct error *err)
{
	cleanup_free char *program = qemu_find(qemu, err), *key = NULL, *file = NULL;
	bool final;

	*r = (struct accel_result){ 0 };
	if (!program)
		return -1;
	if (open_device(p, r) < 0)
		return 0;
	key = answer_key(p, program, err);
	file = key ? answer_file(program, err) : NULL;
	if (!file)
		return -1;
	if (load_answer(file, key, r))
		return 0;
	if (!kernel) {
		r->accel = VM_ACCEL_AUTO;
		snprintf(r->reason, sizeof(r->reason),
			 "auto: %s opens; no kernel was tried on it yet", p->device);
		return 0;
	}
	if (boot_once(p, program, kernel, r, &final, err) < 0)
		return error_wrap(err, "probe of %s", p->device);
	if (final)
		store_answer(file, key, r);
	return 0;
}

int accel_probe(const char *qemu, const char *kernel, struct accel_result *r, struct error *err)
{
	const struct probe p = { "/dev/kvm", PROBE_DEADLINE_MS };

	return probe_accel(&p, qemu, kernel, r, err);
}
