# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2016,SC2034,SC2154 # dollars of jq; names of the other files
#
# Part of ci/e2e.sh: kernel builds in the guest.

kbuild_tests=(kbuild_old hugealloc_kbuild kbuild_fails kbuild_bad)

# On a disk; scripts only, which are programs of the guest itself.
test_kbuild_old()
{
	local LIMIT=900
	expect 0 run kbuild --kernel "$OLD_KERNEL" --accel "$ACCEL" --runs 1 --set workload.kbuild.target=scripts \
		--set workload.kbuild.scratch=512M
	out_has '# cat /sys/kernel/debug/extfrag/unusable_index'
	out_has 'at the end of the workload, median of 1 run:'
	holds "$(run_folder 0001)/run.json" '.verdict == "ok" and (.metrics |
		.kbuild_real > 0 and .kbuild_user > 0 and .kbuild_system > 0 and .agent_share > 0 and .agent_share < 20 and
		.pgpgout > 0 and .kbuild_setup > 0 and (.kbuild_user + .kbuild_system) < 2.2 * .kbuild_real)'
	# The caches were dropped before it began.
	[ "$(raw_delta "$(run_folder 0001)" drop_pagecache)" -eq 1 ] || die "caches were not dropped"
	verify_store
}

# Rows of the post, for one column too. The scripts alone: half of what the default builds.
test_hugealloc_kbuild()
{
	local row LIMIT=900
	expect 0 run hugealloc-kbuild --kernel "$KERNEL" --accel "$ACCEL" --runs 1 --set defrag_mode=1 \
		--set workload.hugealloc-kbuild.target=scripts
	for row in "Hugealloc Time mean" "Hugealloc Time stddev" "Kbuild Real time" "Kbuild User time" \
		"Kbuild System time" "THP fault alloc" "Direct compact fail" "Alloc stall" "Swap out" "File refaults"; do
		grep -qE "^$row +[0-9]" "$T/out" || die "no row \"$row\""
	done
	holds "$(run_folder 0001)/run.json" '.verdict == "ok" and .no_effect == null and .metrics as $m |
		$m.pgscan_kswapd + $m.pgscan_direct > 0 and
		$m.hugealloc_attempts > 50 and $m.hugealloc_mean > 0 and $m.hugealloc_max >= $m.hugealloc_mean and
		(.workload.histogram | map(.[2]) | add) == $m.hugealloc_attempts and
		($m.hugealloc_share * $m.hugealloc_attempts / 100 | round) == $m.thp_fault_alloc'
}

# What make says is said. (A target of this name needs no config, so that it is told at once.)
test_kbuild_fails()
{
	expect 1 run kbuild --kernel "$KERNEL" --accel "$ACCEL" --runs 1 --json --set workload.kbuild.config=check-mmrig
	holds "$T/out" '.cells[0].runs[0] | .verdict == "workload-failed" and
		(.why | startswith("make check-mmrig ended with status 2: ") and contains("No rule to make target"))'
}

test_kbuild_bad()
{
	expect 2 run kbuild --set workload.kbuild.target=-k
	err_has '"-k" is no target of make'
	expect 2 run kbuild --set workload.kbuild.scratch=1M
	err_has 'scratch must be 0 or at least 256M'
	expect 2 run kbuild --memory 128M
	err_has '256M'
	[ ! -e "$MMRIG_RESULTS" ] || die "something was begun"
}
