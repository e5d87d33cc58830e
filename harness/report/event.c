// SPDX-License-Identifier: GPL-2.0-only
/* Why the report was made (a failed allocation, an OOM kill, a stall), and of which kernel it is. */
#include <ctype.h>
#include <stdlib.h>

#include "harness/engine/splat.h"
#include "harness/report/memreport_impl.h"
#include "results/run_text.h"
#include "results/util/cleanup.h"

#define ORDER_MAX 30

/* ---- kernel ---- */

static const struct {
	const char *within, *arch;
} arch_names[] = {
	{ "x86_64", "x86_64" }, { "amd64", "x86_64" },	  { "aarch64", "arm64" },
	{ "arm64", "arm64" },	{ "ppc64le", "ppc64le" }, { "ppc64", "ppc64" },
	{ "s390x", "s390x" },	{ "riscv64", "riscv64" }, { "i686", "i386" },
	{ "armv7", "arm" },	{ "armhf", "arm" },
};

static void take_arch(struct memreport *r)
{
	for (size_t i = 0; i < ARRAY_SIZE(arch_names) && !*r->arch; i++)
		if (strstr(r->release, arch_names[i].within))
			strcpy(r->arch, arch_names[i].arch);
}

/* "5.4.26", "6.6.32-rt32-ti": digits and a dot first, and an end. */
static bool take_release(struct memreport *r, const char *s)
{
	size_t len = strspn(s, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			       "._+~-");
	size_t major = strspn(s, "0123456789");

	if (!major || s[major] != '.' || len >= sizeof(r->release) ||
	    (s[len] && !strchr(" )", s[len])))
		return false;
	memcpy(r->release, s, len);
	r->release[len] = '\0';
	take_arch(r);
	return true;
}

/* "Not tainted 5.4.26 #4", "Tainted: G      D W         5.4.0-next-20191204+ #75" */
static void take_kernel(struct reader *rd, struct cursor text)
{
	const char *s = strstr(text.p, "ainted");

	if (cursor_take(&text, "Linux version ")) {
		take_release(reader_report(rd), text.p);
		return;
	}
	for (; s && *s; s += strspn(s, " ")) {
		s += strcspn(s, " ");
		s += strspn(s, " (");
		if (isdigit((unsigned char)*s) && take_release(reader_report(rd), s))
			return;
	}
}

/* ---- the failed allocation ---- */

/* "order:4," and "order=4,", and "order. order:4"; its end must be seen. */
static bool take_order(const char *s, unsigned int *order)
{
	while ((s = strstr(s, "order")) != NULL) {
		size_t digits;

		s += strlen("order");
		if (*s != ':' && *s != '=')
			continue;
		s++;
		s += strspn(s, " ");
		digits = strspn(s, "0123456789");
		if (!digits || digits > 2 || !s[digits] || !strchr(", ", s[digits]))
			continue;
		*order = (unsigned int)strtoul(s, NULL, 10);
		return *order <= ORDER_MAX;
	}
	return false;
}

/* "mode:0xa20(GFP_ATOMIC)", "gfp_mask=0x1201d2," */
static bool take_mask(const char *s, struct memevent *e)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789abcdefx|";
	const char *start = strstr(s, "mode:0x"), *end;
	cleanup_free char *names = NULL;

	if (!start)
		start = strstr(s, "gfp_mask=0x");
	if (!start)
		return false;
	start = strstr(start, "0x");
	end = start + 2 + strspn(start + 2, "0123456789abcdef");
	if (end - start < 3 || end - start > 18)
		return false;
	if (*end == '(') {
		size_t len = strspn(end + 1, letters);

		if (end[1 + len] != ')')
			return false;
		names = xstrndup(end + 1, len);
		end += len + 2;
	}
	if (end - start >= MEMREPORT_TEXT_MAX)
		return false;
	snprintf(e->mask, sizeof(e->mask), "%.*s", (int)(end - start), start);
	e->have_gfp = true;
	gfp_decode(strtoull(start, NULL, 16), names, &e->gfp);
	return true;
}

