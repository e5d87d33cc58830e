// SPDX-License-Identifier: GPL-2.0-only
#include "harness/vm/vm.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "harness/vm/args.h"
#include "harness/vm/program.h"
#include "harness/vm/qmp.h"
#include "harness/vm/spawn.h"
#include "harness/vm/template.h"
#include "results/util/cleanup.h"
#include "results/verdict.h"

#define CHUNK_BYTES 65536
#define STDERR_KEEP_BYTES 4096
#define WIRE_QUEUE_MAX (4UL << 20)
/* What QEMU wrote before its end is there at once; only a helper in another session holds on. */
#define DRAIN_MS 500
/* A process in uninterruptible sleep survives SIGKILL: then the run ends without its corpse. */
#define CORPSE_MS 10000
/* Memory files of a deterministic guest: looked at so often, and no larger than so much. */
#define FILES_POLL_MS 50
#define FILES_MAX (256L << 20)
#define FILES 2

enum channel { CHANNEL_CONSOLE, CHANNEL_WIRE, CHANNEL_QMP, CHANNEL_OUTPUT, CHANNEL_COUNT };

struct vm {
	struct vm_handlers handlers;
	char **argv;
	char *command_line;
	pid_t pid;
	int pidfd;
	int status;
	double cpu_seconds; /* the final figure, once reaped */
	bool reaped, stopping, killed, closing;
	bool abandoned; /* never came up: freed without a word to the handlers */
	unsigned int open_channels, open_handles;
	uv_loop_t *loop;
	uv_pipe_t channel[CHANNEL_COUNT];
	bool eof[CHANNEL_COUNT];
	uv_poll_t exit_poll;
	uv_timer_t timer;
	struct qmp *qmp;
	int file[FILES]; /* console and wire where they are memory files; -1 */
	off_t file_at[FILES];
	uv_timer_t files_poll;
	void (*at_end)(void *arg);
	void *at_end_arg;
	int pass_fd; /* goes with the QMP line being sent; -1: none */
	char output[STDERR_KEEP_BYTES + 1];
	size_t output_len;
	char chunk[CHUNK_BYTES];
};

/* ---- the end ---- */

static void finish(struct vm *vm)
{
	struct vm_handlers h = vm->handlers;

	qmp_close(vm->qmp);
	if (vm->at_end)
		vm->at_end(vm->at_end_arg);
	if (vm->abandoned)
		vm_free(vm);
	else if (h.exited)
		h.exited(h.arg, vm->status); /* may free the vm */
}

static void handle_closed(uv_handle_t *handle)
{
	struct vm *vm = handle->data;

	if (--vm->open_handles == 0)
		finish(vm);
}

static void read_files(struct vm *vm);

static void close_handles(struct vm *vm)
{
	if (vm->closing)
		return;
	read_files(vm); /* the last words */
	vm->closing = true;
	for (int i = 0; i < CHANNEL_COUNT; i++)
		uv_close((uv_handle_t *)&vm->channel[i], handle_closed);
	uv_close((uv_handle_t *)&vm->files_poll, handle_closed);
	uv_close((uv_handle_t *)&vm->timer, handle_closed);
	uv_close((uv_handle_t *)&vm->exit_poll, handle_closed);
}

static void close_when_done(struct vm *vm)
{
	if (vm->reaped && !vm->open_channels)
		close_handles(vm);
}

static void drain_over(uv_timer_t *timer)
{
	close_handles(timer->data);
}

