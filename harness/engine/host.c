// SPDX-License-Identifier: GPL-2.0-only
#include "harness/engine/host.h"

#include <dirent.h>
#include <string.h>
#include <time.h>

#include "results/util/cleanup.h"
#include "results/util/file.h"
#include "results/run.h"

#define MIB (1ULL << 20)
/* QEMU's own: 80-150 MiB resident were seen beside the guest's memory; page tables add 1/512. */
#define QEMU_BYTES (192 * MIB)
#define MARGIN_BYTES (256 * MIB)
#define RUN_BYTES (16 * MIB)

static uint64_t meminfo_bytes(const char *key)
{
	cleanup_free char *text = file_read("/proc/meminfo", 65536, NULL, NULL);
	const char *p = text ? strstr(text, key) : NULL;

	return p ? strtoull(p + strlen(key), NULL, 10) * 1024 : 0;
}

uint64_t host_memory_available(void)
{
	return meminfo_bytes("MemAvailable:");
}

uint64_t host_memory_total(void)
{
	return meminfo_bytes("MemTotal:");
}

int host_check_addresses(uint64_t guest_bytes, bool tcg, struct error *err)
{
	if (!tcg || guest_bytes <= HOST_TCG_MEMORY_MAX)
		return 0;
	return error_set(
		err, EXIT_USAGE,
		"a guest of %llu MiB is more than the CPUs of QEMU's TCG can address; give --memory %lluG or "
		"less, or use a host with KVM",
		(unsigned long long)(guest_bytes / MIB), HOST_TCG_MEMORY_MAX >> 30);
}

int host_check_memory(uint64_t guest_bytes, struct error *err)
{
	uint64_t available = host_memory_available();
	uint64_t needed = guest_bytes, fits;

	/* A sum that would wrap is as good as the largest. */
	if (__builtin_add_overflow(needed, guest_bytes / 512 + QEMU_BYTES + MARGIN_BYTES, &needed))
		needed = UINT64_MAX;
	if (!available || needed <= available)
		return 0;
	fits = available > QEMU_BYTES + MARGIN_BYTES ?
		       (available - QEMU_BYTES - MARGIN_BYTES) / 513 * 512 / (256 * MIB) * 256 : 0;
	if (!fits)
		return error_set(err, EXIT_USAGE,
				 "a guest of %llu MiB needs %llu MiB of host memory and %llu MiB are "
				 "available, too few for any guest; end something else on this host",
				 (unsigned long long)(guest_bytes / MIB),
				 (unsigned long long)(needed / MIB),
				 (unsigned long long)(available / MIB));
	return error_set(err, EXIT_USAGE,
			 "a guest of %llu MiB needs %llu MiB of host memory and %llu MiB are available; "
			 "give --memory %lluM or less",
			 (unsigned long long)(guest_bytes / MIB), (unsigned long long)(needed / MIB),
			 (unsigned long long)(available / MIB), (unsigned long long)fits);
}

int host_check_disk(const struct store *s, size_t runs, uint64_t scratch_bytes, struct error *err)
{
	uint64_t bytes, needed = runs * RUN_BYTES + scratch_bytes;

	if (store_free_bytes(s, &bytes, err) < 0)
		return -1;
	if (bytes >= needed)
		return 0;
	return error_set(err, EXIT_NO_VERDICT,
			 "%s: %llu MiB are free and %zu runs can need %llu MiB%s; make room, or set "
			 "MMRIG_RESULTS to a folder on another disk",
			 store_root(s), (unsigned long long)(bytes / MIB), runs,
			 (unsigned long long)(needed / MIB),
			 scratch_bytes ? " with a scratch disk" : "");
}

/* ---- how a run was treated ---- */

static void read_stat(struct host_sample *s)
{
	cleanup_free char *text = file_read("/proc/stat", 1 << 20, NULL, NULL);
	char *p = text && str_starts(text, "cpu ") ? text + 4 : NULL;

	/* user nice system idle iowait irq softirq steal (proc(5)) */
	for (int field = 0; p && field < 8; field++) {
		uint64_t v = strtoull(p, &p, 10);

		s->total += v;
		if (field == 7)
			s->steal = v;
	}
}

static void read_psi(struct host_sample *s)
{
	cleanup_free char *text = file_read("/proc/pressure/memory", 4096, NULL, NULL);
	char *full = text ? strstr(text, "full ") : NULL, *total = full ? strstr(full, "total=") : NULL;

	s->has_psi = total != NULL;
	if (total)
		s->memory_full_us = strtoull(total + strlen("total="), NULL, 10);
}

/* schedstat of a thread: ns on a CPU, ns waiting for one, time slices. */
static void read_threads(struct host_sample *s, pid_t pid)
{
	cleanup_free char *folder = str_printf("/proc/%d/task", (int)pid);
	cleanup_dir DIR *d = opendir(folder);
	struct dirent *e;

	while (d && (e = readdir(d))) {
		cleanup_free char *path = str_printf("%s/%s/schedstat", folder, e->d_name), *text = NULL;
		char *p;

		if (e->d_name[0] == '.')
			continue;
		text = file_read(path, 256, NULL, NULL);
		if (!text)
			continue;
		s->run_ns += strtoull(text, &p, 10);
		s->wait_ns += strtoull(p, NULL, 10);
		s->has_threads = true;
	}
}

void host_sample(struct host_sample *s, pid_t pid)
{
	struct timespec ts;

	memset(s, 0, sizeof(*s));
	clock_gettime(CLOCK_MONOTONIC, &ts);
	s->mono_ns = (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
	read_stat(s);
	read_psi(s);
	if (pid > 0)
		read_threads(s, pid);
}

static double share(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : -1;
}

/* Some accounts have been seen to go back: that is no time at all, not nearly 2^64 of it. */
static uint64_t since(uint64_t begin, uint64_t end)
{
	return end > begin ? end - begin : 0;
}

static double steal_share(const struct host_sample *begin, const struct host_sample *end)
{
	return share(since(begin->steal, end->steal), since(begin->total, end->total));
}

static double wait_share(const struct host_sample *end)
{
	return end->has_threads ? share(end->wait_ns, end->run_ns + end->wait_ns) : -1;
}

uint64_t host_private_bytes(pid_t pid)
{
	cleanup_free char *path = str_printf("/proc/%d/smaps_rollup", (int)pid);
	cleanup_free char *text = file_read(path, 8192, NULL, NULL);
	char *p = text ? strstr(text, "Anonymous:") : NULL;

	return p ? strtoull(p + strlen("Anonymous:"), NULL, 10) * 1024 : 0;
}

void host_to_run(const struct host_sample *begin, const struct host_sample *end, struct run *r)
{
	double load;

	r->host_wait = wait_share(end);
	r->host_steal = steal_share(begin, end);
	r->host_memory = begin->has_psi && end->has_psi ?
				 share(since(begin->memory_full_us, end->memory_full_us) * 1000,
				       since(begin->mono_ns, end->mono_ns)) : -1;
	r->host_load = getloadavg(&load, 1) == 1 ? load : -1;
}

char *host_starved(const struct host_sample *begin, const struct host_sample *end)
{
	double wait = wait_share(end), steal = steal_share(begin, end);

	if (wait > HOST_WAIT_MAX)
		return str_printf("the host was starved: QEMU waited for a CPU %.0f %% of its time; run fewer "
				  "jobs, or stop what else runs", 100 * wait);
	if (steal > HOST_STEAL_MAX)
		return str_printf("the host was starved: its hypervisor took %.0f %% of its CPUs", 100 * steal);
	return NULL;
}
