// SPDX-License-Identifier: GPL-2.0-only
/* What cannot be had is told before the boot, at its place; with the real registry. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "harness/scenario/scenario_impl.h"
#include "results/util/cleanup.h"
#include "results/verdict.h"

struct row {
	const char *vm, *rest; /* line 2, and lines 3 on */
	const char *set;       /* --set, or NULL */
	const char *want;      /* the message, or how it begins; NULL: good */
};

static int expand(const struct row *r, struct scenario_plan *plan, struct error *err)
{
	cleanup_free char *text = str_printf(
		"name: x\nvm: %s\n%s\nworkload: {tmpfs-files: {files: 10}}\n", r->vm, r->rest);
	struct scenario *s;
	int ret = scenario_parse("f.yaml", text, strlen(text), &s, err);

	if (ret < 0)
		return -1;
	if (r->set)
		ret = scenario_set(s, r->set, err);
	if (ret == 0)
		ret = scenario_expand(s, 0, plan, err);
	scenario_free(s);
	return ret;
}

static void check(const struct row *r)
{
	cleanup_error struct error err = ERROR_INIT;
	struct scenario_plan plan;

	if (expand(r, &plan, &err) == 0) {
		scenario_plan_free(&plan);
		if (r->want)
			fail_msg("taken: %s", r->rest);
		return;
	}
	if (!r->want || !str_starts(err.text, r->want))
		fail_msg("%s\ngives: %s\nnot:   %s", r->rest, err.text, r->want ? r->want : "(good)");
	assert_int_equal(err.status, EXIT_USAGE);
}

#define FREE(where) "layout:\n  - fill: {leave: 5%}\n  - free: {where: " where "}"