static void reap(struct vm *vm, int flags)
{
	struct rusage usage;
	int status;

	if (vm->reaped || wait4(vm->pid, &status, flags, &usage) != vm->pid)
		return;
	vm->reaped = true;
	vm->status = status;
	vm->cpu_seconds = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
			  (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static void on_exit_poll(uv_poll_t *poll, int status, int events)
{
	struct vm *vm = poll->data;

	/* Its helpers too, while its zombie still keeps the group's number from being reused. */
	kill(-vm->pid, SIGKILL);
	reap(vm, WNOHANG);
	if (!vm->reaped)
		return;
	uv_poll_stop(poll);
	uv_update_time(vm->loop);
	uv_timer_start(&vm->timer, drain_over, DRAIN_MS, 0);
	close_when_done(vm);
}

static void corpse_lost(uv_timer_t *timer)
{
	struct vm *vm = timer->data;

	vm->status = SIGKILL;
	close_handles(vm);
}

static void kill_now(struct vm *vm)
{
	if (vm->killed || vm->reaped)
		return;
	vm->killed = true;
	syscall(SYS_pidfd_send_signal, vm->pidfd, SIGKILL, NULL, 0);
	uv_update_time(vm->loop); /* callers may have worked for long since the loop looked */
	uv_timer_start(&vm->timer, corpse_lost, CORPSE_MS, 0);
}

static void grace_over(uv_timer_t *timer)
{
	kill_now(timer->data);
}

void vm_stop(struct vm *vm, unsigned int grace_ms)
{
	if (vm->reaped || vm->killed || vm->closing)
		return;
	if (!grace_ms) {
		kill_now(vm);
		return;
	}
	if (vm->stopping && uv_timer_get_due_in(&vm->timer) <= grace_ms)
		return;
	uv_update_time(vm->loop);
	uv_timer_start(&vm->timer, grace_over, grace_ms, 0);
	if (!vm->stopping)
		qmp_command(vm->qmp, "quit", NULL, NULL, NULL, NULL);
	vm->stopping = true;
}

/* ---- bytes ---- */

static void keep_output(struct vm *vm, const char *data, size_t len)
{
	size_t drop;

	if (len > STDERR_KEEP_BYTES) {
		data += len - STDERR_KEEP_BYTES;
		len = STDERR_KEEP_BYTES;
	}
	drop = vm->output_len + len > STDERR_KEEP_BYTES ? vm->output_len + len - STDERR_KEEP_BYTES :
							  0;
	memmove(vm->output, vm->output + drop, vm->output_len - drop);
	vm->output_len -= drop;
	memcpy(vm->output + vm->output_len, data, len);
	vm->output_len += len;
	vm->output[vm->output_len] = '\0';
}

static void deliver(struct vm *vm, enum channel channel, size_t len)
{
	switch (channel) {
	case CHANNEL_CONSOLE:
		if (vm->handlers.console)
			vm->handlers.console(vm->handlers.arg, (uint8_t *)vm->chunk, len);
		break;
	case CHANNEL_WIRE:
		if (vm->handlers.wire)
			vm->handlers.wire(vm->handlers.arg, (uint8_t *)vm->chunk, len);
		break;
	case CHANNEL_QMP:
		qmp_feed(vm->qmp, vm->chunk, len, NULL);
		break;
	default:
		keep_output(vm, vm->chunk, len);
		break;
	}
}

/* What the guest has written since; the pages that held it are given back. */
static void read_files(struct vm *vm)
{
	for (int i = 0; i < FILES; i++) {
		ssize_t n;

		while (vm->file[i] >= 0 &&
		       (n = pread(vm->file[i], vm->chunk, sizeof(vm->chunk), vm->file_at[i])) > 0) {
			fallocate(vm->file[i], FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, vm->file_at[i], n);
			vm->file_at[i] += n;
			deliver(vm, (enum channel)i, (size_t)n);
		}
		if (vm->file_at[i] > FILES_MAX && !vm->killed && !vm->reaped) {
			static const char *const said[FILES] = {
				"mmrig: the guest wrote more than 256 MiB to its console\n",
				"mmrig: the guest wrote more than 256 MiB to the wire\n",
			};

			keep_output(vm, said[i], strlen(said[i]));
			kill_now(vm);
		}
	}
}

static void on_files_poll(uv_timer_t *timer)
{
	struct vm *vm = timer->data;

	if (!vm->closing)
		read_files(vm);
}

/* One chunk for all: libuv hands it back in on_read() before it asks for the next. */
static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
	struct vm *vm = handle->data;

	*buf = uv_buf_init(vm->chunk, sizeof(vm->chunk));
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
	struct vm *vm = stream->data;
	enum channel channel = (enum channel)((uv_pipe_t *)stream - vm->channel);

	if (n > 0 && !vm->closing)
		deliver(vm, channel, (size_t)n);
	if (n >= 0 || vm->eof[channel])
		return;
	uv_read_stop(stream);
	vm->eof[channel] = true;
	vm->open_channels--;
	if (channel == CHANNEL_QMP)
		qmp_close(vm->qmp);
	close_when_done(vm);
}

struct write {
	uv_write_t req;
	char data[];
};

static void on_written(uv_write_t *req, int status)
{
	free(req->data);
}

static int channel_write(struct vm *vm, enum channel channel, const void *data, size_t len)
{
	struct write *w = xmalloc(sizeof(*w) + len);
	uv_buf_t buf = uv_buf_init(w->data, (unsigned int)len);
	int ret;

	w->req.data = w;
	memcpy(w->data, data, len);
	ret = uv_write(&w->req, (uv_stream_t *)&vm->channel[channel], &buf, 1, on_written);
	if (ret < 0)
		free(w);
	return ret;
}

/* With a descriptor attached; whole or not at all, since a line of QMP fits any socket buffer. */
static int send_with_fd(struct vm *vm, const char *line, size_t len)
{
	char control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec iov = { (char *)line, len };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control,
			      .msg_controllen = sizeof(control) };
	struct cmsghdr *head = CMSG_FIRSTHDR(&msg);
	int socket;

	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(head), &vm->pass_fd, sizeof(int));
	if (uv_fileno((uv_handle_t *)&vm->channel[CHANNEL_QMP], &socket) < 0 ||
	    uv_stream_get_write_queue_size((uv_stream_t *)&vm->channel[CHANNEL_QMP]))
		return -1;
	return sendmsg(socket, &msg, MSG_NOSIGNAL) == (ssize_t)len ? 0 : -1;
}

