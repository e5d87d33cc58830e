/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_VM_H
#define MMRIG_VM_H
/*
 * One virtual machine. The backend (QEMU direct; libvirt later) is a table of functions behind
 * this interface. Everything is driven by one libuv loop; callbacks run on it.
 *
 * The console (ttyS0) and the wire are read from socket pairs that QEMU inherits, so there is no
 * socket path, no port and no file to leave behind. QEMU has no terminal and no stdin, dies with
 * mmrig (PR_SET_PDEATHSIG, also on SIGKILL), and is reaped through a pidfd.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "harness/vm/numa.h"
#include "results/util/error.h"

enum vm_accel { VM_ACCEL_AUTO, VM_ACCEL_KVM, VM_ACCEL_TCG };
/* virtio-serial where the kernel has it; the second ISA serial port (slow, no driver) elsewhere. */
enum vm_channel {
	VM_CHANNEL_VIRTIO,
	VM_CHANNEL_SERIAL,
	/*
	 * For deterministic runs: console and wire are serial ports written to memory files that we
	 * poll. One-way: a socket, or anything that the host can make wait, would let guest time
	 * depend on the host.
	 */
	VM_CHANNEL_FILES,
};

/*
 * Guest memory that outlives its VM, and the device state that goes with it. Both are memfds of
 * this process: no name anywhere, gone when the last user is. A template holds the guest's memory
 * once; forks map it copy-on-write and pay only for what they dirty.
 */
struct vm_template;
enum vm_role { VM_ALONE, VM_MAKES_TEMPLATE, VM_FORKS };

/* A disk of the guest, on a file. */
struct vm_disk {
	const char *path;
	const char *serial; /* by which the guest knows it; letters and digits */
	bool writable;	    /* else several VMs may have the file at once */
};

struct vm_config {
	enum vm_role role;
	struct vm_template *template; /* not for VM_ALONE; outlives the VM */
	const char *qemu;	/* program; NULL: qemu-system-x86_64 from PATH */
	const char *kernel;	/* image path */
	const char *initrd;	/* or NULL */
	const char *cmdline;	/* the kernel's command line, whole */
	uint64_t memory_bytes;
	unsigned int cpus;
	/* nnodes 0: no NUMA. Else what the nodes hold adds up to memory_bytes and cpus. */
	const struct vm_node *node;
	size_t nnodes;
	const uint8_t *distance; /* [from * nnodes + to]; NULL: QEMU's own (10 and 20) */
	enum vm_accel accel;	/* AUTO has been resolved by the caller with accel_probe() */
	enum vm_channel channel;
	/*
	 * Deterministic: one instruction is one tick of the guest's clock, and every source of chance
	 * comes from seed. Needs TCG and VM_CHANNEL_FILES.
	 */
	bool deterministic;
	uint64_t seed;
	const struct vm_disk *disk; /* ndisks of them, virtio-blk; not where it is deterministic */
	size_t ndisks;
	int cpu_first, cpu_count; /* host CPUs, by rank among those allowed; count 0: any */
	const char *const *extra; /* more QEMU arguments, NULL-terminated; may be NULL */
};

struct vm;

struct vm_handlers {
	void *arg;
	/* Bytes of the console, as they come (never NUL-terminated, may hold anything). */
	void (*console)(void *arg, const uint8_t *data, size_t len);
	void (*wire)(void *arg, const uint8_t *data, size_t len);
	/*
	 * QEMU is gone and every byte that it wrote before has been delivered. status as from
	 * waitpid(). Its stderr (last 4 KiB) is vm_stderr(). The vm may be freed from inside.
	 */
	void (*exited)(void *arg, int status);
};

/*
 * Starts QEMU. The vm's strings are copied. Exit status EXIT_NO_VERDICT when it cannot start.
 * Call it from a thread that lives as long as the VM: the kernel ends QEMU with that thread.
 * SIGPIPE is ignored from here on, where it was at its default.
 */
int vm_start(uv_loop_t *loop, const struct vm_config *config, const struct vm_handlers *handlers,
	     struct vm **vm, struct error *err);
/*
 * SIGTERM-free: QMP quit, SIGKILL after grace_ms (0: at once); `exited` follows, never from inside.
 * Idempotent; a further call can only shorten the grace.
 */
