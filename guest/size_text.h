/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_SIZE_TEXT_H
#define MMRIG_SIZE_TEXT_H
#include <stdint.h>

struct size_text {
	char text[24];
};
/* "512M"; bytes where no unit comes out even. */
struct size_text size_text(uint64_t bytes);

#endif
