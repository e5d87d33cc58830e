#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
#	ci/e2e.sh [--list] [NAME]...
#
# Boots real kernels under QEMU, and gives bad input to mmrig. One line a test; the last line is
# "N passed, N failed", with ", N skipped" behind it when a test could not be made here. Exit
# status 1 when one failed. Everything is done in a temporary folder, which is kept when a test
# failed or KEEP=1 is set; kernels come from the cache, and are fetched into it when they lack.
#
#	MMRIG		the program (build/mmrig of this tree)
#	E2E_KERNEL	the main kernel (debian:7.3)
#	E2E_OLD_KERNEL	one without vm.defrag_mode, with modules (debian:6.12)
#	E2E_GENERIC	one of another flavour (debian:6.12/generic)
#	E2E_ACCEL	accelerator (auto)
# shellcheck disable=SC2034 # used in the parts
set -euo pipefail

# Several VMs at once on a few CPUs: that the host is starved is the tests' own doing.
export MMRIG_ALLOW_STARVED=1
export LC_ALL=C
shopt -s nullglob

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
MMRIG=${MMRIG:-$here/../build/mmrig}
KERNEL=${E2E_KERNEL:-debian:7.3}
OLD_KERNEL=${E2E_OLD_KERNEL:-debian:6.12}
GENERIC=${E2E_GENERIC:-debian:6.12/generic}
ACCEL=${E2E_ACCEL:-auto}
SMALL=$here/e2e/small.yaml
# A hang must not hold up the suite; but above the limits of small.yaml, four times as long under
# TCG, so that mmrig ends it and says what the guest was doing.
LIMIT=420

for part in lib runs ends input numa faults steps alloc thpscale highalloc mthp stacks writers background programs \
	kbuild newcomer toolbox kselftest suite compare \
	build; do
	# shellcheck source=/dev/null
	. "$here/e2e/$part.sh"
done

tests=(run_ok old_unsupported old_ok map_no_layout map_forks generic_flavour two_kernels
	boot_panic boot_silence reboot tcg_race hostile_console layout_to_zero workload_too_big division_in_guest
	where_selects_nothing console_flood odd_names interrupt interrupt_twice kill slow_host
	lost_qemu two_at_once disk_full_before disk_full_in_run results_read_only results_is_file
	bad_kernels bad_usage bad_outputs bad_layout_names bad_scenarios bad_layouts layouts_beyond_guest
	unknown_sysctl refused_sysctl bad_qemu
	"${numa_tests[@]}" "${faults_tests[@]}" "${steps_tests[@]}" "${alloc_tests[@]}"
	"${thpscale_tests[@]}" "${highalloc_tests[@]}" "${mthp_tests[@]}" "${stacks_tests[@]}" "${writers_tests[@]}"
	"${background_tests[@]}" "${programs_tests[@]}" "${kbuild_tests[@]}" "${newcomer_tests[@]}" "${toolbox_tests[@]}" "${kselftest_tests[@]}"
	"${suite_tests[@]}" "${compare_tests[@]}" "${build_tests[@]}")

# The VMs of this test that are still there. A process may have come by an old number.
our_qemus()
{
	local pid
	while read -r pid; do
		is_gone "$pid" || ! is_qemu "$pid" || echo "$pid"
	done <"$T/starts"
}

setup()
{
	local tool
	for tool in jq zstd perl qemu-system-x86_64 awk; do
		command -v "$tool" >/dev/null || { echo "ci/e2e.sh: $tool is missing" >&2; exit 2; }
	done
	[ -x "$MMRIG" ] || { echo "ci/e2e.sh: $MMRIG is missing; run: make" >&2; exit 2; }
	MMRIG=$(realpath "$MMRIG")
	WORK=$(mktemp -d)
	REAL_QEMU=$(readlink -f "$(command -v qemu-system-x86_64)")
	export E2E_REAL_QEMU=$REAL_QEMU PATH=$here/e2e:$PATH
	export TMPDIR=$WORK/tmp XDG_RUNTIME_DIR=$WORK/run
	export -n MMRIG
	unset MMRIG_SCENARIOS MMRIG_LAYOUTS
	mkdir "$WORK/tmp" "$WORK/run"
	find /dev/shm -mindepth 1 >"$WORK/shm" 2>/dev/null || true
}

# So that no test pays for the download, and a missing kernel is one clear failure.
fetch()
{
	"$MMRIG" kernel fetch "$1" --json --quiet >"$WORK/$2" 2>"$WORK/fetch.err" && return 0
	echo "FAIL fetch $1: $(head -n 1 "$WORK/fetch.err")"
	return 1
}

