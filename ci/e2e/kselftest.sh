# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2016,SC2034,SC2154 # dollars of jq; names of the other files
#
# Part of ci/e2e.sh: the kernel's mm selftests. They are built of the source of which the tests of
# ci/e2e/build.sh build kernels, which lies in the cache of the other sources.

kselftest_tests=(kselftest kselftest_compare kselftest_layout kselftest_limit kselftest_bad)

# selftests STATUS TESTS [ARGUMENT]...; SELFTEST_LINES: more lines of the scenario; SELFTEST_PARAMS of the
# workload; SELFTEST_MEMORY.
selftests()
{
	{
		echo "name: selftests"
		echo "vm: {memory: ${SELFTEST_MEMORY:-512M}, cpus: 2}"
		echo "runs: 1"
		[ -z "${SELFTEST_LINES:-}" ] || printf '%s\n' "$SELFTEST_LINES"
		echo "table: {style: plain, form: kselftest}"
		echo "workload: {kselftest-mm: {tests: $2, ${SELFTEST_PARAMS:-limit: 60}}}"
	} >"$T/selftests.yaml"
	rm -rf "$MMRIG_RESULTS"
	expect "$1" run "$T/selftests.yaml" --accel "$ACCEL" "${@:3}"
}

# Each sub-test by its verdict, and their sums; one that lacks what it needs is no failure of the run.
test_kselftest()
{
	local run
	selftests 0 "madv_populate mkdirty on-fault-limit" --kernel "$KERNEL"
	run=$(run_folder 0001)/run.json
	holds "$run" '.verdict == "ok" and (.workload | has("partial") | not) and
		(.workload["selftest.madv_populate"] | .verdict == "pass" and .exit == 0 and .plan == .results and
			.results > 10) and
		(.workload["selftest.madv_populate.0"] | length) == .workload["selftest.madv_populate"].results and
		(.workload["selftest.on-fault-limit.0"] | length == 1 and .[0][1] == "skip" and .[0][4] != "") and
		([.workload | to_entries[] | select(.key | test("^selftest[.].*[.][0-9]+$")) | .value[]] as $subs |
			all("pass", "fail", "skip", "xfail", "xpass"; . as $v |
				([$subs[] | select(.[1] == $v)] | length) == $metrics["selftest_" + $v])) and
		.metrics.selftest_tests == 3' --argjson metrics "$(jq .metrics "$run")"
	grep -q '^madv_populate  *pass ' "$T/out" || die "the table lacks madv_populate"
	out_has "skipped ("
	out_has "The test must be run from a normal user"
	[ "$(jq -r '.metrics.selftest_pass > 10' "$run")" = true ] || die "nothing passed"
}

# The same programs on an older kernel: what differs is told, and why. mremap_test of 7.3 moves several
# mappings in one call, which no kernel before 6.17 could.
test_kselftest_compare()
{
	selftests 0 "mremap_test map_fixed_noreplace" --kernel "$KERNEL" --kernel "$OLD_KERNEL"
	expect 0 compare last --format kselftest
	cp "$T/out" "$T/text"
	grep -q '^map_fixed_noreplace  *pass .* pass ' "$T/text" || die "map_fixed_noreplace does not pass on both"
	grep -q ': new failures (' "$T/text" || die "nothing is newly failed: $(tail -n 20 "$T/text")"
	grep -q '^  mremap_test: .*pass -> fail' "$T/text" || die "no sub-test of mremap_test is told"
	expect 0 compare last --format kselftest --baseline 6.12
	grep -q ': fixed (' "$T/out" || die "seen from the other side nothing is fixed"
	grep -q '^  mremap_test: .*fail -> pass' "$T/out" || die "no sub-test of mremap_test is told"
}

# After a layout, and with a list of the variant's own.
test_kselftest_layout()
{
	SELFTEST_LINES=$(printf '%s\n' "vary: {list: [mkdirty, map_populate]}" \
		"layout:" "  - fill: {kind: anon, leave: 120M}" "  - pin: {per: pageblock}" \
		"  - free: {where: pfn % 8 == 4}")
	SELFTEST_LINES=$SELFTEST_LINES selftests 0 '"{list}"' --kernel "$KERNEL"
	holds "$(run_folder 0001)/run.json" '.verdict == "ok" and .workload["selftest.mkdirty"].plan == 6 and
		(.workload | has("selftest.map_populate") | not) and ([.layout[] | select(.got)] | length) >= 3'
	holds "$(run_folder 0002)/run.json" '.verdict == "ok" and .workload["selftest.map_populate"].verdict == "pass"'
}

# One that does not end is ended, and the next ones run.
test_kselftest_limit()
{
	# With less memory the kernel has no huge pages, and the test skips itself.
	SELFTEST_MEMORY=1G SELFTEST_PARAMS="limit: 2" selftests 0 "transhuge-stress map_populate" --kernel "$KERNEL"
	holds "$(run_folder 0001)/run.json" '.verdict == "ok" and .metrics.selftest_ended == 1 and
		.workload["selftest.transhuge-stress"].verdict == "timeout" and
		.workload["selftest.map_populate"].verdict == "pass"'
	out_has "ended after 2 s"
}

# Before anything is booted.
test_kselftest_bad()
{
	selftests 2 "madv_populat" --kernel "$KERNEL"
	err_has "did you mean madv_populate?"
	selftests 2 '"../../bin/sh"' --kernel "$KERNEL"
	err_has "is no name of a test"
	selftests 2 '" "' --kernel "$KERNEL"
	err_has "no test is named"
	SELFTEST_PARAMS="source: 7.3" selftests 2 mkdirty --kernel "$KERNEL"
	err_has "source must be debian:VERSION or tree:FOLDER"
	SELFTEST_PARAMS="source: 'tree:$T/none'" selftests 2 mkdirty --kernel "$KERNEL"
	mkdir "$T/empty"
	SELFTEST_PARAMS="source: 'tree:$T/empty'" selftests 2 mkdirty --kernel "$KERNEL"
	err_has "no kernel tree"
	SELFTEST_PARAMS="source: debian:0.1" selftests 2 mkdirty --kernel "$KERNEL"
	SELFTEST_PARAMS="limit: 0" selftests 2 mkdirty --kernel "$KERNEL"
	err_has "limit"
	no_start
}
