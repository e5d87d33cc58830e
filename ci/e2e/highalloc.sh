# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2016,SC2034,SC2154 # dollars of jq; names of the other files
#
# Part of ci/e2e.sh: stress-highalloc. What it says is held against what the kernel counts.

highalloc_tests=(highalloc highalloc_old highalloc_unmovable highalloc_bad)

# highalloc KERNEL STATUS PARAMETERS [VM]: one run, in little time.
highalloc()
{
	printf '%s\n' "name: highalloc" \
		"vm: {memory: 384M, cpus: 2, swap: {kind: zram, size: 192M}}" \
		"workload: {stress-highalloc: {rate: 256M, pause: 1, rest: 1, $3}}" >"$T/highalloc.yaml"
	rm -rf "$MMRIG_RESULTS"
	expect "$2" run "$T/highalloc.yaml" --runs 1 --kernel "$1" --accel "$ACCEL" --json
}

# check_passes VIA: the shares are those of the counts, the histograms have all that were met, the load
# was there, and memory at rest gives more than memory under load.
check_passes()
{
	holds "$(run_folder 0001)/run.json" '.verdict == "ok" and .no_effect == null and
		(.workload | has("partial") | not) and .workload.via == $via and
		.metrics as $m | .workload as $w | ["pass1", "pass2", "rested"] | all(
			. as $p | $w[$p] as $r | $r.attempts == $m.highalloc_attempts and
			($m["highalloc_\($p)"] - 100 * $r.met / $r.attempts | fabs) < 0.001 and
			([$r.histogram[][2]] | add // 0) == $r.met and
			(($r.zones | add // 0) + $r.zone_unknown) == $r.met and
			($m | has("highalloc_\($p)_mean")) == ($r.met > 0) and
			($m | has("highalloc_\($p)_missed_mean")) == ($r.met < $r.attempts))' --arg via "$1"
	holds "$(run_folder 0001)/run.json" '.metrics.highalloc_rested > .metrics.highalloc_pass1 and
		.workload.load.processes == 2 and .workload.load.read_bytes > 300000000 and
		.workload.load.files > 1000 and .workload.load.anon_bytes > 100000000 and
		.workload.pass1.met > 0'
}

huge_blocks()
{
	highalloc "$1" 0 "load: 2, share: 60%"
	check_passes thp
	holds "$(run_folder 0001)/run.json" '([.workload.pass1, .workload.pass2, .workload.rested | .met] | add) ==
		.metrics.thp_fault_alloc and .workload.rested.zone_unknown == 0 and
		.metrics.highalloc_rested > 60 and .metrics.pgscan_direct > 0'
}

test_highalloc()
{
	huge_blocks "$KERNEL"
}

test_highalloc_old()
{
	huge_blocks "$OLD_KERNEL"
}

test_highalloc_unmovable()
{
	highalloc "$KERNEL" 0 "order: 5, kind: unmovable, share: 30%, load: 2"
	check_passes pipe
	highalloc "$KERNEL" 0 "via: hugetlb, load: 2, share: 60%"
	check_passes hugetlb
	holds "$(run_folder 0001)/run.json" '([.workload.pass1, .workload.pass2, .workload.rested | .met] | add) ==
		.metrics.htlb_buddy_alloc_success'
}

test_highalloc_bad()
{
	highalloc "$KERNEL" 2 "order: 10"
	err_has "thp makes no requests of order 10"
	highalloc "$KERNEL" 2 "via: pipe"
	err_has "pipe makes unmovable requests"
	highalloc "$KERNEL" 2 "load_anon: 100%"
	err_has "load_anon is all of memory"
	highalloc "$KERNEL" 2 "share: 0.1%"
	err_has "less than one block of 2M"
	highalloc "$KERNEL" 2 "load: 65"
	err_has "load"
	no_start
}