fetch_kernels()
{
	case $KERNEL in debian:*) fetch "$KERNEL" kernel.json || return 1 ;; esac
	case $OLD_KERNEL in debian:*) fetch "$OLD_KERNEL" old.json || return 1 ;; esac
	case $GENERIC in debian:*) fetch "$GENERIC" generic.json || return 1 ;; esac
}

# Mounts, and folders without the right to write.
put_back()
{
	local folder
	while read -r folder; do
		umount "$folder" || umount -l "$folder"
	done < <(cat "$T/mounts" 2>/dev/null)
	chmod -f u+w "$T"/* || true
}

# Where a test died, its mmrig may still be at work, or asleep.
end_jobs()
{
	local pid
	for pid in $(jobs -p); do
		kill -TERM "$pid" 2>/dev/null && kill -CONT "$pid" && wait "$pid"
	done || true
}

# Its status goes to $status.
body()
{
	# Not in a condition, or bash would ignore set -e inside.
	set +e
	(
		trap end_jobs EXIT
		set -e
		export MMRIG_RESULTS=$T/results E2E_STARTS=$T/starts
		: >"$E2E_STARTS"
		cd "$T"
		"test_$1"
		no_leftovers "$T/results"
		[ -z "$(our_qemus)" ] || die "QEMU is left: $(our_qemus)"
	) >"$T/log" 2>&1
	status=$?
	set -e
	put_back
}

# Whether a run of this test met the race that is_race_of_tcg() of harness/engine/attempt_verdict.c tells of.
raced()
{
	grep -rqsF --include=run.json "a known race of QEMU" "$T"
}

one_test()
{
	local name=$1 start=$EPOCHREALTIME status=0 seconds tries=0
	while :; do
		tries=$((tries + 1))
		T=$WORK/$name
		mkdir "$T"
		body "$name"
		case $status,$tries in
		0,* | 77,* | *,3) break ;;
		esac
		raced || break
		mv "$T" "$T.raced$tries"
		echo "again $name: QEMU's TCG ran into its own race"
	done
	seconds=$(echo "$start $EPOCHREALTIME" | awk '{ printf "%.1f", $2 - $1 }')
	case $status in
	0)
		passed=$((passed + 1))
		echo "ok $name ${seconds}s"
		;;
	77)
		skipped=$((skipped + 1))
		echo "skip $name: $(cat "$T/why")"
		;;
	*)
		failed=$((failed + 1))
		echo "FAIL $name: $(cat "$T/why" 2>/dev/null || echo "status $status")"
		echo "    kept in $T"
		tail -n 15 "$T/log" "$T/err" 2>/dev/null | sed 's/^/    | /' || true
		find "$T" -name console.log -exec tail -n 15 {} + | cut -c1-200 | sed 's/^/    | /' || true
		;;
	esac
}

leftovers()
{
	for T in "$WORK"/*/starts; do
		T=${T%/*}
		[ -z "$(our_qemus)" ] || echo "QEMU is left of ${T##*/}"
	done
	find "$TMPDIR" "$XDG_RUNTIME_DIR" -mindepth 1
	find /dev/shm -mindepth 1 -iname "*mmrig*" 2>/dev/null | grep -vxFf "$WORK/shm" || true
}

passed=0 failed=0 skipped=0
case ${1:-} in
--list)
	printf '%s\n' "${tests[@]}"
	exit 0
	;;
-*)
	echo "usage: ci/e2e.sh [--list] [NAME]..." >&2
	exit 2
	;;
esac
for name; do
	[[ " ${tests[*]} " == *" $name "* ]] ||
		{ echo "ci/e2e.sh: no test $name; see ci/e2e.sh --list" >&2; exit 2; }
done
[ $# -gt 0 ] || set -- "${tests[@]}"

setup
if fetch_kernels; then
	for name; do
		one_test "$name"
	done
	left=$(leftovers)
	if [ -n "$left" ]; then
		failed=$((failed + 1))
		echo "FAIL leftovers: $left"
	fi
else
	failed=$((failed + 1))
fi
[ "$failed" -gt 0 ] || [ "${KEEP:-0}" = 1 ] || rm -rf "$WORK"
total="$passed passed, $failed failed"
[ "$skipped" -eq 0 ] || total+=", $skipped skipped"
echo "$total"
[ "$failed" -eq 0 ]
