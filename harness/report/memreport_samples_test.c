// SPDX-License-Identifier: GPL-2.0-only
/* Every sample report. Expected values were read off the texts by hand, sums added up by hand. */
#include "harness/report/memreport_fixture.h"

struct want_list {
	unsigned int node;
	const char *zone, *free; /* from order 0 */
	uint64_t kb;
};

struct sample {
	const char *files; /* joined by "+" */
	size_t nth;	   /* 0: the best */
	size_t reports;
	unsigned int page_kb;
	size_t zones;
	struct want_list list[4];
	enum memevent_kind kind;
	int order;	 /* -1: none */
	const char *gfp; /* "Unmovable atomic Normal", "Movable direct Movable"; NULL: no mask */
	const char *release;
	const char *remark[3];
	const char *error; /* NULL: it has free lists */
};

#define ZEROS10 " 0 0 0 0 0 0 0 0 0 0"

/* clang-format off */
static const struct sample samples[] = {
	{ "02-arm-pos-2.6.16.buddyinfo", 0, 1, 4, 1, { { 0, "DMA", "8 7 5 3 4 5 2 1 1 1 4", 21640 } },
	  0, -1, NULL, "", { "page size is not said" }, NULL },
	{ "02-arm-pos-2.6.16.zoneinfo", 0, 1, 4, 1, { { 0 } }, 0, -1, NULL, "", { NULL },
	  "no free list in it (understood: 1 zone without a free list)" },
	{ "02-arm-pos-2.6.16.buddyinfo+02-arm-pos-2.6.16.zoneinfo", 0, 1, 4, 1,
	  { { 0, "DMA", "8 7 5 3 4 5 2 1 1 1 4", 21640 } }, 0, -1, NULL, "", { NULL }, NULL },
	{ "04-ia64-2.6.26-64k-order16-oom", 0, 1, 64, 3,
	  { { 2, "DMA", "61 1 1 0 0 1 0 0 0 0 0 0 0 0 0 0 0", 6336 },
	    { 2, "Normal", "0" ZEROS10 " 0 0 0 0 0 0", 0 },
	    { 3, "Normal", "57 6 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0", 4416 } },
	  MEMEVENT_OOM, 0, "Movable direct Movable", "",
	  { "line 52: node 2 DMA: free: says 8128 kB, the free list holds 6336 kB",
	    "pages of 64 kB: a block of order 0 counts as one of order 4" }, NULL },
	{ "06-i386-2.6.38-khugepaged-100cpu", 0, 1, 4, 3,
	  { { 0, "DMA", "8 3 2 5 6 5 3 1 1 1 1", 9720 },
	    { 0, "Normal", "2670 3000 2194 1489 1069 690 363 180 84 43 2", 641528 },
	    { 0, "HighMem", "657 3474 1338 873 254 12 0 0 0 0 0", 97556 } },
	  0, -1, NULL, "", { NULL }, NULL },
	{ "08-ubuntu-desktop-3.2.buddyinfo+08-ubuntu-desktop-3.2.pagetypeinfo+"
	  "08-ubuntu-desktop-3.2.zoneinfo", 0, 1, 4, 3,
	  { { 0, "DMA", "0 0 0 1 1 1 1 0 1 1 3", 15840 },
	    { 0, "DMA32", "7 6 4 8 5 4 5 9 7 2 800", 3295180 },
	    { 0, "Normal", "6026 19812 10138 4462 2328 1254 483 246 136 49 279", 2429096 } },
	  0, -1, NULL, "", { NULL }, NULL },
	{ "08-ubuntu-desktop-3.2.pagetypeinfo", 0, 1, 4, 3,
	  { { 0, "DMA32", "7 6 4 8 5 4 5 9 7 2 800", 3295180 },
	    { 0, "Normal", "6026 19812 10138 4462 2328 1254 483 246 136 49 279", 2429096 } },
	  0, -1, NULL, "", { NULL }, NULL },
	{ "08-ubuntu-desktop-3.2.zoneinfo", 0, 1, 4, 3, { { 0 } }, 0, -1, NULL, "", { NULL },
	  "3 zones without a free list" },
	{ "10-centos7-3.10-2node-annotated", 0, 1, 4, 4,
	  { { 0, "DMA", "1 1 1 1 1 0 1 1 1 1 2", 12156 },
	    { 0, "DMA32", "688 2080 1420 995 596 357 278 241 276 32 133", 1245280 },
	    { 0, "Normal", "195748 204074 161167 119070 70791 33578 9556 2070 1034 2533 7328",
	      57401168 },
	    { 1, "Normal", "11705 51467 36752 21326 11343 7309 5024 3403 2597 3056 10898",
	      59975228 } },
	  0, -1, NULL, "", { "node 1 Normal: the migratetypes do not add up" }, NULL },
	{ "12-centos7-xfs-2node-buddyinfo-wrapped", 0, 1, 4, 4,
	  { { 0, "DMA", "0 0 1 0 1 0 0 0 0 1 3", 14416 },
	    { 0, "DMA32", "31577 88 2 0 0 0 0 0 0 0 0", 127044 },
	    { 0, "Normal", "33331 3323 582 87 0 0 0 0 0 0 0", 172004 },
	    { 1, "Normal", "51121 6343 822 77 1 0 0 0 0 0 0", 270908 } },
	  MEMEVENT_KMALLOC, 4, "Unmovable direct Normal", "", { "wrapped lines" }, NULL },
	{ "14-openwrt-ath79-80col-truncated", 0, 2, 4, 1, { { 0, "Normal", "9 4 1 1 2", 244 } },
	  MEMEVENT_FAILURE, 0, "Unmovable atomic Normal", "",
	  { "line 6: node 0 Normal: the free list is cut off after order 4: 244 kB of the 372 kB that are free are in it",
	    "line 16: the failure is that of the next report" }, NULL },
	{ "14-openwrt-ath79-80col-truncated", 2, 2, 4, 0, { { 0 } }, MEMEVENT_FAILURE, 0,
	  "Unmovable atomic Normal", "", { NULL },
	  "no free list in it (understood: page allocation failure, order 0, 0x20)" },
	{ "16-zynq-4.4-cma-highatomic.buddyinfo+16-zynq-4.4-cma-highatomic.pagetypeinfo+"
	  "16-zynq-4.4-cma-highatomic.zoneinfo", 0, 1, 4, 1,
	  { { 0, "Normal", "42 18 17 7 3 2 1 2 3 1 32", 138728 } }, 0, -1, NULL, "",
	  { "the migratetypes do not add up" }, NULL },
	{ "16-zynq-4.4-cma-highatomic.pagetypeinfo", 0, 1, 4, 1,
	  { { 0, "Normal", "57 11 7 6 4 3 1 2 3 1 32", 138732 } }, 0, -1, NULL, "", { NULL }, NULL },
	{ "16-zynq-4.4-cma-highatomic.zoneinfo", 0, 1, 4, 1, { { 0 } }, 0, -1, NULL, "", { NULL },
	  "no free list in it" },
	{ "18-debian-4.9-2node-interleaved-printk", 0, 3, 4, 3,
	  { { 0, "DMA", "0 1 1 1 1 1 1 0 1 1 3", 15864 },
	    { 0, "DMA32", "248 182 167 196 85 32 22 21 18 7 44", 250304 },
	    { 0, "Normal", "5404 32 2 1 2 1 1 0 0 1 0", 24496 } },
	  0, -1, NULL, "", { "line 1: node 0 DMA: its free list is mixed with another" }, NULL },
	{ "18-debian-4.9-2node-interleaved-printk", 2, 3, 4, 1,
	  { { 1, "Normal", "4172 8 5 0 0 0 0 0 0 0 0", 16832 } }, MEMEVENT_FAILURE, 0,
	  "Unmovable atomic Normal", "", { "the header of this one is lost" }, NULL },
	{ "18-debian-4.9-2node-interleaved-printk", 3, 3, 4, 0, { { 0 } }, MEMEVENT_FAILURE, 0,
	  "Unmovable atomic Normal", "4.9.0-5-amd64", { NULL }, "no free list in it" },
	{ "20-rpi-armv7-4.14-terminal-wrapped", 0, 1, 4, 1,
	  { { 0, "Normal", "379 354 169 34 18 8 3 1", 11596 } }, 0, -1, NULL, "",
	  { "cut off after order 7:", "33 % of the free memory is CMA" }, NULL },
	{ "22-rhel8-4.18-hyperv-balloon-oom", 0, 1, 4, 3,
	  { { 0, "DMA", "1 0 0 1 2 1 1 0 1 1 3", 15908 },
	    { 0, "DMA32", "29 36 33 6 3 1 3 2 2", 5284 },
	    { 0, "Normal", "833 712 305 152 52 28 15 11", 35156 } },
	  MEMEVENT_OOM, 0, "Movable direct Movable", "4.18.0-240.10.1.el8_3.x86_64",
	  { "node 0 DMA32: the free list is cut off after order 8:",
	    "node 0 Normal: the free list is cut off after order 7:" }, NULL },
	{ "24-webhost-pagetypeinfo-wrapped", 0, 1, 4, 3,
	  { { 0, "DMA", "0 0 0 1 2 1 1 0 1 1 3", 15904 },
	    { 0, "DMA32", "66 54 74 59 59 55 50 49 26 2 45", 267512 },
	    { 0, "Normal", "104325 162970 130453 92156 62957 41114 23046 11165 2346 15 5",
	      30118900 } },
	  0, -1, NULL, "", { NULL }, NULL },
	{ "26-virtio-balloon-5.4-negative-managed", 0, 2, 4, 3,
	  { { 0, "DMA", "7 5 6 2 1 2 3", 1316 },
	    { 0, "DMA32", "0 1 2 2 2 1 1 1", 1128 },
	    { 0, "Normal", "1985 1321 844 524 300 138", 85644 } },
	  MEMEVENT_OOM, 0, "Movable direct Movable", "5.4.0-next-20191204+",
	  { "node 0 Normal: low 73886371836733356 is nonsense", "cut off after order 5:", "cut off after order 6:" },
	  NULL },
	{ "26-virtio-balloon-5.4-negative-managed", 1, 2, 4, 1, { { 0 } }, 0, -1, NULL, "",
	  { "line 8: node 0 Normal: managed 18446744073709533486 is nonsense",
	    "min 24848885473806 is nonsense" }, "no free list in it" },
	{ "28-cephfs-client-vm-5.4-wrapped", 0, 1, 4, 3,
	  { { 0, "DMA", "1 0 0 1 2 1 1 0 1 1 3", 15908 },
	    { 0, "DMA32", "35 109 372 144 28 37 55 0 0 0 0", 32180 },
	    { 0, "Normal", "347 250 655 80 29 7 6 0 0 0 0", 20716 } },
	  MEMEVENT_FAILURE, 0, "Unmovable atomic Normal", "5.4.26", { "wrapped lines" }, NULL },
	{ "30-ceph-mon-lxd-5.4.buddyinfo+30-ceph-mon-lxd-5.4.zoneinfo+30-ceph-mon-lxd-5.4.meminfo",
	  0, 1, 4, 5,
	  { { 0, "DMA", "0 1 1 0 2 1 1 0 1 1 3", 15896 },
	    { 0, "DMA32", "6193 5044 2306 1011 397 146 60 14 3 1 529", 2372900 },
	    { 0, "Normal", "3103 1237 633 286 215 32 11 3 3 3 6", 97588 } },
	  0, -1, NULL, "",
	  { "MemTotal is 2097152 kB, the zones are larger",
	    "node 0 Normal: free: says 85572 kB, the free list holds 97588 kB" }, NULL },
	{ "30-ceph-mon-lxd-5.4.meminfo", 0, 1, 4, 0, { { 0 } }, 0, -1, NULL, "", { NULL },
	  "understood: meminfo" },
	{ "32-moosefs-5.4-kswapd-hung-2node", 0, 1, 4, 0, { { 0 } }, MEMEVENT_STALL, -1, NULL,
	  "5.4.0-88-generic", { NULL }, "task kswapd0:328 blocked for more than 120 seconds" },
	{ "34-x86-4node-5.8-oom-caller-id", 0, 1, 4, 6,
	  { { 0, "DMA32", "2 3 4 2 3 2 5 6 6 0 11", 56160 },
	    { 0, "Normal", "117 137 469 179 58 11 0 4 6 0 0", 28108 },
	    { 2, "Normal", "594 347 1014 99 79 144 0 0 0 0 0", 48032 },
	    { 3, "Normal", "225 174 814 170 81 63 8 1 5 0 0", 41684 } },
	  MEMEVENT_OOM, 0, "Movable direct Movable", "5.8.0-rc4-next-20200710",
	  { "node 2 Normal: free: says 53868 kB, the free list holds 48032 kB" }, NULL },
	{ "36-hns3-arm64-5.10-4node-quoted-printable", 0, 1, 4, 5,
	  { { 0, "DMA", "1008 714 543 278 131 93 112 82 51 11 11", 238080 },
	    { 1, "Normal", "224854 68037 5242 0 1 2 0 1 0 0 0", 1528416 },
	    { 2, "Normal", "76663 19963 1544 2 7 1 1 1 0 0 0", 492468 },
	    { 3, "Normal", "114940 51349 3786 0 0 1 1 0 1 0 0", 932536 } },
	  MEMEVENT_FAILURE, 4, "Unmovable direct Normal", "5.10.0-27-arm64",
	  { "quoted-printable was decoded" }, NULL },
	{ "38-ppc64le-64k-5.10-vmalloc-fail", 0, 1, 64, 1,
	  { { 0, "Normal", "6 11 65 111 41 5 4 2 322", 5435904 } }, MEMEVENT_VMALLOC, -1,
	  "Unmovable direct Normal", "5.10.0-rc7", { "pages of 64 kB" }, NULL },
	{ "40-xfs-vm-5.13-meminfo-vmstat", 0, 1, 4, 0, { { 0 } }, 0, -1, NULL, "", { NULL },
	  "no free list in it (understood: meminfo, vmstat); add /proc/buddyinfo" },
	{ "42-imx6ul-5.16-isolate-flag-truncated", 0, 1, 4, 1,
	  { { 0, "Normal", "5 5 10 9 5 7 7 4 2 4 5 2 5", 134588 } }, MEMEVENT_OOM, 0,
	  "Unmovable direct Normal", "5.16.0-00095-g721fb891ad0b", { "cut off after order 12:" }, NULL },
	{ "44-vm-4node-5.19rc-sysrq-m-wrapped", 0, 1, 4, 6,
	  { { 0, "DMA32", "3 1 1 1 2 1 3 3 3 3 725", 2981444 },
	    { 0, "Normal", "1714 1504 988 562 268 96 27 5 1 5 1188", 4968904 },
	    { 1, "Normal", "977 1086 406 210 133 116 37 18 12 2 1397", 5806356 },
	    { 3, "Normal", "463 940 392 210 121 40 2 1 1 3 188", 813468 } },
	  MEMEVENT_SYSRQ, -1, NULL, "", { "wrapped lines" }, NULL },
	{ "46-vmware-6.1-softlockup-khugepaged", 0, 1, 4, 0, { { 0 } }, MEMEVENT_STALL, -1, NULL,
	  "6.1.0-rc7+", { NULL }, "soft lockup - CPU#1 stuck for 26s" },
	{ "48-hppa-6.3-all-zero", 0, 1, 4, 1, { { 0, "Normal", "0" ZEROS10, 0 } }, MEMEVENT_FAILURE,
	  0, "Unmovable - Normal", "6.3.0-rc4+", { "no block of order 0 or above is free" },
	  "nothing to build: the free lists of 1 zone are empty" },
	{ "50-am62x-6.6rt-cifs-oom-cma", 0, 1, 4, 1,
	  { { 0, "DMA", "15619 8377 385 175 211 75 12 0 0 15 1", 202244 } }, MEMEVENT_OOM, 2,
	  "Unmovable direct Normal", "6.6.32-rt32-ti-rt-01519-g2cc066b2c5d1-dirty",
	  { "45 % of the free memory is CMA",
	    "874 blocks of order 2 or above are free, all of types that an Unmovable request may not" },
	  NULL },
	{ "52-bcachefs-kmsg-prefix-shrinker-hang", 0, 1, 4, 0, { { 0 } }, MEMEVENT_STALL, -1, NULL,
	  "", { NULL }, "rcu_preempt detected expedited stalls" },
	{ "54-powermac-ppc32-6.8-zswap-order0", 0, 1, 4, 1,
	  { { 0, "DMA", "2 1 1 18 7 0 1 1 0 0 0", 1824 } }, MEMEVENT_FAILURE, 0,
	  "Unmovable atomic Normal", "6.8.9-gentoo-PMacG4",
	  { "free of the machine is 8896 kB, the free lists hold 1824 kB" }, NULL },
	{ "56-xbox360-ppc64be-64k-6.17-journald", 0, 1, 64, 1,
	  { { 0, "Normal", "1 1 3 0 0 0 0 0 0", 960 } }, 0, -1, NULL, "6.17.7-xenon",
	  { "(\\x0a) were undone" }, NULL },
	{ "58-zfs-arm64-64k-multinode-partial", 0, 1, 4, 3, { { 0 } }, 0, -1, NULL, "", { NULL },
	  "3 zones without a free list" },
	{ "60-centos9-stream-5.14-zoneinfo-boost.buddyinfo+"
	  "60-centos9-stream-5.14-zoneinfo-boost.pagetypeinfo+"
	  "60-centos9-stream-5.14-zoneinfo-boost.zoneinfo", 0, 1, 4, 5,
	  { { 0, "DMA", "0 0 0 0 0 1 1 1 0 1 3", 15232 },
	    { 0, "DMA32", "5372 2099 821 419 112 156 78 52 38 21 4", 236856 } },
	  0, -1, NULL, "", { NULL }, NULL },
};
/* clang-format on */

