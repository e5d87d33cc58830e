// SPDX-License-Identifier: GPL-2.0-only
#include "harness/engine/host.h"

#include <string.h>

#include "results/util/cleanup.h"
#include "results/util/file.h"

#define MIB (1ULL << 20)
/* QEMU's own: 80-150 MiB resident were seen beside the guest's memory; page tables add 1/512. */
#define QEMU_BYTES (192 * MIB)
#define MARGIN_BYTES (256 * MIB)
#define RUN_BYTES (16 * MIB)

uint64_t host_memory_available(void)
{
	cleanup_free char *text = file_read("/proc/meminfo", 65536, NULL, NULL);
	const char *p = text ? strstr(text, "MemAvailable:") : NULL;

	return p ? strtoull(p + strlen("MemAvailable:"), NULL, 10) * 1024 : 0;
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

int host_check_disk(const struct store *s, size_t runs, struct error *err)
{
	uint64_t bytes, needed = runs * RUN_BYTES;

	if (store_free_bytes(s, &bytes, err) < 0)
		return -1;
	if (bytes >= needed)
		return 0;
	return error_set(err, EXIT_NO_VERDICT,
			 "%s: %llu MiB are free and %zu runs can need %llu MiB; make room, or set "
			 "MMRIG_RESULTS to a folder on another disk",
			 store_root(s), (unsigned long long)(bytes / MIB), runs,
			 (unsigned long long)(needed / MIB));
}
