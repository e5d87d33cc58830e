# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2016,SC2034,SC2154 # dollars of jq; names of the other files
#
# Part of ci/e2e.sh: the workload alloc-order. Its counts are held against what the kernel counts
# itself in vmstat and shows in buddyinfo.

alloc_tests=(alloc_plain alloc_plain_old alloc_pinned alloc_pinned_old alloc_hugetlb alloc_give_back
	alloc_impossible alloc_bad)

# asking KERNEL STATUS PARAMETERS [LAYOUT-LINE]...: one run for each order of $ORDERS.
asking()
{
	{
		echo "name: asking"
		echo "vm: {memory: 512M, cpus: 2}"
		echo "vary: {k: [$ORDERS]}"
		[ $# -eq 3 ] || printf '%s\n' "layout:" "${@:4}" "tolerance: 20%"
		echo "workload: {alloc-order: {order: k, $3}}"
	} >"$T/asking.yaml"
	rm -rf "$MMRIG_RESULTS"
	expect "$2" run "$T/asking.yaml" --runs 1 --kernel "$1" --accel "$ACCEL" --json
	[ "$2" -ne 0 ] || holds "$T/out" 'all(.cells[].runs[]; .verdict == "ok")'
}

# of_run RUN JQ-EXPRESSION: of its run.json.
of_run()
{
	jq -e "$2" "$(run_folder "$1")/run.json" || die "run $1 has no $2"
}

# vmstat_delta RUN KEY: over the workload.
vmstat_delta()
{
	raw_delta "$(run_folder "$1")" "$2"
}

# free_of RUN EDGE ORDER: free blocks of this order, as parts of larger ones too.
free_of()
{
	samples "$(run_folder "$1")/samples.zst" workload "$2" buddyinfo | awk -v order="$3" '
		{ for (k = order; k <= 10; k++) n += $(5 + k) * 2 ^ (k - order) }
		END { print n + 0 }'
}

# What every run must keep to.
check_counts()
{
	holds "$(run_folder "$1")/run.json" '(.workload.histogram | map(.[2]) | add // 0) as $met |
		(.workload.histogram_missed | map(.[2]) | add // 0) as $missed | .metrics |
		.alloc_attempts == $n and .alloc_success + .alloc_fallback + .alloc_fail == $n and
		.alloc_success == $met and .alloc_fallback + .alloc_fail == $missed and
		(.alloc_success_share - 100 * .alloc_success / $n | fabs) < 0.001 and
		has("alloc_max") == ($met > 0) and has("alloc_missed_max") == ($missed > 0)' \
		--argjson n "$2"
	holds "$(run_folder "$1")/run.json" '.no_effect == null and .workload.via == $via and
		(.workload.method | length > 10)' --arg via "$3"
}

# all_met RUN ATTEMPTS VIA
all_met()
{
	check_counts "$1" "$2" "$3"
	[ "$(of_run "$1" .metrics.alloc_success)" -eq "$2" ] || die "run $1: not all were met"
}

# pcp_of RUN EDGE: pages on the per-CPU lists, which the kernel gives back when a CPU has been idle for
# some seconds.
pcp_of()
{
	samples "$(run_folder "$1")/samples.zst" workload "$2" zoneinfo |
		awk '$1 == "count:" { n += $2 } END { print n + 0 }'
}

# took_blocks RUN ORDER BLOCKS: so many free blocks of this order are gone, give or take a few that
# other work takes or breaks up. Small ones come from and go to the per-CPU lists as well.
took_blocks()
{
	local gone=$(($(free_of "$1" begin "$2") - $(free_of "$1" end "$2")))
	[ "$2" -gt 3 ] || gone=$((gone + ($(pcp_of "$1" begin) - $(pcp_of "$1" end)) / (1 << $2)))
	within "$gone" "$3" $(($3 / 10 + 2)) ||
		die "run $1: $gone free blocks of order $2 are gone, not $3"
}

plain_memory()
{
	local n
	ORDERS="2, 9"
	asking "$1" 0 "count: 60"
	all_met 0001 60 packet
	all_met 0002 60 pipe
	took_blocks 0002 9 60
	# The kernel counts what kmalloc() gets in whole pages among the slabs.
	n=$(vmstat_delta 0002 nr_slab_unreclaimable)
	within "$n" $((60 * 512)) 300 || die "slabs grew by $n pages"

	asking "$1" 0 "count: 60, kind: movable"
	all_met 0001 60 thp
	all_met 0002 60 thp
	took_blocks 0002 9 60
	n=$(vmstat_delta 0002 thp_fault_alloc)
	[ "$n" -eq 60 ] || die "the kernel counts $n huge pages, not 60"
	[ "$(of_run 0001 .metrics.mthp_16kB_anon_fault_alloc)" -eq 60 ] || die "order 2 is not counted"

	# Order 2 in an amount that shows: 32 MiB.
	ORDERS=2
	asking "$1" 0 "count: 2048"
	all_met 0001 2048 packet
	took_blocks 0001 2 2048
}

test_alloc_plain()
{
	plain_memory "$KERNEL"
}

test_alloc_plain_old()
{
	plain_memory "$OLD_KERNEL"
}

# pinned KERNEL PARAMETERS: one page in eight is free, and no block can be emptied but for the few
# that the kernel's own pages left unfilled.
pinned()
{
	asking "$1" 0 "$2" "  - fill: {kind: anon, leave: {blocks: 12}}" "  - pin: {per: pageblock}" \
		"  - free: {where: pfn % 8 == 4}"
}

# few_met RUN ATTEMPTS VIA: what was met came from whole blocks that were free, or from the few that
# hold only what can be reclaimed.
few_met()
{
	local met whole
	check_counts "$1" "$2" "$3"
	met=$(of_run "$1" .metrics.alloc_success)
	whole=$(free_of "$1" begin 9)
	if [ "$met" -lt 3 ] || [ "$met" -gt $((whole + 12)) ] || [ "$met" -gt $(($2 / 3)) ]; then
		die "run $1: $met of $2 were met, with $whole whole blocks"
	fi
}

little_memory()
{
	local met n
	ORDERS="2, 9"
	pinned "$1" "count: 100"
	# Compaction can make blocks of order 2 out of single pages.
	check_counts 0001 100 packet
	met=$(of_run 0001 .metrics.alloc_success)
	[ "$met" -ge 80 ] || die "order 2: $met of 100 were met"
	few_met 0002 100 pipe
	[ "$(of_run 0002 .metrics.alloc_fallback)" -eq 0 ] || die "a pipe fell back"
	met=$(of_run 0002 .metrics.alloc_success)
	n=$(vmstat_delta 0002 nr_slab_unreclaimable)
	within "$n" $((met * 512)) 600 || die "slabs grew by $n pages for $met blocks of 512"
	[ "$(vmstat_delta 0002 'allocstall_*')" -gt 0 ] || die "nothing was reclaimed for order 9"

	ORDERS=9
	pinned "$1" "count: 100, kind: movable"
	few_met 0001 100 thp
	holds "$(run_folder 0001)/run.json" '.metrics | .thp_fault_alloc == .alloc_success and
		.thp_fault_fallback == .alloc_fallback and .compact_stall > 0'
	pinned "$1" "count: 100, via: packet"
	few_met 0001 100 packet
	[ "$(of_run 0001 .metrics.alloc_fallback)" -ge 60 ] || die "vmalloc() is taken for a block"
}

test_alloc_pinned()
{
	little_memory "$KERNEL"
}

test_alloc_pinned_old()
{
	little_memory "$OLD_KERNEL"
}

test_alloc_hugetlb()
{
	ORDERS=9
	pinned "$KERNEL" "count: 100, kind: movable, via: hugetlb"
	few_met 0001 100 hugetlb
	holds "$(run_folder 0001)/run.json" '.metrics | .htlb_buddy_alloc_success == .alloc_success and
		.htlb_buddy_alloc_fail == .alloc_fail'
}

# More than memory holds, one after another: each is met only if the last was given back.
test_alloc_give_back()
{
	local way met
	ORDERS=9
	for way in "via: pipe" "via: packet" "kind: movable" "kind: movable, via: hugetlb"; do
		asking "$KERNEL" 0 "count: 300, hold: false, $way"
		met=$(of_run 0001 .metrics.alloc_success)
		[ "$met" -eq 300 ] || die "$way: $met of 300 were met"
		within "$(free_of 0001 end 9)" "$(free_of 0001 begin 9)" 4 || die "$way: not given back"
	done
	ORDERS=0
	asking "$KERNEL" 0 "count: 100000, hold: false, via: pipe"
	met=$(of_run 0001 .metrics.alloc_success)
	[ "$met" -eq 100000 ] || die "order 0: $met were met"
	[ "$(vmstat_delta 0001 'pgalloc_*')" -ge 100000 ] || die "a pipe's page was used twice"
}

test_alloc_impossible()
{
	local text
	for text in "1|count: 5, kind: movable|thp makes no requests of order 1" \
		"1|count: 5, via: pipe|pipe makes no requests of order 1" \
		"0|count: 20001|packet holds 20000 blocks at the most" \
		"9|count: 5, via: thp|thp makes movable requests" \
		"4|count: 5, kind: movable, via: hugetlb|hugetlb makes no requests of order 4"; do
		ORDERS=${text%%|*}
		text=${text#*|}
		asking "$KERNEL" 4 "${text%|*}"
		holds "$T/out" '.cells[0].runs[0] | .verdict == "unsupported" and
			(.why | contains($what))' --arg what "${text#*|}"
	done
}

test_alloc_bad()
{
	ORDERS=11
	asking "$KERNEL" 2 "count: 5"
	err_has "order"
	ORDERS=2
	asking "$KERNEL" 2 "count: 0"
	err_has "count"
	asking "$KERNEL" 2 "count: 5, via: msgsnd"
	err_has "auto"
	asking "$KERNEL" 2 "count: 5, kind: atomic"
	err_has "unmovable"
	no_start
}
