/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_HOST_H
#define MMRIG_HOST_H
/* What the host can give, checked before a VM starts. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "results/store.h"

struct run;

/* The host's accounts at one moment; the difference of two says how a run was treated. */
struct host_sample {
	uint64_t steal, total;	      /* /proc/stat, ticks over all CPUs */
	uint64_t memory_full_us;      /* PSI */
	uint64_t run_ns, wait_ns;     /* the process's threads: on a CPU, and ready but without one */
	uint64_t mono_ns;
	bool has_psi, has_threads;
};
/* pid 0: without a process. */
void host_sample(struct host_sample *s, pid_t pid);
/* Anonymous memory of a process, bytes: of a fork, what it changed of its template and QEMU's own. */
uint64_t host_private_bytes(pid_t pid);
/* Fills r->host_*. */
void host_to_run(const struct host_sample *begin, const struct host_sample *end, struct run *r);
/*
 * NULL, or why times and stalls of this run say nothing: its threads waited for a CPU for more than
 * HOST_WAIT_MAX of their time, or the host's hypervisor took more than HOST_STEAL_MAX. Heap.
 */
char *host_starved(const struct host_sample *begin, const struct host_sample *end);
#define HOST_WAIT_MAX 0.6
#define HOST_STEAL_MAX 0.3

/* MemAvailable and MemTotal of /proc/meminfo, bytes; 0 when unknown. */
uint64_t host_memory_available(void);
uint64_t host_memory_total(void);
/*
 * A guest of this size fits: guest memory, QEMU's own, and a margin of 256 MiB for the host.
 * EXIT_USAGE with the largest --memory that would fit.
 */
int host_check_memory(uint64_t guest_bytes, struct error *err);
/* Without KVM, QEMU's CPUs have physical addresses of 40 bits. EXIT_USAGE. */
#define HOST_TCG_MEMORY_MAX (960ULL << 30) /* 1 TiB less q35's holes: 970G still starts, 980G does not */
int host_check_addresses(uint64_t guest_bytes, bool tcg, struct error *err);
/*
 * Room for so many runs (16 MiB each: console at most 3 MiB, samples, database), and for one scratch disk
 * (0: none), which lies in its run's folder. EXIT_NO_VERDICT.
 */
int host_check_disk(const struct store *s, size_t runs, uint64_t scratch_bytes, struct error *err);

#endif
