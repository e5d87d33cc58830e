// SPDX-License-Identifier: GPL-2.0-only
/*
 * Saving and restoring by migration with x-ignore-shared: RAM that is mapped shared from a file is
 * left where it is, and only the device state (under 1 MiB) goes through the stream.
 */
#include "harness/vm/template.h"

#include <fcntl.h>
#include <jansson.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "harness/vm/args.h"
#include "results/util/cleanup.h"
#include "results/verdict.h"

#define POLL_MS 5

struct vm_template {
	int memory_fd[VM_NODES_MAX], state_fd;
	size_t n; /* of memory_fd */
};

static int add_memory(struct vm_template *t, uint64_t bytes)
{
	int fd = memfd_create("mmrig-memory", MFD_CLOEXEC);

	if (fd < 0)
		return -1;
	t->memory_fd[t->n++] = fd;
	return ftruncate(fd, (off_t)bytes);
}

struct vm_template *vm_template_new(uint64_t memory_bytes, const struct vm_node *node, size_t nnodes,
				    struct error *err)
{
	const struct vm_node whole = { .memory_bytes = memory_bytes };
	struct vm_template *t = xcalloc(1, sizeof(*t));
	int ret = 0;

	node = nnodes ? node : &whole;
	nnodes = nnodes ? nnodes : 1;
	t->state_fd = memfd_create("mmrig-state", MFD_CLOEXEC);
	for (size_t i = 0; ret == 0 && i < nnodes; i++)
		ret = add_memory(t, node[i].memory_bytes);
	if (ret < 0 || t->state_fd < 0) {
		error_errno(err, EXIT_NO_VERDICT, "template: cannot create its memory");
		vm_template_free(t);
		return NULL;
	}
	return t;
}

void vm_template_free(struct vm_template *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->n; i++)
		close(t->memory_fd[i]);
	if (t->state_fd >= 0)
		close(t->state_fd);
	free(t);
}

static uint64_t held_bytes(int fd)
{
	struct stat st;

	return fstat(fd, &st) < 0 ? 0 : (uint64_t)st.st_blocks * 512;
}

uint64_t vm_template_bytes(const struct vm_template *t)
{
	uint64_t bytes = held_bytes(t->state_fd);

	for (size_t i = 0; i < t->n; i++)
		bytes += held_bytes(t->memory_fd[i]);
	return bytes;
}

size_t template_memory_fds(const struct vm_template *t, const int **fd)
{
	*fd = t->memory_fd;
	return t->n;
}

int template_state_fd(const struct vm_template *t, bool read, struct error *err)
{
	cleanup_free char *path = str_printf("/proc/self/fd/%d", t->state_fd);
	int fd = open(path, (read ? O_RDONLY : O_RDWR | O_TRUNC) | O_CLOEXEC);

	if (fd < 0)
		return error_errno(err, EXIT_NO_VERDICT, "template: cannot open its state");
	return fd;
}

/* One save or restore: a list of QMP commands, a wait for the migration's end, a last command. */
struct transfer {
	struct vm *vm;
	uv_timer_t timer;
	void (*done)(void *arg, const char *why);
	void *arg;
	const char *const (*step)[2]; /* command, arguments; ends with NULL */
	const char *last;	      /* after the migration has completed; may be NULL */
	int fd;			      /* passed with "getfd" */
	bool waiting, over;
};

static void next(struct transfer *t);

static void timer_closed(uv_handle_t *h)
{
	free(h->data);
}

static void finish(struct transfer *t, const char *why)
{
	void (*done)(void *arg, const char *why) = t->done;
	void *arg = t->arg;

	if (t->over)
		return;
	t->over = true;
	vm_at_end(t->vm, NULL, NULL);
	if (t->fd >= 0)
		close(t->fd);
	uv_close((uv_handle_t *)&t->timer, timer_closed);
	done(arg, why);
}

/* NULL when it is the answer of success; else the error's description, heap. */
static char *error_of(const char *json)
{
	json_t *o = json ? json_loads(json, JSON_DECODE_ANY, NULL) : NULL;
	const char *desc = json_string_value(json_object_get(o, "desc"));
	char *why = !json ? xstrdup(VM_WENT_AWAY) : desc ? xstrdup(desc) : NULL;

	json_decref(o);
	return why;
}

