/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_FIO_REPORT_H
#define MMRIG_FIO_REPORT_H
/* fio's report (--output-format=json) as metrics. */
#include <stddef.h>
#include <stdint.h>

#define FIO_GROUPS_MAX 16
#define FIO_NAME_MAX 32

/* Of reads or writes. Latencies: from the call to the end of the I/O, ns. */
struct fio_direction {
	double ios, iops, bw_bytes, lat_mean, lat_p99, lat_max;
};

/* What fio reports on together: all jobs, where no `new_group` or `stonewall` parts them. */
struct fio_group {
	char name[FIO_NAME_MAX];
	struct fio_direction read, write;
};

struct fio_report {
	char version[FIO_NAME_MAX];
	struct fio_group group[FIO_GROUPS_MAX];
	size_t ngroups; /* those beyond the last are not kept */
};

/* 0, or -1 where it is no report of fio. */
int fio_report_read(const char *json, struct fio_report *r);
/*
 * "fio_read_iops", "fio_write_lat_mean" and so on, each with a comma in front: those of the directions in
 * which there was I/O. Of several groups with the name of each behind it, since what ran one after
 * another has no sum. What does not fit is left out.
 */
void fio_report_metrics(const struct fio_report *r, char *out, size_t room);

#endif
