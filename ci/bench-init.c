// SPDX-License-Identifier: GPL-2.0-only
/*
 * The smallest init, for comparison: prints a line and powers off. With mmrig_populate_pages=N on
 * the kernel's command line (the kernel hands it over as an environment variable) it first times
 * MADV_POPULATE_WRITE of so many base pages and prints the seconds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/reboot.h>
#include <time.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

static void populate(size_t bytes)
{
	struct timespec a, b;
	char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		       -1, 0);

	madvise(p, bytes, MADV_NOHUGEPAGE);
	clock_gettime(CLOCK_MONOTONIC, &a);
	if (madvise(p, bytes, MADV_POPULATE_WRITE) < 0) {
		perror("mmrig-bench populate");
		return;
	}
	clock_gettime(CLOCK_MONOTONIC, &b);
	printf("mmrig-bench populated %.6f\n",
	       (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) / 1e9);
	fflush(stdout);
}

int main(void)
{
	const char *pages = getenv("mmrig_populate_pages");

	printf("mmrig-bench up\n");
	fflush(stdout);
	if (pages)
		populate((size_t)strtoull(pages, NULL, 10) * 4096);
	reboot(RB_POWER_OFF);
	return 0;
}