/* "vmalloc: allocation failure: 0 bytes", "deadlock size 50184 in kmem_alloc" */
static void take_bytes(const char *s, struct memevent *e)
{
	const char *size = strstr(s, "deadlock size "), *bytes = strstr(s, " bytes");

	if (size) {
		size += strlen("deadlock size ");
	} else if (bytes) {
		size = bytes;
		while (size > s && isdigit((unsigned char)size[-1]))
			size--;
	} else {
		return;
	}
	if (strspn(size, "0123456789") < 16 && size[strspn(size, "0123456789")] == ' ')
		e->bytes = strtoull(size, NULL, 10);
}

static enum memevent_kind failure_kind(const char *s)
{
	if (strstr(s, "page allocation failure"))
		return MEMEVENT_FAILURE;
	if (strstr(s, "vmalloc: allocation failure"))
		return MEMEVENT_VMALLOC;
	if (strstr(s, "possible memory allocation deadlock"))
		return MEMEVENT_KMALLOC;
	if (strstr(s, "invoked oom-killer"))
		return MEMEVENT_OOM;
	if (strstr(s, "sysrq: Show Memory") || strstr(s, "SysRq : Show Memory"))
		return MEMEVENT_SYSRQ;
	return MEMEVENT_NONE;
}

static void order_of_size(struct memreport *r)
{
	struct memevent *e = &r->event;

	for (e->order = 0; e->order < ORDER_MAX; e->order++)
		if (((uint64_t)r->page_kb << 10 << e->order) >= e->bytes)
			break;
	e->have_order = true;
}

/* What stands behind one of the keys, where its end is seen. */
static bool find_word(const char *text, const char *const *keys, struct cursor *word)
{
	for (; *keys; keys++) {
		const char *s = strstr(text, *keys);

		if (!s)
			continue;
		word->p = s + strlen(*keys);
		word->p += strspn(word->p, " ");
		word->end = word->p + strcspn(word->p, ", ");
		if (word->p < word->end && *word->end)
			return true;
	}
	return false;
}

static void remark_bad(struct reader *rd, const struct memevent *e, const char *text)
{
	static const char *const order[] = { "order:", "order=", NULL };
	static const char *const mask[] = { "mode:", "gfp_mask=", NULL };

	if (!e->have_order && find_word(text, order, &rd->word))
		reader_bad(rd, "order of any kernel", "it is left out");
	if (!e->have_gfp && find_word(text, mask, &rd->word))
		reader_bad(rd, "gfp mask", "it is left out");
}

static void take_failure(struct reader *rd, enum memevent_kind kind, const char *text)
{
	struct memevent e = { .kind = kind, .line = rd->rec.line };
	struct memreport *r;

	e.have_order = take_order(text, &e.order);
	take_mask(text, &e);
	take_bytes(text, &e);
	reader_split(rd);
	r = reader_report(rd);
	remark_bad(rd, &e, text);
	/* A header that was torn apart says less than the one before it. */
	if (r->event.have_order && !e.have_order && kind == r->event.kind)
		return;
	r->event = e;
	if (kind == MEMEVENT_KMALLOC && e.bytes)
		order_of_size(r);
}

/* ---- stalls ---- */

static bool is_stall(enum splat_class c)
{
	return c == SPLAT_HUNG_TASK || c == SPLAT_SOFT_LOCKUP || c == SPLAT_HARD_LOCKUP ||
	       c == SPLAT_RCU_STALL || c == SPLAT_WORKQUEUE_LOCKUP;
}

static bool take_stall(struct reader *rd, const char *text)
{
	cleanup_free char *printable = NULL;
	struct memreport *r;
	const char *title;

	if (!is_stall(splat_classify(text, &title)))
		return false;
	r = reader_report(rd);
	if (r->event.kind)
		return true;
	r->event.kind = MEMEVENT_STALL;
	r->event.line = rd->rec.line;
	printable = run_text_printable(title);
	snprintf(r->event.text, sizeof(r->event.text), "%s", printable);
	return true;
}

bool event_read(struct reader *rd, struct cursor text)
{
	enum memevent_kind kind = failure_kind(text.p);

	if (kind != MEMEVENT_NONE) {
		take_failure(rd, kind, text.p);
		return true;
	}
	if (take_stall(rd, text.p))
		return true;
	take_kernel(rd, text);
	return false;
}
