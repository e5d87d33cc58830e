// SPDX-License-Identifier: GPL-2.0-only
/*
 * The catalogue itself. Steps in the kernel's history that it encodes: reclaim by kswapd and direct
 * split (3.5), migration counters renamed (3.8), thp_split (4.5), allocstall per zone and reclaim
 * no longer per zone (4.8), refaults by anon and file (5.9), khugepaged (6.2) and proactive (6.15)
 * taken out of direct.
 */
#include "results/counter.h"

#define FROM(...) (const char *const[]){ __VA_ARGS__, NULL }
#define FROM_ZONES(p) p "_dma", p "_dma32", p "_normal", p "_high", p "_movable"
/* A count that is read from its sources; one that has the name of its only source; a level. */
#define SUM(name, title, unit, better, ...) { name, title, unit, better, false, FROM(__VA_ARGS__) }
#define OWN(name, title, unit, better) SUM(name, title, unit, better, name)
#define LEVEL(name, title, better) { name, title, "pages", better, true, FROM(name) }
/* Not from vmstat: the workload's, a phase's, or buddyinfo's. */
#define OTHER(name, title, unit, better, level) \
	{ name, title, unit, better, level, (const char *const[]){ NULL } }

#define LOWER BETTER_LOWER
#define HIGHER BETTER_HIGHER
#define NEITHER BETTER_NEITHER