/* `where` begins in 5:19. A guest of 1 GiB has pages up to 262143, in pageblocks up to 511. */
static void test_never(void **state)
{
	static const struct row t[] = {
		{ "{memory: 1G}", FREE("node == 7"), NULL,
		  "f.yaml:5:19: free: node == 7 is never true: node is 0 in a guest without vm: {numa: [...]}" },
		{ "{numa: [1G, 1G]}", FREE("node == 7"), NULL,
		  "f.yaml:5:19: free: node == 7 is never true: node is 0 or 1" },
		{ "{numa: [1G, 1G]}", FREE("node == 1"), NULL, NULL },
		{ "{memory: 1G}", FREE("pfn % 8 == 9"), NULL,
		  "f.yaml:5:19: free: pfn % 8 == 9 is never true: pfn % 8 is 0 to 7" },
		{ "{memory: 1G}", FREE("pfn in 5..1"), NULL,
		  "f.yaml:5:19: free: pfn in 5..1 is never true: 5 is more than 1" },
		{ "{memory: 1G}", FREE("offset == 5000"), NULL,
		  "f.yaml:5:19: free: offset == 5000 is never true: offset is 0 to 511" },
		{ "{memory: 1G}", FREE("zone == HighMem"), NULL,
		  "f.yaml:5:19: free: zone == HighMem is never true: zone is dma or dma32; normal takes 2816M of "
		  "memory or more, and movable takes vm: {movablecore: SIZE}" },
		{ "{memory: 1G, movablecore: 256M}", FREE("zone == HighMem"), NULL,
		  "f.yaml:5:19: free: zone == HighMem is never true: zone is dma, dma32 or movable; normal takes 2816M of "
		  "memory or more" },
		{ "{memory: 6G, movablecore: 256M}", FREE("zone == HighMem"), NULL,
		  "f.yaml:5:19: free: zone == HighMem is never true: zone is dma, dma32, normal or movable" },
		{ "{memory: 6G, movablecore: 256M}", FREE("zone == Device"), NULL,
		  "f.yaml:5:19: free: zone == Device is never true" },
		{ "{memory: 512M}", FREE("zone == Normal"), NULL,
		  "f.yaml:5:19: free: zone == Normal is never true: zone is dma or dma32; normal takes 2816M" },
		{ "{memory: 2814M}", FREE("pfn % 8 == 4 && zone == Normal"), NULL,
		  "f.yaml:5:35: free: zone == Normal is never true: zone is dma or dma32" },
		{ "{memory: 2816M}", FREE("zone == Normal"), NULL, NULL },
		{ "{memory: 512M}", FREE("zone >= DMA32"), NULL, NULL },
		{ "{memory: 1G}", FREE("zone == Movable"), NULL, "f.yaml:5:19: free: zone == Movable is never" },
		{ "{memory: 1G, movablecore: 256M}", FREE("zone == Movable"), NULL, NULL },
		{ "{memory: 1G}", FREE("cma"), NULL,
		  "f.yaml:5:19: free: cma is never true: cma is 0 in a guest without vm: {cma: SIZE}" },
		{ "{memory: 1G}", FREE("pfn % 8 == 4 && cma == 1"), NULL,
		  "f.yaml:5:35: free: cma == 1 is never true: cma is 0 in a guest without vm" },
		{ "{memory: 1G, cma: 64M}", FREE("cma"), NULL, NULL },
		{ "{memory: 1G, cma: 64M}", FREE("\"!cma\""), NULL, NULL },
		{ "{memory: 1G, cma: 64M}", FREE("cma == 2"), NULL,
		  "f.yaml:5:19: free: cma == 2 is never true: cma is 0 or 1" },
		{ "{memory: 1G}", FREE("block == 511"), NULL, NULL },
		{ "{memory: 1G}", FREE("block == 512"), NULL,
		  "f.yaml:5:19: free: block == 512 is never true: block is 0 to 511" },
		{ "{memory: 1G}", FREE("rand < 0%"), NULL, "f.yaml:5:19: free: rand < 0% is never true" },
		/* The part that is to blame, behind what is good. */
		{ "{memory: 1G}", FREE("pfn % 8 == 4 && node == 7"), NULL,
		  "f.yaml:5:35: free: node == 7 is never true" },
		{ "{memory: 1G}", FREE("pfn % 8 == 4 && pfn % 16 == 3"), NULL,
		  "f.yaml:5:35: free: pfn % 16 == 3 is never true where pfn % 8 == 4 is" },
		{ "{memory: 1G}", FREE("\"node == 7\""), NULL, "f.yaml:5:20: free: node == 7 is never" },
		{ "{memory: 1G}", FREE("0"), NULL, "f.yaml:5:19: free: 0 is never true: it is 0 for every page" },
		{ "{memory: 1G}", FREE("node == 7 || pfn % 8 == 4"), NULL, NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(t); i++)
		check(&t[i]);
}

/* Of what made it so: with, an axis, an option, the memory. Every step has a where. */
static void test_blame(void **state)
{
	static const struct row t[] = {
		{ "{memory: 1G}", "layout: {use: sparse, with: {step: 99999999}}", NULL,
		  "f.yaml:3:36: step is 99999999: free: pfn % step == 0 is never true: pfn % step is 16 to 262143 (in " },
		{ "{memory: 1G}", "constants: {step: 8}\n" FREE("pfn % step == 4"), "step=4",
		  "--set step=4:1:6: step is 4: free: pfn % step == 4 is never true: pfn % step is 0 to 3 (in "
		  "f.yaml:6:19)" },
		{ "{memory: 1G}", "vary: {residue: [0, 9]}\n" FREE("pfn % 8 == residue"), NULL,
		  "f.yaml:6:19: free: pfn % 8 == residue is never true: pfn % 8 is 0 to 7 (where residue is 9)" },
		{ "{memory: 1G}", FREE("block == 300"), "memory=512M",
		  "--set memory=512M:1:8: memory is 512M: free: block == 300 is never true: block is 0 to 255 (in "
		  "f.yaml:5:19)" },
		{ "{memory: 1G}", FREE("pfn % 8 == 4 && pfn % n == 3") "\nconstants: {n: 5}", "n=16",
		  "--set n=16:1:3: n is 16: free: pfn % n == 3 is never true where pfn % 8 == 4 is" },
		{ "{memory: 1G}", "layout:\n  - fill: {leave: 5%}\n  - pin: {where: node == 7}", NULL,
		  "f.yaml:5:18: pin: node == 7 is never true" },
		{ "{memory: 1G}", "layout:\n  - mix: {share: 5%, where: node == 7}", NULL,
		  "f.yaml:4:29: mix: node == 7 is never true" },
		{ "{memory: 1G}", "layout:\n  - shape: {order0: 5000, where: node == 7}", NULL,
		  "f.yaml:4:34: shape: node == 7 is never true" },
		{ "{memory: 1G}", "layout:\n  - fill: {leave: 5%}\n  - age: {operations: 5, where: node == 7}", NULL,
		  "f.yaml:5:33: age: node == 7 is never true" },
		{ "{memory: 1G}",
		  "layout:\n  - fill: {leave: 5%}\n  - repeat: {times: 9, steps: [free: {where: pfn % 8 == round}]}", NULL,
		  "f.yaml:5:46: free: pfn % 8 == round is never true: pfn % 8 is 0 to 7 (where round is 8)" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(t); i++)
		check(&t[i]);
}

static void test_always(void **state)
{
	static const struct row t[] = {
		{ "{memory: 1G}", FREE("5"), NULL,
		  "f.yaml:5:19: free: where is 5, which is so for every page; leave where out" },
		{ "{memory: 1G}", FREE("2 > 1"), NULL, "f.yaml:5:19: free: where is 2 > 1, which is so" },
		{ "{memory: 1G}", FREE("1") "\nconstants: {n: 1}", "layout.1.where=5", "--set layout.1.where=5:1:16: free: " },
		/* By a name it may be one variant of several, and of a page it may be meant. */
		{ "{memory: 1G}", "vary: {all: [0, 1]}\n" FREE("all || pfn % 8 == 4"), NULL, NULL },
		{ "{memory: 1G}", FREE("pfn % 8 < 8"), NULL, NULL },
		{ "{memory: 1G}", "layout:\n  - fill: {leave: 5%}\n  - free: {share: 100%}", NULL, NULL },
		{ "{memory: 1G}", "layout:\n  - fill: {leave: 5%}\n  - free: {}", NULL,
		  "f.yaml:5:5: free: which pages? give where, count or share; share: 100% are all" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(t); i++)
		check(&t[i]);
}

/* Steps that would do nothing, or that the steps before leave nothing for. */
static void test_steps(void **state)
{
	static const struct row t[] = {
		{ "{memory: 1G}", "layout:\n  - fill: {leave: 5%}\n  - reclaim: {bytes: 1M}", NULL,
		  "f.yaml:5:5: reclaim: there is nothing to reclaim: the guest has no swap, and no step before it fills "
		  "page cache; give it vm: {swap: {size: 512M}}, or put fill: {kind: file, leave: ...} before" },
		{ "{memory: 1G, swap: {size: 64M}}", "layout:\n  - fill: {leave: 5%}\n  - reclaim: {bytes: 1M}", NULL, NULL },
		{ "{memory: 1G}", "layout:\n  - fill: {kind: file, leave: 5%}\n  - reclaim: {bytes: 1M}", NULL, NULL },
		{ "{memory: 1G}", "layout:\n  - fill: {leave: 0}", NULL,
		  "f.yaml:4:19: fill: leave is 0, and a guest cannot go on with less than 1M" },
		{ "{memory: 1G}", "layout:\n  - fill: {leave: 100%}", NULL,
		  "f.yaml:4:19: fill: leave is 100%, which is all that the guest has: the fill would take nothing" },
		{ "{memory: 1G}", "layout:\n  - fill: {leave: 64M}\n  - fill: {leave: {blocks: n}}\nvary: {n: [9, 40]}", NULL,
		  "f.yaml:5:28: fill: leave is 40 pageblocks of 2M, and a fill before has left 64M: there is nothing to "
		  "take; leave less, or free pages in between (where n is 40)" },
		{ "{memory: 1G}", "layout:\n  - fill: {leave: 5%}\n  - pin: {per: page, at: last}", NULL,
		  "f.yaml:5:26: pin: at goes with per: pageblock, and per is page; leave one of them out" },
		{ "{memory: 1G}", "layout:\n  - fill: {leave: 5%}\n  - pin: {at: last}", "layout.1.per=page",
		  "--set layout.1.per=page:1:14: pin: at goes with per: pageblock, and per is page; leave one of them out "
		  "(in f.yaml:5:15)" },
		{ "{memory: 1G}", "layout:\n  - mix: {share: 5%, how: dentries}", NULL, NULL },
		{ "{memory: 1G}", "layout:\n  - mix: {share: 5%, kind: unmovable, how: dentries}", NULL,
		  "f.yaml:4:44: mix: how is dentries, and kind unmovable: packet, pipes and pagetables give" },
		{ "{memory: 1G}", "layout:\n  - mix: {share: 5%, how: pipes}", "layout.0.kind=reclaimable",
		  "--set layout.0.kind=reclaimable:1:15: mix: how is pipes, and kind reclaimable: " },
		{ "{memory: 1G}", "layout:\n  - mix: {share: 0%}", NULL, "f.yaml:4:18: mix: share is 0" },
		/* What is varied may be 0, to compare the others with; pins are no such thing. */
		{ "{memory: 1G}", "vary: {n: [0, 10]}\nlayout:\n  - mix: {share: n %}", NULL, NULL },
		{ "{memory: 1G}", "vary: {n: [0%, 10%]}\nlayout:\n  - mix: {share: n}", NULL, NULL },
		{ "{memory: 1G}", "vary: {n: [0, 10]}\nlayout:\n  - fill: {leave: 5%}\n  - pin: {share: n %}", NULL,
		  "f.yaml:6:18: pin: share is 0, which would pin nothing; leave the step out (where n is 0)" },
		{ "{memory: 1G}", "layout:\n  - shape: {order11: 3}", NULL,
		  "f.yaml:4:13: unknown parameter of shape \"order11\"; there are order0 to order10" },
		{ "{memory: 1G}", "layout:\n  - shape: {ordr1: 3}", NULL,
		  "f.yaml:4:13: unknown parameter of shape \"ordr1\"; did you mean order" },
		{ "{memory: 1G}", "layout:\n  - fill: {leave: 5%, zone: DMA33}", NULL,
		  "f.yaml:4:29: unknown value of zone \"DMA33\"; did you mean dma32? known are: dma, dma32, normal, movable" },
		{ "{memory: 1G}", "layout:\n  - fill: {leave: 5%, zone: DMA32}", NULL, NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(t); i++)
		check(&t[i]);
}

/* The names of shares, as the guest gets them. */
static void test_shares(void **state)
{
	static const struct row bad[] = {
		{ "{}", "constants: {p: 25%}\n" FREE("pfn < p"), NULL,
		  "f.yaml:6:25: a decimal or percentage can only be compared with rand" },
		{ "{}", "constants: {p: 25}\n" FREE("rand < p"), NULL,
		  "f.yaml:6:19: rand can only be compared with a decimal such as 0.25 or with a percentage such as 25%, "
		  "or n % of a whole number n" },
		{ "{}", "constants: {p: 125%}\n" FREE("rand < p"), NULL, "f.yaml:3:16: " },
		{ "{}", "constants: {p: 125}\n" FREE("rand < p %"), NULL, "f.yaml:6:26: 125% lies outside 0 to 1" },
		{ "{}", "constants: {p: 25%}\nlayout:\n  - fill: {leave: p * 2}", NULL, "f.yaml:5:19: a decimal or" },
		{ "{}", "vary: {p: [10%, 0%]}\n" FREE("rand < p"), NULL,
		  "f.yaml:6:19: free: rand < p is never true: rand is 0 or more, and less than 1 (where p is 0%)" },
	};
	static const struct row good[] = {
		{ "{}", "constants: {p: 25%}\n" FREE("rand < p") },
		{ "{}", "vary: {p: [10%, 0.25]}\n" FREE("rand < p") },
		{ "{}", "vary: {p: [10, 25]}\n" FREE("rand < p %") },
		{ "{}", "constants: {p: 25%}\nlayout:\n  - fill: {leave: p}\n  - free: {share: p}" },
	};
	const struct row job = { "{}", "vary: {p: [10%, 0.25]}\nconstants: {q: 7}\n" FREE("rand < p || pfn % 8 == q") };
	cleanup_error struct error err = ERROR_INIT;
	struct scenario_plan plan;
	cleanup_free char *text = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		check(&bad[i]);
	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		check(&good[i]);
	assert_int_equal(expand(&job, &plan, &err), 0);
	text = job_format(&plan.variant[1].job);
	assert_non_null(strstr(text, "const name=p decimal=0.25\n"));
	assert_non_null(strstr(text, "const name=q value=7\n"));
	assert_string_equal(plan.variant[0].label, "p=10%");
	scenario_plan_free(&plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_never),  cmocka_unit_test(test_blame),  cmocka_unit_test(test_always),
		cmocka_unit_test(test_steps),  cmocka_unit_test(test_shares),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