void vm_stop(struct vm *vm, unsigned int grace_ms);
/* Bytes to the agent. EXIT_NO_VERDICT when it is gone, or has left 4 MiB unread. */
int vm_wire_send(struct vm *vm, const void *data, size_t len, struct error *err);
/*
 * A SysRq key over the console: a break, then the key. Best effort: needs a guest that takes
 * interrupts, and kernel.sysrq (vm_default_cmdline() sets it).
 */
void vm_sysrq(struct vm *vm, char key);
/*
 * A QMP command; arguments is a JSON object text or NULL. done gets the "return" (or "error")
 * object as JSON text, or NULL when the VM went away first.
 */
int vm_qmp(struct vm *vm, const char *command, const char *arguments,
	   void (*done)(void *arg, const char *json), void *arg, struct error *err);
const char *vm_stderr(const struct vm *vm);
/* The argument vector that was used, NULL-terminated, and the same quoted for a shell. */
char *const *vm_argv(const struct vm *vm);
const char *vm_command_line(const struct vm *vm);
pid_t vm_pid(const struct vm *vm);
/* CPU seconds that the QEMU process used so far (user + system); after exit the final figure. */
double vm_cpu_seconds(const struct vm *vm);
/* Only once exited. */
void vm_free(struct vm *vm);

/*
 * The kernel's command line that every run begins with; heap. Warnings and the banner reach the
 * console, a panic or an oops ends QEMU, and the guest's watchdogs fire after the seconds below.
 */
char *vm_default_cmdline(enum vm_accel accel, bool deterministic);
/*
 * The rate of this host's TSC, timed against CLOCK_MONOTONIC once in 20 ms; 0 where it has none, or
 * one that does not run at one rate.
 */
unsigned int vm_host_tsc_mhz(void);
/* Seconds until the slowest of them has spoken; deadlines of the host belong above it. */
unsigned int vm_watchdog_s(enum vm_accel accel);

/* ---- templates ---- */

/*
 * Memory of this size, nothing in it yet. With nodes (nnodes of them, at most VM_NODES_MAX) each has
 * a piece of its own: QEMU takes parts of one file (offset=) only since 8.1. EXIT_NO_VERDICT.
 */
struct vm_template *vm_template_new(uint64_t memory_bytes, const struct vm_node *node, size_t nnodes,
				    struct error *err);
void vm_template_free(struct vm_template *t);
/* Bytes of host memory that it holds now (pages touched, and the saved state). */
uint64_t vm_template_bytes(const struct vm_template *t);
/* What vm_save() and vm_resume() say when QEMU ended meanwhile; any other text is a refusal of its. */
#define VM_WENT_AWAY "QEMU went away"
/*
 * For VM_MAKES_TEMPLATE: stops the guest and saves its device state; memory stays where it is.
 * done gets NULL, or why it failed; the VM stays stopped and is the caller's to end.
 */
void vm_save(struct vm *vm, struct vm_template *into,
	     void (*done)(void *arg, const char *why), void *arg);
/* For VM_FORKS, once, after vm_start(): loads the state and lets the guest run. done as above. */
void vm_resume(struct vm *vm, void (*done)(void *arg, const char *why), void *arg);

/* ---- accelerator ---- */

struct accel_result {
	enum vm_accel accel; /* KVM or TCG; AUTO only without a kernel */
	char reason[256];    /* one line for the user: "kvm", "tcg: /dev/kvm opens, but ..." */
	bool cached;
};
/*
 * Which accelerator boots a kernel here. Not by looking for /dev/kvm: a real boot of `kernel`
 * (any Linux image; the probe looks for its "Linux version" banner on the console, with
 * earlyprintk) under KVM within a deadline; cached per host boot id, QEMU build (path, size,
 * mtime) and /dev/kvm's state in the cache folder. kernel NULL: only what needs no boot; then
 * AUTO is the answer where only a boot can tell. Takes up to 12 s the first time.
 */
int accel_probe(const char *qemu, const char *kernel, struct accel_result *r, struct error *err);
const char *accel_name(enum vm_accel a); /* "auto" "kvm" "tcg" */

/* "QEMU emulator version 7.2.22 (Debian ...)" -> "7.2.22"; heap. EXIT_NO_VERDICT + how to install. */
char *qemu_version(const char *qemu, struct error *err);
/* Doubles the commas of an option value; heap. */
char *qemu_escape(const char *value);

#endif