static int send_qmp(void *arg, const char *line, size_t len)
{
	struct vm *vm = arg;

	return vm->pass_fd >= 0 ? send_with_fd(vm, line, len) : channel_write(vm, CHANNEL_QMP, line, len);
}

static bool gone(const struct vm *vm, enum channel channel)
{
	return vm->reaped || vm->closing || vm->eof[channel];
}

int vm_wire_send(struct vm *vm, const void *data, size_t len, struct error *err)
{
	size_t queued;
	int ret;

	if (vm->file[CHANNEL_WIRE] >= 0)
		return error_set(err, EXIT_NO_VERDICT, "wire: one-way in a deterministic run");
	if (gone(vm, CHANNEL_WIRE))
		return error_set(err, EXIT_NO_VERDICT, "wire: QEMU is gone");
	queued = uv_stream_get_write_queue_size((uv_stream_t *)&vm->channel[CHANNEL_WIRE]);
	if (queued + len > WIRE_QUEUE_MAX)
		return error_set(err, EXIT_NO_VERDICT,
				 "wire: the guest does not read: %zu bytes wait", queued);
	ret = channel_write(vm, CHANNEL_WIRE, data, len);
	if (ret < 0)
		return error_set(err, EXIT_NO_VERDICT, "wire: %s", uv_strerror(ret));
	return 0;
}

struct sysrq {
	struct vm *vm;
	char key;
};

/* The key goes out once the break is known to be in: QMP and the console are two channels. */
static void break_sent(void *arg, const char *json)
{
	struct sysrq *s = arg;

	if (json && !gone(s->vm, CHANNEL_CONSOLE))
		channel_write(s->vm, CHANNEL_CONSOLE, &s->key, 1);
	free(s);
}

void vm_sysrq(struct vm *vm, char key)
{
	struct sysrq *s = xmalloc(sizeof(*s));

	*s = (struct sysrq){ vm, key };
	if (vm_qmp(vm, "chardev-send-break", "{\"id\":\"console\"}", break_sent, s, NULL) < 0)
		free(s);
}

int vm_qmp_with_fd(struct vm *vm, int fd, const char *command, const char *arguments,
		   void (*done)(void *arg, const char *json), void *arg, struct error *err)
{
	int ret;

	vm->pass_fd = fd;
	ret = vm_qmp(vm, command, arguments, done, arg, err);
	vm->pass_fd = -1;
	return ret;
}

int vm_qmp(struct vm *vm, const char *command, const char *arguments,
	   void (*done)(void *arg, const char *json), void *arg, struct error *err)
{
	if (gone(vm, CHANNEL_QMP))
		return error_set(err, EXIT_NO_VERDICT, "QMP %s: QEMU is gone", command);
	return qmp_command(vm->qmp, command, arguments, done, arg, err);
}

/* ---- the start ---- */

struct fds {
	int ours[CHANNEL_COUNT], theirs[CHANNEL_COUNT];
};

static void fds_close(struct fds *f)
{
	for (int i = 0; i < CHANNEL_COUNT; i++) {
		cleanup_close_p(&f->ours[i]);
		cleanup_close_p(&f->theirs[i]);
	}
}