static void sample_read(const struct sample *s, struct memreport_set *set)
{
	cleanup_strbuf struct strbuf text = STRBUF_INIT;
	cleanup_error struct error err = ERROR_INIT;
	cleanup_free char *files = xstrdup(s->files);
	char *rest = files, *name;

	while ((name = strsep(&rest, "+")) != NULL)
		fixture_read_into(&text, name);
	if (parse_exactly(text.data, text.len, set, &err) < 0)
		fail_msg("%s: %s", s->files, err.text);
}

static void check_list(const struct sample *s, const struct memreport *r, const struct want_list *w)
{
	cleanup_strbuf struct strbuf got = STRBUF_INIT;
	const struct memzone *z = NULL;

	for (size_t i = 0; i < r->nzones; i++)
		if (r->zone[i].node == w->node && strcmp(r->zone[i].name, w->zone) == 0)
			z = &r->zone[i];
	if (!z)
		fail_msg("%s: no node %u %s", s->files, w->node, w->zone);
	for (unsigned int k = 0; k < z->orders; k++)
		strbuf_addf(&got, "%s%llu", k ? " " : "", (unsigned long long)z->free[k]);
	if (!got.data || strcmp(got.data, w->free) != 0)
		fail_msg("%s: node %u %s: \"%s\"", s->files, w->node, w->zone, got.data);
	assert_int_equal(fixture_list_kb(r, z), w->kb);
}

