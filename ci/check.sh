#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Every test: the unit tests given as arguments, statistics against SciPy, the fuzzer (for
# $FUZZ_SECONDS, with the program of make fuzz-build), reports in a browser, the end-to-end suite; one
# count at the end.
set -u
cd "$(dirname "$0")/.." || exit 2
log=$(mktemp -d)
trap 'rm -rf "$log"' EXIT
status=0

part() # NAME COMMAND...
{
	local name=$1
	shift
	"$@" 2>&1 | tee "$log/$name"
	[ "${PIPESTATUS[0]}" = 0 ] || status=1
	grep -qE '^[0-9]+ passed, [0-9]+ failed' < <(tail -n 1 "$log/$name") && return
	# One that ends before its sum has failed, and must be seen in the sum of all.
	echo "0 passed, 1 failed" | tee -a "$log/$name"
	status=1
}

part unit sh ci/unit.sh "$@"
part stats bash ci/stats-check.sh
part fuzz bash ci/fuzz.sh build-fuzz/fuzz
part report bash ci/report.sh
part e2e bash ci/e2e.sh

# The last line of each part is "N passed, N failed" (", N skipped" may follow).
total()
{
	for name in unit stats fuzz report e2e; do tail -n 1 "$log/$name"; done |
		grep -oE "[0-9]+ $1" | awk '{ n += $1 } END { print n + 0 }'
}
echo "$(total passed) passed, $(total failed) failed$(s=$(total skipped); [ "$s" = 0 ] || echo ", $s skipped")"
exit $status