static int file_open(struct fds *f, int i, struct error *err)
{
	f->theirs[i] = memfd_create(i == CHANNEL_CONSOLE ? "mmrig-console" : "mmrig-wire", MFD_CLOEXEC);
	f->ours[i] = f->theirs[i] < 0 ? -1 : fcntl(f->theirs[i], F_DUPFD_CLOEXEC, 3);
	if (f->ours[i] < 0)
		return error_errno(err, EXIT_NO_VERDICT, "QEMU: cannot open its channels");
	return 0;
}

static int fds_open(struct fds *f, bool files, struct error *err)
{
	int pair[2];

	memset(f, 0xff, sizeof(*f));
	for (int i = 0; i < CHANNEL_COUNT; i++) {
		if (files && i < FILES) {
			if (file_open(f, i, err) < 0)
				return -1;
			continue;
		}
		int ret = i == CHANNEL_OUTPUT ?
				  pipe2(pair, O_CLOEXEC) :
				  socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair);

		if (ret < 0)
			return error_errno(err, EXIT_NO_VERDICT, "QEMU: cannot open its channels");
		f->ours[i] = pair[0];
		f->theirs[i] = pair[1];
	}
	return 0;
}

static void handle_ready(struct vm *vm, void *handle)
{
	((uv_handle_t *)handle)->data = vm;
	vm->open_handles++;
}

/* Our ends belong to the handles from here on. */
static int attach_channels(struct vm *vm, struct fds *f, bool files)
{
	int ret;

	for (int i = 0; i < CHANNEL_COUNT; i++) {
		if (files && i < FILES) {
			vm->file[i] = STEAL_FD(f->ours[i]);
			vm->eof[i] = true; /* nothing to write to, nothing to wait for */
			continue;
		}
		ret = uv_pipe_open(&vm->channel[i], f->ours[i]);
		if (ret == 0) {
			f->ours[i] = -1;
			ret = uv_read_start((uv_stream_t *)&vm->channel[i], on_alloc, on_read);
		}
		if (ret < 0)
			return ret;
		vm->open_channels++;
	}
	return 0;
}

static int attach(struct vm *vm, struct fds *f, bool files)
{
	int ret = uv_poll_init(vm->loop, &vm->exit_poll, vm->pidfd);

	if (ret < 0)
		return ret;
	handle_ready(vm, &vm->exit_poll);
	uv_timer_init(vm->loop, &vm->timer);
	handle_ready(vm, &vm->timer);
	for (int i = 0; i < CHANNEL_COUNT; i++) {
		uv_pipe_init(vm->loop, &vm->channel[i], 0);
		handle_ready(vm, &vm->channel[i]);
	}
	uv_timer_init(vm->loop, &vm->files_poll);
	handle_ready(vm, &vm->files_poll);
	ret = attach_channels(vm, f, files);
	if (ret == 0 && files)
		ret = uv_timer_start(&vm->files_poll, on_files_poll, FILES_POLL_MS, FILES_POLL_MS);
	return ret < 0 ? ret : uv_poll_start(&vm->exit_poll, UV_READABLE, on_exit_poll);
}

/* The child runs already: end it, and free the vm once libuv has let go of the handles. */
static void abandon(struct vm *vm)
{
	syscall(SYS_pidfd_send_signal, vm->pidfd, SIGKILL, NULL, 0);
	reap(vm, 0);
	vm->abandoned = true;
	if (vm->open_handles)
		close_handles(vm);
	else
		vm_free(vm);
}

static struct vm *vm_new(uv_loop_t *loop, const struct vm_config *config,
			 const struct vm_handlers *handlers, struct error *err)
{
	cleanup_free char *program = qemu_find(config->qemu, err);
	struct qemu_features features;
	struct vm *vm;

	if (!program || qemu_probe(program, &features, err) < 0)
		return NULL;
	if (config->channel == VM_CHANNEL_VIRTIO && !features.virtio_serial) {
		error_set(err, EXIT_NO_VERDICT, "%s: has no virtio-serial-pci device", program);
		error_hint(err, "install the whole of QEMU: apt install qemu-system-x86");
		return NULL;
	}
	vm = xcalloc(1, sizeof(*vm));
	vm->loop = loop;
	vm->handlers = *handlers;
	vm->pidfd = -1;
	vm->pass_fd = -1;
	vm->file[0] = vm->file[1] = -1;
	vm->argv = args_build(program, config, &features);
	vm->command_line = args_quote(vm->argv);
	vm->qmp = qmp_new(send_qmp, vm);
	return vm;
}

