#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Every test: the unit tests given as arguments, then the end-to-end suite; one count at the end.
set -u
cd "$(dirname "$0")/.."
log=$(mktemp -d)
trap 'rm -rf "$log"' EXIT
status=0

sh ci/unit.sh "$@" 2>&1 | tee "$log/unit"
[ "${PIPESTATUS[0]}" = 0 ] || status=1
bash ci/e2e.sh 2>&1 | tee "$log/e2e"
[ "${PIPESTATUS[0]}" = 0 ] || status=1

# The last line of each part is "N passed, N failed" (", N skipped" may follow).
total() { tail -qn 1 "$log/unit" "$log/e2e" | grep -oE "[0-9]+ $1" | awk '{ n += $1 } END { print n + 0 }'; }
echo "$(total passed) passed, $(total failed) failed$(s=$(total skipped); [ "$s" = 0 ] || echo ", $s skipped")"
exit $status
