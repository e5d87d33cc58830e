# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2016,SC2034,SC2154 # dollars of jq; names of the other files
#
# Part of ci/e2e.sh: the workload thread-stacks. What it was given is held against buddyinfo, and real
# threads against the kernel's own count of their stacks.

stacks_tests=(stacks_met stacks_missed stacks_missed_old stacks_threads stacks_bad)

# stacks KERNEL STATUS PARAMETERS [OPTION]...: on the layout in $LAYOUT, if any.
LAYOUT=
stacks()
{
	{
		echo "name: stacks"
		echo "vm: {memory: 512M, cpus: 2}"
		[ -z "$LAYOUT" ] || printf '%s\n' "layout:" "$LAYOUT" "tolerance: 20%"
		echo "workload: {thread-stacks: {$3}}"
		echo "metrics: [stacks, stack_median]"
	} >"$T/stacks.yaml"
	rm -rf "$MMRIG_RESULTS"
	expect "$2" run "$T/stacks.yaml" --runs 1 --kernel "$1" --accel "$ACCEL" "${@:4}"
}

# stacks_say JQ-EXPRESSION: of the run.json.
stacks_say()
{
	holds "$(run_folder 0001)/run.json" "$1"
}

# Where memory is plenty all are met, and 2000 blocks of order 2 are gone.
test_stacks_met()
{
	local run
	stacks "$KERNEL" 0 "count: 2000" --kernel "$OLD_KERNEL"
	for run in 0001 0002; do
		holds "$(run_folder $run)/run.json" '.verdict == "ok" and .no_effect == null and
			(.workload | .via == "packet" and .vmap_stack and .ended_by == "count" and
				(.histogram | map(.[2]) | add) == 2000) and
			(.metrics | .stacks == 2000 and .stacks_missed == 0 and has("stack_median") and
				(has("stack_missed_median") | not))'
		took_blocks $run 2 2000
	done
	expect 0 compare last --format buddy
	[ "$(grep -c '^Node 0, zone    DMA32 ' "$T/out")" -eq 8 ] ||
		die "not the free lists and the index, before and after, of both"
}

# Nothing but single pages is free, and they stand so that no four can be brought together. Pins of
# a quarter of all pages take some 16 blocks of the kernel's memory, which are left free for that.
stacks_are_missed()
{
	LAYOUT="  - fill: {kind: anon, leave: {blocks: 22}}
  - pin: {per: page, where: pfn % 4 == 1}
  - free: {where: pfn % 8 == 4}"
	stacks "$1" 0 "count: 6000, misses: 5"
	stacks_say '.verdict == "ok" and .workload.ended_by == "misses" and
		(.workload.met as $met | .metrics | .stacks_missed == 5 and .stacks <= $met and
			.stacks < 4500 and has("stack_missed_max"))'
}

test_stacks_missed()
{
	stacks_are_missed "$KERNEL"
}

test_stacks_missed_old()
{
	stacks_are_missed "$OLD_KERNEL"
}

# KernelStack counts 16 kB a thread, whichever way they come.
test_stacks_threads()
{
	local kb
	stacks "$KERNEL" 0 "count: 1000, via: clone"
	stacks_say '.verdict == "ok" and .workload.via == "clone" and .metrics.stacks == 1000'
	for edge in begin end; do
		samples "$(run_folder 0001)/samples.zst" workload $edge meminfo |
			awk '/^KernelStack:/ { print $2 }'
	done >"$T/kb"
	kb=$(($(tail -n 1 "$T/kb") - $(head -n 1 "$T/kb")))
	within "$kb" 16000 400 || die "1000 threads have $kb kB of stacks"
}

test_stacks_bad()
{
	stacks "$KERNEL" 2 "count: 40000"
	err_has "count is 40000 stacks of 16K, 625M, and the guest has 512M"
	stacks "$KERNEL" 2 "count: 0"
	err_has "count"
	stacks "$KERNEL" 2 "count: 10, via: vmalloc"
	err_has "clone"
	no_start
	stacks "$KERNEL" 4 "count: 20001"
	stacks_say '.verdict == "unsupported" and (.why | contains("packet holds 20000 blocks"))'
}
