# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2016,SC2034,SC2154 # dollars of jq; names of the other files
#
# Part of ci/e2e.sh: thpscale. What it says of its faults is held against what the kernel counts.

thpscale_tests=(thpscale thpscale_old thpscale_table thpscale_mthp thpscale_nodes thpscale_layout thpscale_partial
	thpscale_bad)

# scaling KERNEL STATUS PARAMETERS [LINE]...: one run; the lines are those of the scenario.
scaling()
{
	{
		echo "name: faulting"
		printf '%s\n' "${@:4}"
		echo "workload: {thpscale: {$3}}"
	} >"$T/faulting.yaml"
	rm -rf "$MMRIG_RESULTS"
	expect "$2" run "$T/faulting.yaml" --runs 1 --kernel "$1" --accel "$ACCEL" --json
}

SMALL_VM="vm: {memory: 512M, cpus: 2}"

# Every fault is one of ours, since nothing else of the guest may have huge pages.
check_faults()
{
	holds "$(run_folder 0001)/run.json" '.verdict == "ok" and .no_effect == null and
		(.workload | has("partial") | not) and
		([.workload | to_entries[] | select(.key | startswith("threads_")) |
			{n: (.key[8:] | tonumber), f: .value.faults}]) as $rounds |
		(($rounds | map(.n)) == $counts) and .metrics as $m | .workload.map_bytes as $map |
		($rounds | all(
			.n as $n | .f as $f | ($f | add) as $all |
			$all == $n * (($map / $n / 2097152 | floor) / 2 | floor) and $f.unseen == 0 and
			($m["huge_share_\($n)"] - 100 * $f.huge / $all | fabs) < 0.001 and
			($m["mthp_share_\($n)"] - 100 * $f.mthp / $all | fabs) < 0.001 and
			($m | has("fault_base_\($n)")) == ($f.base > 0) and
			($m | has("fault_huge_\($n)")) == ($f.huge > 0) and
			($m | has("fault_mthp_\($n)")) == ($f.mthp > 0) and
			$m["fault_first_both_\($n)"] < $m["fault_both_\($n)"])) and
		($rounds | map(.f.huge) | add) == $m.thp_fault_alloc and
		($rounds | map(.f.base + .f.mthp) | add) == $m.thp_fault_fallback and
		(.workload.histogram | map(.[2]) | add) == ($rounds | map(.f | add) | add)' \
		--argjson counts "$1"
	# Each round reads its file anew.
	[ "$(vmstat_delta 0001 drop_pagecache)" -eq "$(jq -n "$1 | length")" ] || die "caches were not dropped"
}

threads_of_kernel()
{
	scaling "$1" 0 "max_threads: 3" "$SMALL_VM"
	check_faults "[1, 3]"
	holds "$(run_folder 0001)/run.json" '.metrics | .huge_share_1 > 20 and .compact_stall > 0 and
		.mthp_share_1 == 0 and (has("local_share_huge_1") | not)'
}

test_thpscale()
{
	threads_of_kernel "$KERNEL"
}

test_thpscale_old()
{
	threads_of_kernel "$OLD_KERNEL"
}

# The tables of the post.
test_thpscale_table()
{
	printf '%s\n' "name: faulting" "$SMALL_VM" "workload: {thpscale: {max_threads: 3}}" >"$T/faulting.yaml"
	expect 0 run "$T/faulting.yaml" --runs 1 --kernel "$KERNEL" --kernel "$OLD_KERNEL" --accel "$ACCEL"
	expect 0 compare last --format thpscale
	out_has "Amean     fault-both-1"
	out_has "Amean     fault-both-3"
	out_has "Percentage huge-3"
	out_has "Compaction free scanned"
}

# Sizes between: none of them may be taken for a base page or a huge page.
test_thpscale_mthp()
{
	scaling "$KERNEL" 0 "max_threads: 7, min_threads: 3, mthp: true" "$SMALL_VM"
	check_faults "[3, 5, 7]"
	holds "$(run_folder 0001)/run.json" '.metrics as $m |
		([.workload | to_entries[] | select(.key | startswith("threads_")) | .value.faults.mthp] | add) as $mthp |
		$mthp > 0 and $mthp <= ([$m | to_entries[] |
			select(.key | test("^mthp_(8|16|32|64|128|256|512|1024)kB_anon_fault_alloc$")) | .value] | add)'
}

test_thpscale_nodes()
{
	scaling "$KERNEL" 0 "max_threads: 2, min_threads: 2" \
		"vm: {memory: 640M, cpus: 2, numa: [{size: 320M, cpus: 1}, {size: 320M, cpus: 1}]}"
	holds "$(run_folder 0001)/run.json" '.metrics | .local_share_huge_2 > 0 and .local_share_huge_2 <= 100'
}

# No block can be emptied, and its free pages are no huge page.
test_thpscale_layout()
{
	scaling "$KERNEL" 0 "max_threads: 3" "$SMALL_VM" "layout: boundary" "tolerance: 20%"
	holds "$(run_folder 0001)/run.json" '.metrics | .huge_share_1 < 50 and .compact_migrate_scanned > 0'
	[ "$(of_run 0001 .workload.map_bytes)" -lt $((200 << 20)) ] || die "more than the layout left"
}

# Each thread maps 4 MiB more than its share, and the more threads the sooner that is too much.
test_thpscale_partial()
{
	scaling "$KERNEL" 1 "max_threads: 32, map: 128M" "$SMALL_VM" \
		"sysctl: {workload: {vm.overcommit_memory: 2, vm.overcommit_kbytes: 235520}}"
	holds "$(run_folder 0001)/run.json" '.verdict == "workload-failed" and
		(.why | test("threads: cannot map anonymous memory: Cannot allocate memory")) and
		.workload.partial == true and .metrics.fault_both_1 > 0 and .workload.metrics.fault_both_1 > 0 and
		.workload.threads_1.faults.huge > 0 and (.metrics | has("time") | not) and
		(.metrics | has("fault_both_32") | not)'
}

test_thpscale_bad()
{
	scaling "$KERNEL" 2 "map: memory + 1" "$SMALL_VM"
	err_has "faulting.yaml:3:"
	err_has "map is 536870913, and the guest has 512M"
	scaling "$KERNEL" 2 "map: 64M, max_threads: 32" "$SMALL_VM"
	err_has "32 threads need 4M each, and map is 64M"
	scaling "$KERNEL" 2 "max_threads: 33" "$SMALL_VM"
	err_has "max_threads"
	scaling "$KERNEL" 2 "max_threads: 3, min_threads: 5" "$SMALL_VM"
	err_has "min_threads is 5, and max_threads 3"
	scaling "$KERNEL" 2 "fill: slab" "$SMALL_VM"
	err_has "base"
	no_start
	scaling "$KERNEL" 1 "max_threads: 32" "$SMALL_VM" "layout: [{fill: {kind: anon, leave: 64M}}]"
	holds "$(run_folder 0001)/run.json" '.verdict == "workload-failed" and
		(.why | contains("32 threads need 128 MiB"))'
}
