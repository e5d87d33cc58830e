// SPDX-License-Identifier: GPL-2.0-only
#include "harness/cmd/opt.h"

const struct command *const command_table[] = {
	&command_run,	  &command_compare, &command_report, &command_layout, &command_list,
	&command_kernel, &command_results, &command_doctor, &command_help,   NULL,
};

int main(int argc, char **argv)
{
	return command_main(argc, argv);
}
