/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_FILL_CHECK_H
#define MMRIG_FILL_CHECK_H
/* check and after of the step `fill`: see guest/step_check.h. */
#include "guest/step_check.h"

int fill_check(const struct job_line *line, const struct step_context *c, struct step_fault *f);
void fill_after(const struct job_line *line, struct step_context *c);

#endif
