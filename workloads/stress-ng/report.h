/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_STRESS_NG_REPORT_H
#define MMRIG_STRESS_NG_REPORT_H
/* stress-ng's report (--yaml) as metrics. */
#include <stddef.h>

#define STRESS_MAX 64 /* stressors of one run */
#define STRESS_NAME_MAX 32

struct stress_figures {
	char name[STRESS_NAME_MAX]; /* letters, digits, underscores */
	double ops, rate, cpu_rate; /* bogo operations; a second; a second of CPU time */
};

struct stress_report {
	char version[STRESS_NAME_MAX];
	struct stress_figures stressor[STRESS_MAX];
	size_t n; /* those beyond the last are not kept */
};

/* 0, or -1 where there is no stressor in it. */
int stress_report_read(const char *yaml, struct stress_report *r);
/* "stress_bogo_ops_vm" and so on, each with a comma in front. What does not fit is left out. */
void stress_report_metrics(const struct stress_report *r, char *out, size_t room);

#endif