/* Each whole list adds up to what it says. */
static void check_sums(const struct sample *s, const struct memreport *r)
{
	for (size_t i = 0; i < r->nzones; i++) {
		const struct memzone *z = &r->zone[i];

		if (z->have >> MEMZONE_LISTED & 1)
			assert_int_equal(z->value[MEMZONE_LISTED], fixture_list_kb(r, z));
	}
}

static void check_event(const struct sample *s, const struct memreport *r)
{
	const struct gfp *g = &r->event.gfp;
	cleanup_free char *gfp = NULL;

	assert_int_equal(r->event.kind, s->kind);
	assert_int_equal(r->event.have_order ? (int)r->event.order : -1, s->order);
	assert_string_equal(r->release, s->release);
	assert_int_equal(r->event.have_gfp, s->gfp != NULL);
	if (!s->gfp)
		return;
	gfp = str_printf("%s %s %s", memtype_name(g->type),
			 g->atomic	   ? "atomic" :
			 g->direct_reclaim ? "direct" :
					     "-",
			 g->zone);
	assert_string_equal(gfp, s->gfp);
}

static void check_error(const struct sample *s, const struct memreport *r)
{
	cleanup_error struct error err = ERROR_INIT;
	int ret = memreport_need_lists("x", r, &err);

	assert_int_equal(ret, s->error ? -1 : 0);
	if (!s->error)
		return;
	assert_int_equal(err.status, 2);
	if (!strstr(err.text, s->error))
		fail_msg("%s: %s", s->files, err.text);
}

