// SPDX-License-Identifier: GPL-2.0-only
/* The x86 boot protocol: offsets from Documentation/arch/x86/boot.rst. */
#include <string.h>

#include "harness/kernel/content.h"
#include "harness/kernel/decompress.h"
#include "results/util/cleanup.h"

#define OFF_SETUP_SECTS 0x1f1
#define OFF_SYSSIZE 0x1f4
#define OFF_BOOT_FLAG 0x1fe
#define OFF_MAGIC 0x202
#define OFF_PROTOCOL 0x206
#define OFF_KERNEL_VERSION 0x20e
#define OFF_LOADFLAGS 0x211
#define OFF_XLOADFLAGS 0x236
#define OFF_PAYLOAD_OFFSET 0x248
#define OFF_PAYLOAD_LENGTH 0x24c
#define HEADER_BYTES 0x268
#define SECTOR_BYTES 512
#define LOADED_HIGH 0x01
#define XLF_KERNEL_64 0x01
#define PROTOCOL_PAYLOAD 0x0208
#define PROTOCOL_XLOADFLAGS 0x020c
#define RELEASE_MAX 64 /* __NEW_UTS_LEN */
#define PAYLOAD_MAX (1UL << 30)

static uint32_t get16(const uint8_t *p)
{
	return p[0] | (uint32_t)p[1] << 8;
}

static uint32_t get32(const uint8_t *p)
{
	return get16(p) | get16(p + 2) << 16;
}

bool bzimage_detect(const uint8_t *data, size_t len)
{
	return len >= OFF_MAGIC + 4 && get16(data + OFF_BOOT_FLAG) == 0xaa55 &&
	       !memcmp(data + OFF_MAGIC, "HdrS", 4);
}

static size_t setup_bytes(const uint8_t *data)
{
	unsigned int sects = data[OFF_SETUP_SECTS];

	return (size_t)((sects ? sects : 4) + 1) *
	       SECTOR_BYTES; /* 0 means 4, as the protocol says */
}

static int fail(char **why, char *text)
{
	*why = text;
	return -1;
}

/* "7.3.4 (user@host) #1 SMP ...": release and the rest. */
static int read_banner(const uint8_t *data, size_t len, struct content *c)
{
	size_t at = get16(data + OFF_KERNEL_VERSION) + 0x200;
	const char *s = (const char *)data + at;
	size_t n, word;

	if (at == 0x200 || at >= len)
		return -1;
	n = strnlen(s, len - at);
	if (n == len - at || n > 1024)
		return -1;
	word = strcspn(s, " ");
	if (!word || word > RELEASE_MAX || s[0] < '0' || s[0] > '9')
		return -1;
	c->release = xstrndup(s, word);
	c->version = s[word] && s[word + 1] ? xstrdup(s + word + 1) : NULL;
	return 0;
}

/*
 * The vmlinux inside, for its notes. Formats other than gzip have the size appended; a filter that
 * takes it for another stream fails, so it is cut off.
 */
static void read_payload(const uint8_t *data, size_t len, struct content *c)
{
	uint64_t start = (uint64_t)setup_bytes(data) + get32(data + OFF_PAYLOAD_OFFSET);
	uint64_t n = get32(data + OFF_PAYLOAD_LENGTH);
	cleanup_strbuf struct strbuf out = STRBUF_INIT;

	if (get16(data + OFF_PROTOCOL) < PROTOCOL_PAYLOAD || n < 16 || start + n > len)
		return;
	if (memcmp(data + start, "\x1f\x8b", 2) != 0)
		n -= 4;
	if (decompress(data + start, n, PAYLOAD_MAX, &out, NULL) == 0)
		vmlinux_notes((uint8_t *)out.data, out.len, c);
}

int bzimage_examine(const uint8_t *data, size_t len, struct content *c, char **why)
{
	uint64_t want;

	if (len < HEADER_BYTES)
		return fail(why, str_printf("a truncated bzImage: only %zu bytes", len));
	want = setup_bytes(data) + (uint64_t)get32(data + OFF_SYSSIZE) * 16;
	if (len < want)
		return fail(why, str_printf("a truncated bzImage: %zu of %llu bytes", len,
					    (unsigned long long)want));
	if (!(data[OFF_LOADFLAGS] & LOADED_HIGH))
		return fail(why, xstrdup("an old zImage, not a bzImage"));
	if (get16(data + OFF_PROTOCOL) < PROTOCOL_XLOADFLAGS ||
	    !(get16(data + OFF_XLOADFLAGS) & XLF_KERNEL_64))
		return fail(why, xstrdup("a 32-bit x86 kernel: mmrig runs x86-64 kernels"));
	c->format = KERNEL_BZIMAGE;
	if (read_banner(data, len, c) < 0)
		return fail(why, xstrdup("a damaged bzImage: its header shows no version"));
	read_payload(data, len, c);
	return 0;
}
