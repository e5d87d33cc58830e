# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2016,SC2034,SC2154 # dollars of jq; names of the other files
#
# Part of ci/e2e.sh: lists of scenarios, ci/suite.sh.

suite_tests=(suite_one suite_fails suite_interrupt suite_seeds suite_bad)

# suite STATUS FILE [ARGUMENT]...
suite()
{
	rc=0
	MMRIG=$MMRIG timeout -k 5 "$LIMIT" bash "$here/suite.sh" "${@:2}" >"$T/out" 2>"$T/err" </dev/null || rc=$?
	[ "$rc" -eq "$1" ] || die "ci/suite.sh ${*:2}: exit status $rc, not $1: $(head -n 3 "$T/err")"
}

# A path beside the list, an option of the line and one of all lines; its table and its sum.
test_suite_one()
{
	cp "$SMALL" "$T/small.yaml"
	printf '%s\n' "# a comment" "" "  small.yaml --set 'files=1500'" >"$T/list"
	suite 0 "$T/list" --kernel "$KERNEL" --accel "$ACCEL"
	out_has "==== 1/1:   small.yaml --set 'files=1500'"
	out_has "a small layout, a short workload"
	grep -qE '^ok +[0-9]+ s +small.yaml' "$T/out" || die "no line of the scenario: $(tail -n 3 "$T/out")"
	[ "$(tail -n 1 "$T/out")" = "1 passed, 0 failed" ] || die "sum: $(tail -n 1 "$T/out")"
	holds "$(run_folder 0001)/run.json" '.verdict == "ok"'
	grep -q '1500' "$(dirname "$(run_folder 0001)")/runset.json" || die "the line's --set was not taken"
}

# What fails is told, and what follows runs.
test_suite_fails()
{
	cp "$SMALL" "$T/small.yaml"
	printf '%s\n' "small.yaml --set nosuch=1" "small.yaml" >"$T/list"
	suite 1 "$T/list" --kernel "$KERNEL" --accel "$ACCEL"
	err_has "nosuch"
	grep -qE '^FAIL 2 +[0-9]+ s +small.yaml --set nosuch=1' "$T/out" || die "the failure is not told"
	grep -qE '^ok +[0-9]+ s +small.yaml$' "$T/out" || die "the second one did not run"
	[ "$(tail -n 1 "$T/out")" = "1 passed, 1 failed" ] || die "sum: $(tail -n 1 "$T/out")"
}

test_suite_interrupt()
{
	local pid rc=0
	cp "$SMALL" "$T/small.yaml"
	printf '%s\n' "small.yaml" "small.yaml" >"$T/list"
	MMRIG=$MMRIG setsid bash "$here/suite.sh" "$T/list" --kernel "$KERNEL" --accel "$ACCEL" \
		>"$T/out" 2>"$T/err" </dev/null &
	pid=$!
	await 60 "a VM" has_starts 1
	kill -TERM -- "-$pid"
	wait "$pid" || rc=$?
	[ "$rc" -eq 130 ] || die "an interrupted suite ended with $rc: $(tail -n 3 "$T/err")"
	out_has "interrupted: 1 not run"
}

# Each line of the list that is shipped is one that mmrig knows; no run is made.
test_suite_seeds()
{
	printf '#!/bin/bash\n[ "$1" = list ] && exec %q "$@"\necho "$@" >>%q\n' "$MMRIG" "$T/called" >"$T/mmrig"
	chmod +x "$T/mmrig"
	MMRIG=$T/mmrig suite 0 "$here/suites/seeds" --seed 3
	[ "$(grep -c '^run .* --seed 3$' "$T/called")" -eq "$(grep -cE '^[a-z]' "$here/suites/seeds")" ] ||
		die "not every line was run: $(cat "$T/called")"
	grep -q '^run alias-tmpfs ' "$T/called" || die "alias-tmpfs is not among them"
}

# Nothing is started.
test_suite_bad()
{
	suite 2 "$T/none"
	err_has "no such file"
	suite 2 "$T"
	: >"$T/list"
	suite 2 "$T/list"
	err_has "no line of it names a scenario"
	printf '# only this\n\n' >"$T/list"
	suite 2 "$T/list"
	printf 'alias-tmpfs\nnosuch --runs 1\n' >"$T/list"
	suite 2 "$T/list"
	err_has "list:2: no scenario nosuch"
	printf 'none.yaml\n' >"$T/list"
	suite 2 "$T/list"
	err_has "list:1: no scenario none.yaml"
	printf "alias-tmpfs --set 'a\n" >"$T/list"
	suite 2 "$T/list"
	err_has "list:1: a quote is not closed"
	no_start
}
