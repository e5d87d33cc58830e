#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
#	bash ci/stats-check.sh [SEED]...
#
# Our statistics against SciPy (package python3-scipy, make check-deps): the committed vectors are
# what their script makes, and vectors of fresh seeds (2 and 3 when none is given) agree to 1e-9 too:
# relative to the value, absolute below 1. Needs $O/tests/results/stats_scipy_test (make unit). The
# last line is "N passed, N failed".
set -u
cd "$(dirname "$0")/.." || exit 2
python=${PYTHON:-/usr/bin/python3}
test=${O:-build}/tests/results/stats_scipy_test

"$python" -c 'import scipy' 2>/dev/null ||
	{ echo "ci/stats-check.sh: $python has no SciPy; run: make check-deps" >&2; exit 2; }
[ -x "$test" ] || { echo "ci/stats-check.sh: $test is missing; run: make unit" >&2; exit 2; }
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
passed=0
failed=0

result() # STATUS NAME
{
	if [ "$1" = 0 ]; then
		echo "ok      $2"
		passed=$((passed + 1))
	else
		echo "FAILED  $2"
		failed=$((failed + 1))
	fi
}

# The last digits may depend on the version of NumPy.
same()
{
	"$python" - "$1" "$2" <<-'EOF'
		import json, math, sys

		def same(a, b):
		    if isinstance(a, float) and isinstance(b, float):
		        return math.isclose(a, b, rel_tol=1e-11, abs_tol=1e-11)
		    if isinstance(a, dict) and isinstance(b, dict):
		        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
		    if isinstance(a, list) and isinstance(b, list):
		        return len(a) == len(b) and all(map(same, a, b))
		    return a == b

		sys.exit(not same(*(json.load(open(f)) for f in sys.argv[1:])))
	EOF
}

"$python" ci/stats-scipy.py 1 >"$tmp/1" && same "$tmp/1" results/testdata/stats-scipy.json
result $? "results/testdata/stats-scipy.json is what ci/stats-scipy.py makes"
[ $# -gt 0 ] || set -- 2 3
for seed in "$@"; do
	"$python" ci/stats-scipy.py "$seed" >"$tmp/fresh" && "$test" "$tmp/fresh" >"$tmp/log" 2>&1
	status=$?
	result $status "statistics agree with SciPy to 1e-9, seed $seed"
	[ $status = 0 ] || sed 's/^/    | /' "$tmp/log"
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
