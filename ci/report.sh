#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
#	bash ci/report.sh [RUNSET...]
#
# Makes reports, of run sets of $MMRIG_RESULTS or, without one, of the runs kept for tests, and looks
# at them as readers do: well-formed, and opened in headless Chromium (ci/report-ax.py). Needs no VM.
# The last line is "N passed, N failed"; $REPORT_KEEP names a folder for pages and pictures.
set -u
cd "$(dirname "$0")/.." || exit 2
MMRIG=$PWD/${O:-build}/mmrig
T=$(mktemp -d) || exit 2
trap 'rm -rf "$T"' EXIT
keep=${REPORT_KEEP:-$T}
passed=0 failed=0

ok() { echo "ok      $1"; passed=$((passed + 1)); }
bad() { echo "FAILED  $1: $2"; failed=$((failed + 1)); }

# expect NAME STATUS WORDS ARGUMENT...: mmrig report; WORDS must be in what it says.
expect()
{
	local name=$1 want=$2 words=$3 rc=0
	shift 3
	timeout 100 "$MMRIG" report "$@" >"$T/out" 2>"$T/err" </dev/null || rc=$?
	if [ "$rc" -ne "$want" ]; then
		bad "$name" "exit status $rc, not $want: $(head -n 2 "$T/err")"
	elif [ -n "$words" ] && ! grep -qF -- "$words" "$T/err"; then
		bad "$name" "does not say \"$words\": $(head -n 2 "$T/err")"
	else
		ok "$name"
	fi
}

# check NAME COMMAND...: its output is the reason when it fails.
check()
{
	local name=$1 rc=0
	shift
	"$@" >"$T/why" 2>&1 || rc=$?
	case $rc in
	0) ok "$name" ;;
	*) bad "$name" "$(tail -n 20 "$T/why")" ;;
	esac
}

is_xml() { python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' "$1"; }
is_small() { [ "$(stat -c %s "$1")" -lt $((5 << 20)) ]; }

look_at()
{
	local name=$1
	mkdir -p "$keep/$name"
	expect "report of $name" 0 "" "$name" --output "$keep/$name/report.html"
	[ -s "$keep/$name/report.html" ] || return
	check "$name is well-formed" is_xml "$keep/$name/report.html"
	check "$name is below 5 MiB" is_small "$keep/$name/report.html"
	check "$name in Chromium" timeout 150 python3 ci/report-ax.py "$keep/$name/report.html" "$keep/$name"
}

left_nothing() { [ -z "$(ls -A "$T/none")" ]; }

# fake SHELL-CODE: a gnuplot that comes first in PATH.
fake()
{
	printf '#!/bin/sh\n%s\n' "$1" >"$T/bin/gnuplot"
	chmod +x "$T/bin/gnuplot"
}

no_gnuplot()
{
	local rc=0
	env PATH="$T/bin" "$MMRIG" report "$1" --output "$2" 2>"$T/err" || rc=$?
	cat "$T/err"
	[ "$rc" -eq 4 ] && grep -qF "install gnuplot-nox (make deps)" "$T/err"
}

ends()
{
	local page=$T/none/report.html path=$PATH
	mkdir -p "$T/none" "$T/bin"
	expect "no run set of that name" 2 "nonesuch" nonesuch --output "$page"
	expect "a run set given twice" 2 "are one run set" "$1" "$1" --output "$page"
	expect "no output given" 2 "-o FILE.html" "$1"
	expect "no such axis" 2 "did you mean residue?" "$1" --by residu --output "$page"
	expect "no such metric" 2 "no such metric" "$1" --metric nonesuch --output "$page"
	expect "a folder that is not there" 2 "there is no folder" "$1" --output "$T/none/x/report.html"
	PATH=$T/bin:$path
	fake 'echo "<svg"; echo "line 1: all is lost" >&2; exit 3'
	expect "gnuplot that fails" 4 "all is lost" "$1" --output "$page"
	fake 'kill -KILL $$'
	expect "gnuplot that is killed" 4 "signal 9" "$1" --output "$page"
	rm "$T/bin/gnuplot"
	PATH=$path
	check "gnuplot that is missing" no_gnuplot "$1" "$page"
	check "nothing is left behind" left_nothing
}

to_stdout()
{
	"$MMRIG" report "$1" --output - >"$T/stdout.html" && is_xml "$T/stdout.html"
}

export LC_ALL=C.UTF-8
if [ $# -eq 0 ]; then
	export MMRIG_RESULTS=$T/store
	mkdir -p "$MMRIG_RESULTS"
	cp -r results/testdata/runset-7.3 "$MMRIG_RESULTS/20261130-182005-alias-tmpfs-f40c"
	set -- last
fi
for set in "$@"; do
	look_at "$set"
done
check "report to the standard output" to_stdout "$1"
ends "$1"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