static void check_sample(const struct sample *s)
{
	struct memreport_set set;
	const struct memreport *r;

	sample_read(s, &set);
	if (set.n != s->reports)
		fail_msg("%s: %zu reports", s->files, set.n);
	r = &set.report[s->nth ? s->nth - 1 : set.best];
	if (r->page_kb != s->page_kb || r->nzones != s->zones)
		fail_msg("%s: pages of %u kB, %zu zones", s->files, r->page_kb, r->nzones);
	for (size_t i = 0; i < 4 && s->list[i].zone; i++)
		check_list(s, r, &s->list[i]);
	check_sums(s, r);
	check_event(s, r);
	for (size_t i = 0; i < 3 && s->remark[i]; i++)
		if (!has_remark(&set, r, s->remark[i]))
			fail_msg("%s: not remarked: %s", s->files, s->remark[i]);
	if (has_remark(&set, r, "adds up to"))
		fail_msg("%s: a wrong sum", s->files);
	check_error(s, r);
	memreport_set_free(&set);
}

static void test_samples(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++)
		check_sample(&samples[i]);
}

/* Numbers besides the lists: node, zone, field, kB as the text has it (pages of 4 kB where it is). */
static const struct {
	const char *file;
	size_t nth;
	unsigned int node;
	const char *zone;
	enum memzone_field field;
	uint64_t kb;
} fields[] = {
	{ "02-arm-pos-2.6.16.zoneinfo", 1, 0, "DMA", MEMZONE_PRESENT, 8192 * 4 },
	{ "04-ia64-2.6.26-64k-order16-oom", 1, 3, "Normal", MEMZONE_MIN, 5888 },
	{ "14-openwrt-ath79-80col-truncated", 1, 0, "Normal", MEMZONE_HIGH, 1476 },
	{ "16-zynq-4.4-cma-highatomic.zoneinfo", 1, 0, "Normal", MEMZONE_FREE_CMA, 4028 * 4 },
	{ "20-rpi-armv7-4.14-terminal-wrapped", 1, 0, "Normal", MEMZONE_HIGH, 24576 },
	{ "20-rpi-armv7-4.14-terminal-wrapped", 1, 0, "Normal", MEMZONE_MANAGED, 949448 },
	{ "22-rhel8-4.18-hyperv-balloon-oom", 1, 0, "Normal", MEMZONE_MIN, 51248 },
	{ "28-cephfs-client-vm-5.4-wrapped", 1, 0, "DMA32", MEMZONE_PRESENT, 3653608 },
	{ "36-hns3-arm64-5.10-4node-quoted-printable", 1, 0, "DMA", MEMZONE_FREE_CMA, 3620 },
	{ "38-ppc64le-64k-5.10-vmalloc-fail", 1, 0, "Normal", MEMZONE_MANAGED, 8297472 },
	{ "44-vm-4node-5.19rc-sysrq-m-wrapped", 1, 0, "DMA", MEMZONE_FREE_CMA, 0 },
	{ "44-vm-4node-5.19rc-sysrq-m-wrapped", 1, 3, "Normal", MEMZONE_MANAGED, 956600 },
	{ "54-powermac-ppc32-6.8-zswap-order0", 1, 0, "DMA", MEMZONE_BOOST, 4096 },
	{ "58-zfs-arm64-64k-multinode-partial", 1, 4, "Normal", MEMZONE_MANAGED, 16760448 },
	{ "60-centos9-stream-5.14-zoneinfo-boost.zoneinfo", 1, 0, "DMA32", MEMZONE_HIGH,
	  12668 * 4 },
};

