// SPDX-License-Identifier: GPL-2.0-only
/* Free lists that two CPUs printed at once, told apart by the orders and the sums that both print. */
#include <string.h>

#include "harness/report/memreport_impl.h"

/* 11 orders of two lists are 2^11 ways of some 30 tokens; what needs more is no two lists. */
#define STEPS_EACH (1u << 17)

void tangle_begin(struct tangle *t, bool with_last)
{
	size_t kept = with_last ? t->n - t->second : 0;

	memmove(t->token, t->token + t->second, kept * sizeof(t->token[0]));
	t->n = t->second = kept;
	t->totals = 0;
	t->overflow &= with_last;
	t->mixed = false;
}

void tangle_add(struct tangle *t, enum list_token kind, uint64_t a, uint64_t b)
{
	if (kind == LIST_TYPES)
		return;
	if (t->n == TANGLE_TOKENS_MAX || (kind == LIST_TOTAL && a >= MEMREPORT_NONSENSE)) {
		t->overflow = true;
		return;
	}
	t->totals += kind == LIST_TOTAL;
	t->token[t->n++] = (struct tangle_token){ kind == LIST_TOTAL, a, b };
}

struct strand {
	bool begun, ended;
	unsigned int first; /* order; 0 where the head is known */
	struct tangle_list list;
};

struct search {
	const struct tangle *t;
	unsigned int page_kb;
	bool both; /* the heads of both are known */
	uint64_t *steps;
	uint64_t steps_end;
	bool ambiguous;
	unsigned int found;
	struct tangle_list best[2];
};

static bool same_list(const struct tangle_list *a, const struct tangle_list *b)
{
	return a->orders == b->orders && a->kb == b->kb &&
	       memcmp(a->free, b->free, a->orders * sizeof(a->free[0])) == 0;
}

static void note_found(struct search *s, const struct strand strand[2])
{
	for (int i = s->both ? 0 : 1; i < 2; i++) {
		if (!s->found)
			s->best[i] = strand[i].list;
		else if (!same_list(&s->best[i], &strand[i].list))
			s->ambiguous = true;
	}
	s->found++;
}

static bool take_count(const struct search *s, struct strand *d, const struct tangle_token *token)
{
	struct tangle_list *l = &d->list;

	if (d->ended)
		return false;
	if (!d->begun) {
		d->begun = true;
		while (l->orders < MEMREPORT_ORDERS && ((uint64_t)s->page_kb << l->orders) < token->kb)
			l->orders++;
		d->first = l->orders;
	}
	if (l->orders >= MEMREPORT_ORDERS || token->kb != (uint64_t)s->page_kb << l->orders ||
	    token->count >= MEMREPORT_BLOCKS_MAX)
		return false;
	l->free[l->orders++] = token->count;
	l->kb += token->count * token->kb;
	return true;
}

/* A list whose beginning is lost adds up to less than it says. */
static bool take_total(struct strand *d, uint64_t kb)
{
	if (d->ended || !d->begun || d->list.orders < MEMREPORT_ORDERS_LEAST)
		return false;
	d->ended = true;
	return d->first ? d->list.kb <= kb : d->list.kb == kb;
}

/* Can the token at i be of this list? Strand 0 may be one whose head is not known. */
static bool take(const struct search *s, struct strand strand[2], int which, size_t i)
{
	const struct tangle_token *token = &s->t->token[i];
	struct strand *d = &strand[which];

	if (which == 1 && i < s->t->second)
		return false;
	return token->total ? take_total(d, token->count) : take_count(s, d, token);
}

static void search_from(struct search *s, const struct strand strand[2], size_t i)
{
	if (s->ambiguous || ++*s->steps > s->steps_end) {
		s->ambiguous = true;
		return;
	}
	if (i == s->t->n) {
		if (strand[0].ended && strand[1].ended)
			note_found(s, strand);
		return;
	}
	for (int which = 0; which < 2; which++) {
		struct strand next[2] = { strand[0], strand[1] };

		if (take(s, next, which, i))
			search_from(s, next, i + 1);
	}
}

bool tangle_solve(const struct tangle *t, unsigned int page_kb, bool both, uint64_t *steps,
		  struct tangle_list list[2])
{
	struct strand strand[2] = { { .begun = both }, { .begun = true } };
	struct search s = { .t = t,
			    .page_kb = page_kb,
			    .both = both,
			    .steps = steps,
			    .steps_end = *steps + STEPS_EACH };

	if (t->overflow || t->totals != 2 || *steps > TANGLE_STEPS_ALL)
		return false;
	search_from(&s, strand, both ? 0 : t->second);
	if (s.ambiguous || !s.found)
		return false;
	list[0] = s.best[0];
	list[1] = s.best[1];
	return true;
}
