// SPDX-License-Identifier: GPL-2.0-only
#include "harness/kernel/content.h"

#include <stdlib.h>
#include <string.h>

#include "results/util/cleanup.h"

struct magic {
	size_t offset;
	const char *bytes;
	size_t len;
	const char *what;
};
#define MAGIC(offset, bytes, what)                     \
	{                                              \
		offset, bytes, sizeof(bytes) - 1, what \
	}

static const struct magic magics[] = {
	MAGIC(0x38, "ARM\x64", "an arm64 kernel image: mmrig runs x86-64 kernels"),
	MAGIC(0x38, "RSC\x05", "a riscv kernel image: mmrig runs x86-64 kernels"),
	MAGIC(4, "zimg", "an EFI zboot kernel image of another architecture"),
	MAGIC(0, "\x1f\x8b", "a gzip file: decompress it first (gunzip)"),
	MAGIC(0,
	      "\xfd"
	      "7zXZ",
	      "an xz file: decompress it first (unxz)"),
	MAGIC(0, "\x28\xb5\x2f\xfd", "a zstd file: decompress it first (unzstd)"),
	MAGIC(0, "BZh", "a bzip2 file: decompress it first (bunzip2)"),
	MAGIC(0, "\x04\x22\x4d\x18", "an lz4 file: decompress it first (unlz4)"),
	MAGIC(0, "\x02\x21\x4c\x18", "an lz4 file: decompress it first (unlz4)"),
	MAGIC(0, "!<arch>\n", "an ar archive, but no Debian package"),
	MAGIC(0, "070701", "a cpio archive, perhaps an initramfs"),
	MAGIC(0, "\xed\xab\xee\xdb", "an RPM package: unpack it and give the vmlinuz inside"),
	MAGIC(0, "PK\x03\x04", "a zip file"),
	MAGIC(0, "QFI\xfb", "a qcow2 disk image"),
	MAGIC(0, "\x27\x05\x19\x56", "a U-Boot image"),
	MAGIC(0, "\xd0\x0d\xfe\xed", "a device tree"),
	MAGIC(0x101, "ustar", "a tar archive: unpack it and give the folder"),
	MAGIC(0x8001, "CD001", "an ISO 9660 image"),
	MAGIC(0, "#!", "a script"),
	MAGIC(0, "MZ", "an EFI or DOS program without a Linux boot header"),
};

static bool is_text(const uint8_t *data, size_t len)
{
	if (len > 4096)
		len = 4096;
	for (size_t i = 0; i < len; i++)
		if (data[i] < 0x20 && !strchr("\t\n\r\f\033", data[i]))
			return false;
	return len && !memchr(data, 0, len);
}

char *content_describe(const uint8_t *data, size_t len)
{
	if (!len)
		return xstrdup("an empty file");
	for (size_t i = 0; i < ARRAY_SIZE(magics); i++) {
		const struct magic *m = &magics[i];

		if (m->offset + m->len <= len && !memcmp(data + m->offset, m->bytes, m->len))
			return xstrdup(m->what);
	}
	if (is_text(data, len))
		return xstrdup("a text file");
	return xstrdup("data without a Linux boot header");
}

bool content_is_deb(const uint8_t *data, size_t len)
{
	static const char head[] = "!<arch>\ndebian-binary";

	return len >= sizeof(head) - 1 && !memcmp(data, head, sizeof(head) - 1);
}

int content_examine(uint8_t *data, size_t len, struct content *c, char **why)
{
	if (bzimage_detect(data, len))
		return bzimage_examine(data, len, c, why);
	if (vmlinux_detect(data, len))
		return vmlinux_examine(data, len, c, why);
	*why = content_describe(data, len);
	return -1;
}

void content_free(struct content *c)
{
	free(c->release);
	free(c->version);
	free(c->build_id);
	free(c->config);
	*c = (struct content){ 0 };
}
