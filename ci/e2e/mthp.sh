# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2016,SC2034,SC2154 # dollars of jq; names of the other files
#
# Part of ci/e2e.sh: the workload mthp-fault. Its classification by pagemap is held against what the
# kernel counts of each size.

mthp_tests=(mthp_fault mthp_fault_old mthp_fault_one_size mthp_fault_bad)

# faulting KERNEL STATUS PARAMETERS [LAYOUT-LINE]...
faulting()
{
	{
		echo "name: faulting"
		echo "vm: {memory: 512M, cpus: 2}"
		[ $# -eq 3 ] || printf '%s\n' "layout:" "${@:4}" "tolerance: 20%"
		echo "workload: {mthp-fault: {$3}}"
		echo "table: {style: sizes}"
	} >"$T/faulting.yaml"
	rm -rf "$MMRIG_RESULTS"
	expect "$2" run "$T/faulting.yaml" --runs 1 --kernel "$1" --accel "$ACCEL"
}

# as_counted KERNEL-COUNTS...: for each size, what pagemap shows is what the kernel counts.
as_counted()
{
	holds "$(run_folder 0001)/run.json" '.verdict == "ok" and .no_effect == null and (.metrics as $m |
		all(.workload.sizes[]; "\(.size_kb)kB" as $s |
			$m["fault_\($s)_attempts"] == .met + .base_pages and
			($m["fault_\($s)_share"] - 100 * .met / (.met + .base_pages) | fabs) < 0.001 and
			($m | has("fault_\($s)_median")) == (.met > 0) and
			($m | has("fault_\($s)_missed_median")) == (.base_pages > 0) and
			$m["mthp_\($s)_anon_fault_alloc"] == .met and
			$m["mthp_\($s)_anon_fault_fallback"] == .base_pages))'
}

# On memory that nothing has broken up all is met; where one page in eight is free, 2048 kB is not.
faults_of_all_sizes()
{
	local base
	faulting "$1" 0 "count: 20, most: 40M"
	as_counted
	holds "$(run_folder 0001)/run.json" '[.workload.sizes[].size_kb] ==
		[16, 32, 64, 128, 256, 512, 1024, 2048] and all(.workload.sizes[]; .met == 20)'
	[ "$(grep -cE '^ +[0-9]+ kB +20 +100 ' "$T/out")" -eq 8 ] || die "no table of 8 sizes"

	faulting "$1" 0 "count: 1000, most: 32M" "  - fill: {kind: anon, leave: {blocks: 8}}" \
		"  - pin: {per: pageblock}" "  - free: {where: pfn % 8 == 0}"
	as_counted
	base=$(jq '.workload.sizes[-1].base_pages' "$(run_folder 0001)/run.json")
	[ "$base" -ge 2 ] || die "$base of 16 faults of 2048 kB fell back"
	holds "$(run_folder 0001)/run.json" '.workload.sizes[0] | .met + .base_pages == 1000'
}

test_mthp_fault()
{
	faults_of_all_sizes "$KERNEL"
}

test_mthp_fault_old()
{
	faults_of_all_sizes "$OLD_KERNEL"
}

test_mthp_fault_one_size()
{
	faulting "$KERNEL" 0 "count: 50, from: 64K, to: 64K"
	as_counted
	holds "$(run_folder 0001)/run.json" '[.workload.sizes[].size_kb] == [64] and
		.metrics.mthp_32kB_anon_fault_alloc == 0'
}

test_mthp_fault_bad()
{
	faulting "$KERNEL" 2 "count: 5, most: 512M"
	err_has "most is 512M, and the guest has 512M"
	faulting "$KERNEL" 2 "count: 5, from: 24K"
	err_has "huge pages are of 16K"
	faulting "$KERNEL" 2 "count: 5, from: 64K, to: 32K"
	err_has "and to only 32K"
	no_start
}