const struct counter counter_table[] = {
	SUM("allocstall", "Allocation stalls", "events", LOWER, "allocstall", "allocstall_*"),
	OTHER("time", "Time of the workload", "s", LOWER, false),
	OTHER("create_median", "File creation, median", "ns", LOWER, false),
	OTHER("create_p99", "File creation, 99th percentile", "ns", LOWER, false),
	OTHER("create_p999", "File creation, 99.9th percentile", "ns", LOWER, false),
	OTHER("create_max", "File creation, longest", "ns", LOWER, false),
	OTHER("files", "Files created", "files", HIGHER, false),
	OTHER("boot", "Boot, exec to hello", "s", LOWER, false),
	OTHER("sampling", "Sampling within the workload", "s", LOWER, false),
	OTHER("layout", "Building the layout", "s", LOWER, false),

	OWN("compact_stall", "Compaction stalls", "events", LOWER),
	OWN("compact_success", "Compaction success", "events", HIGHER),
	OWN("compact_fail", "Compaction failures", "events", LOWER),
	OWN("compact_migrate_scanned", "Compaction migrate scanned", "pages", LOWER),
	OWN("compact_free_scanned", "Compaction free scanned", "pages", LOWER),
	OWN("compact_isolated", "Compaction pages isolated", "pages", LOWER),
	OWN("compact_blocks_moved", "Compaction blocks moved", "blocks", NEITHER),
	OWN("compact_daemon_wake", "Kcompactd wakes", "events", LOWER),
	OWN("compact_daemon_migrate_scanned", "Kcompactd migrate scanned", "pages", LOWER),
	OWN("compact_daemon_free_scanned", "Kcompactd free scanned", "pages", NEITHER),
	SUM("pgmigrate_success", "Page migrate success", "pages", NEITHER, "pgmigrate_success",
	    "compact_pages_moved"),
	SUM("pgmigrate_fail", "Page migrate failure", "pages", LOWER, "pgmigrate_fail",
	    "compact_pagemigrate_failed"),

	OTHER("free_pages_order0", "Free single pages", "pages", LOWER, true),
	OTHER("free_order0_DMA", "Free single pages, DMA", "pages", LOWER, true),
	OTHER("free_order0_DMA32", "Free single pages, DMA32", "pages", LOWER, true),
	OTHER("free_order0_Normal", "Free single pages, Normal", "pages", LOWER, true),
	OTHER("free_order0_HighMem", "Free single pages, HighMem", "pages", LOWER, true),
	OTHER("free_order0_Movable", "Free single pages, Movable", "pages", LOWER, true),
	OTHER("free_order0_Device", "Free single pages, Device", "pages", LOWER, true),
	LEVEL("nr_free_pages", "Free pages", NEITHER),
	LEVEL("nr_free_pages_blocks", "Free pages in whole blocks", HIGHER),

	SUM("pgscan_kswapd", "Kswapd pages scanned", "pages", LOWER, "pgscan_kswapd",
	    FROM_ZONES("pgscan_kswapd")),
	SUM("pgscan_direct", "Direct pages scanned", "pages", LOWER, "pgscan_direct",
	    FROM_ZONES("pgscan_direct")),
	OWN("pgscan_khugepaged", "Khugepaged pages scanned", "pages", LOWER),
	OWN("pgscan_proactive", "Proactive pages scanned", "pages", NEITHER),
	/* The one to compare across 6.2 and 6.15: what older kernels called direct. */
	SUM("pgscan_not_kswapd", "Pages scanned, all but kswapd", "pages", LOWER, "pgscan_direct",
	    FROM_ZONES("pgscan_direct"), "pgscan_khugepaged", "pgscan_proactive"),
	OWN("pgscan_anon", "Anon pages scanned", "pages", LOWER),
	OWN("pgscan_file", "File pages scanned", "pages", LOWER),
	OWN("pgscan_direct_throttle", "Direct reclaim throttled", "events", LOWER),
	/* Before 3.5 pgsteal_ZONE held both, and kswapd_steal kswapd's part of it. */
	SUM("pgsteal_kswapd", "Kswapd pages reclaimed", "pages", NEITHER, "pgsteal_kswapd",
	    FROM_ZONES("pgsteal_kswapd"), "kswapd_steal"),
	SUM("pgsteal_direct", "Direct pages reclaimed", "pages", LOWER, "pgsteal_direct",
	    FROM_ZONES("pgsteal_direct"), FROM_ZONES("pgsteal"), "-kswapd_steal"),
	OWN("pgsteal_khugepaged", "Khugepaged pages reclaimed", "pages", LOWER),
	OWN("pgsteal_proactive", "Proactive pages reclaimed", "pages", NEITHER),
	SUM("pgsteal_not_kswapd", "Pages reclaimed, all but kswapd", "pages", LOWER,
	    "pgsteal_direct", FROM_ZONES("pgsteal_direct"), FROM_ZONES("pgsteal"), "-kswapd_steal",
	    "pgsteal_khugepaged", "pgsteal_proactive"),
	OWN("pgsteal_anon", "Anon pages reclaimed", "pages", NEITHER),
	OWN("pgsteal_file", "File pages reclaimed", "pages", NEITHER),
	SUM("pgrefill", "Pages deactivated by scanning", "pages", NEITHER, "pgrefill",
	    FROM_ZONES("pgrefill")),
	SUM("pgskip", "Pages skipped, zone too high", "pages", LOWER, "pgskip_*"),
	OWN("pageoutrun", "Kswapd balance runs", "events", NEITHER),
	OWN("kswapd_low_wmark_hit_quickly", "Kswapd low watermark hit quickly", "events", LOWER),
	OWN("kswapd_high_wmark_hit_quickly", "Kswapd high watermark hit quickly", "events", LOWER),
	OWN("kswapd_skip_congestion_wait", "Kswapd skipped wait", "events", NEITHER),
	OWN("slabs_scanned", "Slabs scanned", "objects", NEITHER),
	OWN("pginodesteal", "Direct inode steals", "pages", LOWER),
	OWN("kswapd_inodesteal", "Kswapd inode steals", "pages", NEITHER),
	OWN("nr_vmscan_write", "Page writes by reclaim", "pages", LOWER),
	OWN("nr_vmscan_immediate_reclaim", "Page reclaim immediate", "pages", LOWER),
	OWN("pgrescued", "Page rescued immediate", "pages", NEITHER),
	OWN("pgdemote_kswapd", "Pages demoted by kswapd", "pages", NEITHER),
	OWN("pgdemote_direct", "Pages demoted directly", "pages", NEITHER),
	OWN("pgdemote_khugepaged", "Pages demoted by khugepaged", "pages", NEITHER),
	OWN("pgdemote_proactive", "Pages demoted proactively", "pages", NEITHER),
	OWN("oom_kill", "OOM kills", "events", LOWER),

	SUM("workingset_refault", "Refaults", "pages", LOWER, "workingset_refault",
	    "workingset_refault_anon", "workingset_refault_file"),
	OWN("workingset_refault_anon", "Refaults, anon", "pages", LOWER),
	OWN("workingset_refault_file", "Refaults, file", "pages", LOWER),
	SUM("workingset_activate", "Refaults activated", "pages", LOWER, "workingset_activate",
	    "workingset_activate_anon", "workingset_activate_file"),
	SUM("workingset_restore", "Refaults of the workingset", "pages", LOWER,
	    "workingset_restore", "workingset_restore_anon", "workingset_restore_file"),
	LEVEL("workingset_nodes", "Shadow nodes", NEITHER),
	OWN("workingset_nodereclaim", "Shadow nodes reclaimed", "events", NEITHER),

	SUM("minor_faults", "Minor faults", "events", LOWER, "pgfault", "-pgmajfault"),
	OWN("pgfault", "Faults", "events", LOWER),
	OWN("pgmajfault", "Major faults", "events", LOWER),
	OWN("pswpin", "Swap ins", "pages", LOWER),
	OWN("pswpout", "Swap outs", "pages", LOWER),
	OWN("pgpgin", "Paged in", "kB", NEITHER),
	OWN("pgpgout", "Paged out", "kB", NEITHER),
	OWN("zswpin", "Zswap ins", "pages", NEITHER),
	OWN("zswpout", "Zswap outs", "pages", NEITHER),
	OWN("zswpwb", "Zswap written back", "pages", LOWER),
	OWN("pgalloc_dma", "DMA allocs", "pages", NEITHER),
	OWN("pgalloc_dma32", "DMA32 allocs", "pages", NEITHER),
	OWN("pgalloc_normal", "Normal allocs", "pages", NEITHER),
	OWN("pgalloc_high", "HighMem allocs", "pages", NEITHER),
	OWN("pgalloc_movable", "Movable allocs", "pages", NEITHER),
	OWN("pgalloc_device", "Device allocs", "pages", NEITHER),
	OWN("pgfree", "Pages freed", "pages", NEITHER),

	OWN("thp_fault_alloc", "THP fault alloc", "events", HIGHER),
	OWN("thp_fault_fallback", "THP fault fallback", "events", LOWER),
	OWN("thp_fault_fallback_charge", "THP fault fallback, charge", "events", LOWER),
	OWN("thp_collapse_alloc", "THP collapse alloc", "events", NEITHER),
	OWN("thp_collapse_alloc_failed", "THP collapse fail", "events", LOWER),
	SUM("thp_split_page", "THP split", "events", LOWER, "thp_split_page", "thp_split"),
	OWN("thp_split_page_failed", "THP split failed", "events", LOWER),
	OWN("thp_split_pmd", "THP split PMD", "events", NEITHER),
	OWN("thp_deferred_split_page", "THP deferred split", "events", NEITHER),
	OWN("thp_underused_split_page", "THP underused split", "events", NEITHER),
	OWN("thp_file_alloc", "THP file alloc", "events", HIGHER),
	OWN("thp_file_fallback", "THP file fallback", "events", LOWER),
	OWN("thp_file_fallback_charge", "THP file fallback, charge", "events", LOWER),
	OWN("thp_file_mapped", "THP file mapped", "events", NEITHER),
	OWN("thp_swpout", "THP swapped out whole", "events", NEITHER),
	OWN("thp_swpout_fallback", "THP swap out fallback", "events", LOWER),
	OWN("thp_migration_success", "THP migration success", "events", HIGHER),
	OWN("thp_migration_fail", "THP migration failure", "events", LOWER),
	OWN("thp_migration_split", "THP migration split", "events", LOWER),

	OWN("numa_hit", "NUMA alloc hit", "pages", NEITHER),
	OWN("numa_miss", "NUMA alloc miss", "pages", LOWER),
	OWN("numa_foreign", "NUMA alloc foreign", "pages", LOWER),
	OWN("numa_interleave", "NUMA interleave hit", "pages", NEITHER),
	OWN("numa_local", "NUMA alloc local", "pages", NEITHER),
	OWN("numa_other", "NUMA alloc other", "pages", LOWER),
	OWN("numa_pte_updates", "NUMA base-page range updates", "events", NEITHER),
	OWN("numa_huge_pte_updates", "NUMA PMD updates", "events", NEITHER),
	OWN("numa_hint_faults", "NUMA hint faults", "events", NEITHER),
	OWN("numa_hint_faults_local", "NUMA hint local faults", "events", NEITHER),
	OWN("numa_pages_migrated", "NUMA pages migrated", "pages", NEITHER),

	OWN("vma_lock_success", "VMA lock success", "events", NEITHER),
	OWN("vma_lock_abort", "VMA lock abort", "events", LOWER),
	OWN("vma_lock_retry", "VMA lock retry", "events", LOWER),
	OWN("vma_lock_miss", "VMA lock miss", "events", LOWER),

	/* Counts in spite of their names. */
	OWN("nr_dirtied", "Pages dirtied", "pages", NEITHER),
	OWN("nr_written", "Pages written", "pages", NEITHER),
	OWN("nr_throttled_written", "Pages written while throttled", "pages", LOWER),
	OWN("nr_foll_pin_acquired", "Pins acquired", "pages", NEITHER),
	OWN("nr_foll_pin_released", "Pins released", "pages", NEITHER),
};
const size_t counter_count = sizeof(counter_table) / sizeof(counter_table[0]);
