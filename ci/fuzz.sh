#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
#	bash ci/fuzz.sh [--keep] PROGRAM [TARGET]...
#
# Fuzzes the parsers with libFuzzer (make fuzz), two at a time, $FUZZ_SECONDS (60) in all. Each
# starts from ci/corpus/TARGET and from what earlier calls found, which stays beside the program.
# Seeds are fixed, so that a fault seen once is mostly seen again. An input that fails is kept, and
# the line that repeats it is printed. The last line is "N passed, N failed".
#
# --keep instead adds to ci/corpus, of what was found, the files that reach code which nothing in it
# reaches. Names are hashes of the content. An input that failed once is added by hand.
set -u
cd "$(dirname "$0")/.." || exit 2
keep=
[ "${1:-}" != --keep ] || { keep=1; shift; }
program=$(realpath "${1:?usage: ci/fuzz.sh [--keep] PROGRAM [TARGET]...}") || exit 2
shift
[ $# -gt 0 ] || set -- ci/corpus/*/
[ -x "$program" ] || { echo "ci/fuzz.sh: $program is missing; run: make fuzz" >&2; exit 2; }
seconds=${FUZZ_SECONDS:-60}
jobs=2
each=$((seconds * jobs / $#))
[ "$each" -gt 0 ] || each=1
work=$(dirname "$program")/fuzzing
mkdir -p "$work" || exit 1

prepare() # TARGET
{
	mkdir -p "$work/$1/found" "$work/$1/failed"
	ln -sf "$program" "$work/$1/$1"
}

# Counting how often a line is reached, too, would keep four times as much.
merge() # TARGET
{
	local dir=$work/$1
	"$dir/$1" -set_cover_merge=1 -use_counters=0 -max_len=4096 "ci/corpus/$1" "$dir/found" \
		>"$dir/log" 2>&1 || { tail -n 5 "$dir/log"; return 1; }
	echo "$1: $(find "ci/corpus/$1" -type f | wc -l) files"
}

# A hang counts as a fault: -timeout is that of one input, timeout(1) that of everything.
fuzz() # TARGET
{
	local dir=$work/$1
	rm -f "$dir/status"
	timeout -k 5 $((each + 60)) "$dir/$1" -seed=1 -max_total_time="$each" -max_len=16384 \
		-timeout=20 -rss_limit_mb=2048 -print_final_stats=1 -artifact_prefix="$dir/failed/" \
		"$dir/found" "ci/corpus/$1" >"$dir/log" 2>&1 </dev/null
	echo $? >"$dir/status"
}

# The input that failed, if the fuzzer wrote one.
artifact() { sed -n 's/.*Test unit written to //p' "$work/$1/log" | tail -n 1; }

report() # TARGET
{
	local dir=$work/$1 input status
	status=$(cat "$dir/status" 2>/dev/null || echo "none")
	if [ "$status" = 0 ]; then
		echo "ok      fuzz $1: $(sed -n 's/^stat::number_of_executed_units: *//p' "$dir/log") inputs"
		return 0
	fi
	echo "FAILED  fuzz $1: exit status $status"
	grep -m 4 -E 'broken promise|runtime error|^==.*ERROR|SUMMARY' "$dir/log" | sed 's/^/    | /'
	input=$(artifact "$1")
	if [ -n "$input" ]; then
		echo "    | to see it again: $dir/$1 $input"
	else
		tail -n 5 "$dir/log" | sed 's/^/    | /'
	fi
	return 1
}

for target in "$@"; do
	prepare "$(basename "$target")" || exit 1
done
if [ -n "$keep" ]; then
	for target in "$@"; do
		merge "$(basename "$target")" || exit 1
	done
	exit 0
fi
passed=0
failed=0
while [ $# -gt 0 ]; do
	batch=()
	while [ $# -gt 0 ] && [ ${#batch[@]} -lt "$jobs" ]; do
		batch+=("$(basename "$1")")
		fuzz "${batch[-1]}" &
		shift
	done
	wait
	for target in "${batch[@]}"; do
		if report "$target"; then
			passed=$((passed + 1))
		else
			failed=$((failed + 1))
		fi
	done
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