/*
 * libuv writes without MSG_NOSIGNAL: a command to a QEMU that has just died ended the driver. One
 * who has chosen a disposition of their own keeps it.
 */
static void survive_broken_pipes(void)
{
	struct sigaction now;

	if (sigaction(SIGPIPE, NULL, &now) == 0 && now.sa_handler == SIG_DFL)
		signal(SIGPIPE, SIG_IGN);
}

/* The child inherits the caller's CPUs: they are narrowed for as long as the fork takes. */
static void pin_self(const struct vm_config *config, cpu_set_t *before)
{
	cpu_set_t narrow;
	int rank = 0;

	sched_getaffinity(0, sizeof(*before), before);
	CPU_ZERO(&narrow);
	for (int cpu = 0; config->cpu_count && cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, before))
			continue;
		if (rank >= config->cpu_first && rank < config->cpu_first + config->cpu_count)
			CPU_SET(cpu, &narrow);
		rank++;
	}
	if (CPU_COUNT(&narrow))
		sched_setaffinity(0, sizeof(narrow), &narrow);
}

static int spawn(struct vm *vm, const struct vm_config *config, const struct fds *f,
		 struct error *err)
{
	int inherited[SPAWN_FDS_MAX];
	cleanup_close int state = -1;
	size_t n = CHANNEL_OUTPUT;
	cpu_set_t before;
	int ret;

	memcpy(inherited, f->theirs, n * sizeof(*inherited));
	if (config->role != VM_ALONE) {
		const int *memory;
		size_t nmemory = template_memory_fds(config->template, &memory);

		/* Read from the start, at an offset of its own. Its maker gets it to keep the numbers. */
		state = template_state_fd(config->template, true, err);
		if (state < 0)
			return -1;
		inherited[n++] = state;
		memcpy(inherited + n, memory, nmemory * sizeof(*memory));
		n += nmemory;
	}
	pin_self(config, &before);
	ret = spawn_child(vm->argv, f->theirs[CHANNEL_OUTPUT], inherited, n, &vm->pid, &vm->pidfd, err);
	sched_setaffinity(0, sizeof(before), &before);
	return ret;
}

int vm_start(uv_loop_t *loop, const struct vm_config *config, const struct vm_handlers *handlers,
	     struct vm **out, struct error *err)
{
	struct vm *vm = vm_new(loop, config, handlers, err);
	bool files = config->channel == VM_CHANNEL_FILES;
	struct fds f;
	int ret;

	if (!vm)
		return -1;
	survive_broken_pipes();
	if (fds_open(&f, files, err) < 0 || spawn(vm, config, &f, err) < 0) {
		fds_close(&f);
		vm_free(vm);
		return -1;
	}
	ret = attach(vm, &f, files);
	fds_close(&f);
	if (ret < 0) {
		error_set(err, EXIT_NO_VERDICT, "QEMU: cannot watch it: %s", uv_strerror(ret));
		abandon(vm);
		return -1;
	}
	*out = vm;
	return 0;
}

void vm_free(struct vm *vm)
{
	if (!vm)
		return;
	qmp_free(vm->qmp);
	if (vm->pidfd >= 0)
		close(vm->pidfd);
	for (int i = 0; i < FILES; i++)
		if (vm->file[i] >= 0)
			close(vm->file[i]);
	args_free(vm->argv);
	free(vm->command_line);
	free(vm);
}

/* ---- facts ---- */

const char *vm_stderr(const struct vm *vm)
{
	return vm->output;
}

char *const *vm_argv(const struct vm *vm)
{
	return vm->argv;
}

uv_loop_t *vm_loop(const struct vm *vm)
{
	return vm->loop;
}

void vm_at_end(struct vm *vm, void (*fn)(void *arg), void *arg)
{
	vm->at_end = fn;
	vm->at_end_arg = arg;
}

const char *vm_command_line(const struct vm *vm)
{
	return vm->command_line;
}

pid_t vm_pid(const struct vm *vm)
{
	return vm->pid;
}

double vm_cpu_seconds(const struct vm *vm)
{
	struct timespec ts;
	clockid_t clock;

	if (vm->reaped)
		return vm->cpu_seconds;
	if (clock_getcpuclockid(vm->pid, &clock) != 0 || clock_gettime(clock, &ts) < 0)
		return 0;
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}
