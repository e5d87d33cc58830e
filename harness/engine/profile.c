// SPDX-License-Identifier: GPL-2.0-only
#include "harness/engine/profile.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "results/run_json.h"
#include "results/util/cleanup.h"
#include "results/util/str.h"

#define SAMPLES_MAX (1u << 20)
#define TEXT_MAX (32u << 20)
#define TOP 40
/* Half of the addresses are the kernel's. */
#define KERNEL_BIT (1ull << 63)

struct symbol {
	uint64_t address;
	char *name; /* in text */
	size_t samples;
};

struct profile {
	uint64_t *pc;
	size_t n, room;
	struct strbuf text;
};

struct profile *profile_new(void)
{
	return xcalloc(1, sizeof(struct profile));
}

void profile_free(struct profile *p)
{
	if (!p)
		return;
	free(p->pc);
	strbuf_free(&p->text);
	free(p);
}

static void add_pc(struct profile *p, uint64_t pc)
{
	if (p->n == SAMPLES_MAX)
		return;
	if (p->n == p->room) {
		p->room = p->room ? 2 * p->room : 1024;
		p->pc = xreallocarray(p->pc, p->room, sizeof(*p->pc));
	}
	p->pc[p->n++] = pc;
}

size_t profile_add(struct profile *p, const char *registers)
{
	size_t seen = 0;

	for (const char *at = registers; (at = strstr(at, "RIP=")); seen++) {
		at += strlen("RIP=");
		add_pc(p, strtoull(at, NULL, 16));
	}
	return seen;
}

void profile_symbols(struct profile *p, const void *text, size_t len)
{
	if (p->text.len + len <= TEXT_MAX)
		strbuf_add(&p->text, text, len);
}

static int by_address(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

static int by_samples(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	if (x->samples != y->samples)
		return x->samples > y->samples ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* Sorted by address; the two that are none of the kernel's come first, in their order. Heap. */
static struct symbol *read_symbols(struct profile *p, size_t *n)
{
	static char user[] = "[user]", unknown[] = "[unknown]";
	struct symbol *s = NULL;
	size_t room = 2;
	char *save = NULL;

	for (size_t i = 0; i < p->text.len; i++) {
		room += p->text.data[i] == '\n';
		p->text.data[i] = p->text.data[i] ? p->text.data[i] : '?';
	}
	s = xcalloc(room + 1, sizeof(*s));
	s[0] = (struct symbol){ 0, user, 0 };
	s[1] = (struct symbol){ KERNEL_BIT, unknown, 0 };
	*n = 2;
	for (char *line = p->text.len ? strtok_r(p->text.data, "\n", &save) : NULL; line && *n < room;
	     line = strtok_r(NULL, "\n", &save)) {
		char *name;
		uint64_t address = strtoull(line, &name, 16);

		if (*name == ' ' && name[1] && address > KERNEL_BIT)
			s[(*n)++] = (struct symbol){ address, name + 1, 0 };
	}
	qsort(s + 2, *n - 2, sizeof(*s), by_address);
	return s;
}

/* The last symbol that begins at or below it. */
static struct symbol *symbol_of(struct symbol *s, size_t n, uint64_t pc)
{
	size_t lo = 0, hi = n;

	while (hi - lo > 1) {
		size_t mid = lo + (hi - lo) / 2;

		if (s[mid].address <= pc)
			lo = mid;
		else
			hi = mid;
	}
	return &s[lo];
}

static bool is_lock(const char *name)
{
	static const char *const part[] = { "_spin_lock", "spin_lock_slowpath", "osq_lock",
					    "rwsem_down_", "rwsem_optimistic_spin",
					    "__mutex_lock", "mutex_spin_on_owner",
					    "queued_read_lock_slowpath", "queued_write_lock_slowpath" };

	for (size_t i = 0; i < ARRAY_SIZE(part); i++)
		if (strstr(name, part[i]))
			return true;
	return false;
}

static json_t *top_of(const struct symbol *s, size_t n)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n && i < TOP && s[i].samples; i++) {
		json_t *o = json_object();

		json_object_set_new(o, "symbol", run_json_text(s[i].name));
		json_object_set_new(o, "samples", run_json_u64(s[i].samples));
		json_array_append_new(list, o);
	}
	return list;
}

char *profile_json(struct profile *p)
{
	struct symbol *s;
	size_t n, locks = 0;
	json_t *o;
	char *text;

	if (!p->n)
		return NULL;
	s = read_symbols(p, &n);
	for (size_t i = 0; i < p->n; i++)
		symbol_of(s, n, p->pc[i])->samples++;
	for (size_t i = 0; i < n; i++)
		locks += is_lock(s[i].name) ? s[i].samples : 0;
	qsort(s, n, sizeof(*s), by_samples);
	o = json_object();
	json_object_set_new(o, "samples", run_json_u64(p->n));
	json_object_set_new(o, "locks", run_json_u64(locks));
	json_object_set_new(o, "top", top_of(s, n));
	text = json_dumps(o, JSON_COMPACT);
	json_decref(o);
	free(s);
	return text;
}
