#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
#	sh ci/unit.sh PROGRAM...
#
# Runs cmocka test programs one after the other, each for at most $UNIT_SECONDS (120), and shows
# the output of those that fail. The last line is "N passed, N failed", in tests; a program that
# crashes, hangs, or ends badly without naming a failed test counts as one failed test more.

[ $# -gt 0 ] || { echo "ci/unit.sh: no test programs given; run: make unit" >&2; exit 2; }
limit=${UNIT_SECONDS:-120}
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
trap 'exit 130' INT TERM

# The number in the log's summary lines "[  PASSED  ] 12 test(s)", summed over the groups.
summary()
{
	grep -a -o "\[ *$1 *\] [0-9][0-9]* test(s)" "$log" |
		awk '{ n += $(NF - 1) } END { print n + 0 }'
}

why()
{
	case $1 in
	0) echo "no test was run" ;;
	124 | 137) echo "still running after $limit s" ;;
	126 | 127) echo "cannot be started" ;;
	*) echo "exit status $1" ;;
	esac
}

passed=0
failed=0
for program in "$@"; do
	case $program in
	*/*) ;;
	*) program=./$program ;;
	esac
	timeout -k 5 "$limit" "$program" </dev/null >"$log" 2>&1
	status=$?
	good=$(summary PASSED)
	bad=$(summary FAILED)
	skipped=$(summary SKIPPED)
	passed=$((passed + good))
	if [ "$status" -eq 0 ] && [ "$bad" -eq 0 ] && [ $((good + skipped)) -gt 0 ]; then
		[ "$skipped" -eq 0 ] || good="$good, $skipped skipped"
		echo "ok      $program: $good"
		continue
	fi
	if [ "$bad" -eq 0 ]; then
		bad=1
		echo "FAILED  $program: $(why "$status")"
	else
		echo "FAILED  $program: $bad of $((good + bad))"
	fi
	failed=$((failed + bad))
	sed 's/^/    | /' "$log"
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
