#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
#	ci/suite.sh FILE [ARGUMENT]...
#
# Runs scenarios one after the other and prints each one's own table: `mmrig run` with the words of each line
# of FILE, and the ARGUMENTs behind them (`--kernel debian:6.12`). Empty lines and those that begin with
# '#' do not count; quotes are a shell's, nothing is expanded. A scenario is named, or a path
# that is looked for from FILE's folder first.
#
# A line that fails does not stop the others; Ctrl-C does. At the end stand a line for each, and
# "N passed, N failed". Exit status 0: all passed; 1: one failed; 2: nothing was started, since FILE
# cannot be read, has no line, or names a scenario that there is not; 130: interrupted.
#
#	MMRIG	the program (build/mmrig of this tree)
set -euo pipefail
export LC_ALL=C

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
MMRIG=${MMRIG:-$here/../build/mmrig}

die()
{
	echo "ci/suite.sh: $1" >&2
	exit 2
}

# The words of a line, into the array words.
split()
{
	local nul
	nul=$(mktemp)
	if ! printf '%s\n' "$1" | xargs -r printf '%s\0' >"$nul" 2>/dev/null; then
		rm -f "$nul"
		return 1
	fi
	mapfile -d '' words <"$nul"
	rm -f "$nul"
}

# What `mmrig run` is to be given for a scenario; 1: there is none such.
find_scenario()
{
	case $1 in
	*/* | *.yaml | *.yml)
		if [ "${1#/}" = "$1" ] && [ -f "$folder/$1" ]; then
			echo "$folder/$1"
		else
			[ -f "$1" ] && echo "$1"
		fi
		;;
	*) grep -qxF -- "$1" <<<"$known" && echo "$1" ;;
	esac
}

# Every line, before the first is run: lines[] as they are shown.
read_file()
{
	local line number=0
	while IFS= read -r line || [ -n "$line" ]; do
		number=$((number + 1))
		case ${line#"${line%%[![:space:]]*}"} in '' | '#'*) continue ;; esac
		split "$line" || die "$file:$number: a quote is not closed"
		find_scenario "${words[0]}" >/dev/null ||
			die "$file:$number: no scenario ${words[0]}; see mmrig list scenarios"
		lines+=("$line")
	done <"$file"
	[ ${#lines[@]} -gt 0 ] || die "$file: no line of it names a scenario"
}

run_line()
{
	local start=$SECONDS rc=0 scenario
	split "$1"
	scenario=$(find_scenario "${words[0]}")
	"$MMRIG" run "$scenario" "${words[@]:1}" "${arguments[@]}" </dev/null || rc=$?
	if [ "$rc" -eq 0 ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
	fi
	sum+=("$(printf '%-6s %5d s  %s' "$([ "$rc" -eq 0 ] && echo ok || echo "FAIL $rc")" \
		$((SECONDS - start)) "$1")")
	[ "$rc" -ne 130 ] || interrupted=1
}

[ $# -gt 0 ] || die "usage: ci/suite.sh FILE [ARGUMENT]..."
[ -x "$MMRIG" ] || die "$MMRIG is missing; run: make"
file=$1
shift
arguments=("$@")
{ [ -f "$file" ] && [ -r "$file" ]; } || die "$file: no such file, or it cannot be read"
folder=$(cd "$(dirname "$file")" && pwd)
known=$("$MMRIG" list scenarios | awk '/^[^ ]/ { print $1 }') || die "mmrig list scenarios fails"
words=() lines=() sum=() passed=0 failed=0 interrupted=0
read_file
# mmrig gets the signal too, keeps what it has and ends; then so do we.
trap 'interrupted=1' INT TERM
for i in "${!lines[@]}"; do
	[ "$interrupted" -eq 0 ] || break
	printf '==== %d/%d: %s\n\n' $((i + 1)) ${#lines[@]} "${lines[i]}"
	run_line "${lines[i]}"
	echo
done
printf '%s\n' "${sum[@]}"
left=$((${#lines[@]} - passed - failed))
[ "$left" -eq 0 ] || echo "interrupted: $left not run"
echo "$passed passed, $failed failed"
[ "$interrupted" -eq 0 ] || exit 130
[ "$failed" -eq 0 ]