static void test_fields(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		struct sample s = { .files = fields[i].file };
		struct memreport_set set;
		const struct memreport *r;
		bool found = false;

		sample_read(&s, &set);
		r = &set.report[fields[i].nth - 1];
		for (size_t j = 0; j < r->nzones; j++) {
			const struct memzone *z = &r->zone[j];

			if (z->node != fields[i].node || strcmp(z->name, fields[i].zone) != 0)
				continue;
			found = z->have >> fields[i].field & 1;
			assert_int_equal(z->value[fields[i].field] * r->page_kb, fields[i].kb);
		}
		if (!found)
			fail_msg("%s: no %s", s.files, memzone_field_name(fields[i].field));
		memreport_set_free(&set);
	}
}

/* What the terminal cut from a line is not there, and not a part of it either. */
static void test_cut_fields_are_absent(void **state)
{
	struct sample s = { .files = "42-imx6ul-5.16-isolate-flag-truncated" };
	struct memreport_set set;

	sample_read(&s, &set); /* "present:524B" */
	assert_false(set.report[0].zone[0].have >> MEMZONE_PRESENT & 1);
	assert_true(set.report[0].zone[0].have >> MEMZONE_MIN & 1);
	memreport_set_free(&set);
}

static void test_totals(void **state)
{
	struct sample s = { .files = "50-am62x-6.6rt-cifs-oom-cma" };
	struct memreport_set set;
	const struct memreport *r;

	sample_read(&s, &set);
	r = &set.report[0];
	assert_int_equal(r->total[MEMTOTAL_FREE], 50574);
	assert_int_equal(r->total[MEMTOTAL_FREE_CMA], 22870);
	assert_int_equal(r->total[MEMTOTAL_RAM], 524288);
	assert_int_equal(r->total[MEMTOTAL_RESERVED], 45277);
	assert_int_equal(r->total[MEMTOTAL_CMA], 32768);
	assert_false(r->have_total >> MEMTOTAL_MEMINFO_KB & 1);
	memreport_set_free(&set);
	s.files = "40-xfs-vm-5.13-meminfo-vmstat";
	sample_read(&s, &set);
	assert_int_equal(set.report[0].total[MEMTOTAL_MEMINFO_KB], 3996092);
	assert_int_equal(set.report[0].total[MEMTOTAL_VMSTAT_FREE], 10607);
	memreport_set_free(&set);
}