static void answered(void *arg, const char *json)
{
	struct transfer *t = arg;
	cleanup_free char *why = error_of(json);

	if (why)
		finish(t, why);
	else
		next(t);
}

static void status_answered(void *arg, const char *json)
{
	struct transfer *t = arg;
	cleanup_free char *why = error_of(json);
	json_t *o = json ? json_loads(json, 0, NULL) : NULL;
	const char *status = json_string_value(json_object_get(o, "status"));
	const char *desc = json_string_value(json_object_get(o, "error-desc"));

	if (why) {
		finish(t, why);
	} else if (status && strcmp(status, "completed") == 0) {
		t->waiting = false;
		next(t);
	} else if (status && (strcmp(status, "failed") == 0 || strcmp(status, "cancelled") == 0)) {
		finish(t, desc ? desc : "the migration failed");
	} else {
		t->waiting = true; /* ask again at the next tick */
	}
	json_decref(o);
}

static void command(struct transfer *t, const char *name, const char *arguments,
		    void (*done)(void *arg, const char *json))
{
	cleanup_error struct error err = ERROR_INIT;
	int ret = strcmp(name, "getfd") == 0 ? vm_qmp_with_fd(t->vm, t->fd, name, arguments, done, t, &err) :
					       vm_qmp(t->vm, name, arguments, done, t, &err);

	if (ret < 0)
		finish(t, err.text);
}

static void on_tick(uv_timer_t *timer)
{
	struct transfer *t = timer->data;

	if (!t->waiting || t->over)
		return;
	t->waiting = false; /* until the answer */
	command(t, "query-migrate", NULL, status_answered);
}

static void next(struct transfer *t)
{
	if (t->step && t->step[0][0]) {
		const char *const *words = t->step[0];

		t->step++;
		command(t, words[0], words[1], answered);
	} else if (t->step) {
		t->step = NULL;
		t->waiting = true;
		uv_timer_start(&t->timer, on_tick, POLL_MS, POLL_MS);
	} else if (t->last) {
		const char *last = t->last;

		t->last = NULL;
		uv_timer_stop(&t->timer);
		command(t, last, NULL, answered);
	} else {
		finish(t, NULL);
	}
}

/* Between two commands nobody else tells: the timer would ask a vm that has been freed. */
static void vm_ended(void *arg)
{
	finish(arg, VM_WENT_AWAY);
}

static void transfer(struct vm *vm, const char *const (*step)[2], const char *last, int fd,
		     void (*done)(void *arg, const char *why), void *arg)
{
	struct transfer *t = xcalloc(1, sizeof(*t));

	*t = (struct transfer){ .vm = vm, .done = done, .arg = arg, .step = step, .last = last, .fd = fd };
	uv_timer_init(vm_loop(vm), &t->timer);
	t->timer.data = t;
	vm_at_end(vm, vm_ended, t);
	next(t);
}

#define IGNORE_SHARED "{\"capabilities\":[{\"capability\":\"x-ignore-shared\",\"state\":true}]}"
#define STATE_URI "{\"uri\":\"fd:6\"}"
_Static_assert(QEMU_FD_STATE == 6, "STATE_URI names the number");

/* An incoming migration takes an inherited descriptor by its number, an outgoing one only by name. */
void vm_save(struct vm *vm, struct vm_template *into, void (*done)(void *arg, const char *why), void *arg)
{
	static const char *const steps[][2] = {
		{ "stop", NULL },
		{ "migrate-set-capabilities", IGNORE_SHARED },
		{ "getfd", "{\"fdname\":\"state\"}" },
		{ "migrate", "{\"uri\":\"fd:state\"}" },
		{ NULL, NULL },
	};

	cleanup_error struct error err = ERROR_INIT;
	int fd = template_state_fd(into, false, &err);

	if (fd < 0)
		done(arg, err.text);
	else
		transfer(vm, steps, NULL, fd, done, arg);
}

void vm_resume(struct vm *vm, void (*done)(void *arg, const char *why), void *arg)
{
	static const char *const steps[][2] = {
		{ "migrate-set-capabilities", IGNORE_SHARED },
		{ "migrate-incoming", STATE_URI },
		{ NULL, NULL },
	};

	transfer(vm, steps, "cont", -1, done, arg);
}
