// SPDX-License-Identifier: GPL-2.0-only
#include "guest/workload.h"

void workload_result(struct workload_run *w, const char *metrics, const char *extra)
{
	task_send(w->child, WIRE_RESULT, "{\"metrics\":{%s}%s%s}", metrics, extra ? "," : "",
		  extra ? extra : "");
}
