// SPDX-License-Identifier: GPL-2.0-only
#include "guest/symbols.h"

#include <stdio.h>
#include <string.h>

#include "guest/channel.h"
#include "guest/task.h"

#define CHUNK 32768
#define NAME "kallsyms"

size_t symbols_line(const char *line, char *out, size_t room)
{
	char address[20], name[256], module[80] = "";
	char type;
	int n = sscanf(line, "%19[0-9a-f] %c %255s %79s", address, &type, name, module);

	if (n < 3 || !strchr("tTwW", type))
		return 0;
	n = snprintf(out, room, "%s %s%s%s\n", address, name, *module ? " " : "", module);
	return n > 0 && (size_t)n < room ? (size_t)n : 0;
}

void symbols_send(enum wire_phase phase)
{
	static uint8_t chunk[CHUNK];
	FILE *f = fopen("/proc/kallsyms", "re");
	size_t head = WIRE_SAMPLE_HEAD + strlen(NAME), at = head;
	char line[512];

	wire_sample_head(chunk, mono_ns(), EDGE_NONE, phase, NAME);
	while (f && fgets(line, sizeof(line), f)) {
		if (CHUNK - at < sizeof(line)) {
			channel_send(WIRE_SAMPLE, chunk, (uint32_t)at);
			at = head;
		}
		at += symbols_line(line, (char *)chunk + at, CHUNK - at);
	}
	if (at > head)
		channel_send(WIRE_SAMPLE, chunk, (uint32_t)at);
	if (f)
		fclose(f);
}