static void test_letters_and_pageblocks(void **state)
{
	struct sample s = { .files = "42-imx6ul-5.16-isolate-flag-truncated" };
	struct memreport_set set;
	const struct memzone *z;

	sample_read(&s, &set); /* "5*8kB (UEI)" */
	assert_int_equal(set.report[0].zone[0].types[1],
			 1 << MEMTYPE_UNMOVABLE | 1 << MEMTYPE_RECLAIMABLE | 1 << MEMTYPE_ISOLATE);
	memreport_set_free(&set);
	s.files = "24-webhost-pagetypeinfo-wrapped";
	sample_read(&s, &set);
	z = &set.report[0].zone[2];
	assert_string_equal(z->name, "Normal");
	assert_int_equal(z->blocks[MEMTYPE_UNMOVABLE], 3411);
	assert_int_equal(z->blocks[MEMTYPE_MOVABLE], 27125);
	assert_int_equal(z->blocks[MEMTYPE_RECLAIMABLE], 1207);
	assert_int_equal(z->blocks[MEMTYPE_HIGHATOMIC], 1);
	assert_int_equal(z->by_type[MEMTYPE_RECLAIMABLE][3], 3721);
	assert_int_equal(set.report[0].pageblock_order, 9);
	memreport_set_free(&set);
	s.files = "16-zynq-4.4-cma-highatomic.pagetypeinfo";
	sample_read(&s, &set);
	assert_int_equal(set.report[0].pageblock_order, 10);
	assert_int_equal(set.report[0].zone[0].by_type[MEMTYPE_CMA][10], 3);
	memreport_set_free(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_cut_fields_are_absent),
		cmocka_unit_test(test_totals),
		cmocka_unit_test(test_letters_and_pageblocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
