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
# shellcheck disable=SC2016 # the dollars of jq and perl are theirs
set -euo pipefail
shopt -s nullglob

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
MMRIG=${MMRIG:-$here/../build/mmrig}
KERNEL=${E2E_KERNEL:-debian:7.3}
OLD_KERNEL=${E2E_OLD_KERNEL:-debian:6.12}
GENERIC=${E2E_GENERIC:-debian:6.12/generic}
ACCEL=${E2E_ACCEL:-auto}
SMALL=$here/e2e/small.yaml
# No test needs longer, on two slow cores without KVM; a hang must not hold up the suite.
LIMIT=240

# ---- what the tests are made of; each runs in a subshell of its own, in the folder $T ----

die()
{
	printf '%s\n' "$*" >"$T/why"
	exit 1
}

skip()
{
	printf '%s\n' "$*" >"$T/why"
	exit 77
}

# try ARGUMENT...: mmrig; its status goes to $rc, its output to the files out and err.
try()
{
	rc=0
	timeout -k 5 "$LIMIT" "$MMRIG" "$@" >"$T/out" 2>"$T/err" </dev/null || rc=$?
}

# expect STATUS ARGUMENT...
expect()
{
	local want=$1
	shift
	try "$@"
	[ "$rc" -eq "$want" ] || die "mmrig $*: exit status $rc, not $want: $(head -n 3 "$T/err")"
}

# A run of the small scenario on the main kernel, with the accelerator that was chosen.
small()
{
	expect "$1" run "$SMALL" --kernel "$KERNEL" --accel "$ACCEL" "${@:2}"
}

err_has()
{
	grep -qF -- "$1" "$T/err" || die "stderr lacks \"$1\": $(head -n 3 "$T/err")"
}

out_has()
{
	grep -qF -- "$1" "$T/out" || die "stdout lacks \"$1\": $(head -n 3 "$T/out")"
}

# holds FILE JQ-EXPRESSION [JQ-ARGUMENT...]
holds()
{
	jq -e "${@:3}" "$2" "$1" >/dev/null ||
		die "${1##*/}: does not hold: $2 ${*:3}"
}

# await SECONDS WHAT COMMAND...: until the command succeeds.
await()
{
	local end=$((SECONDS + $1)) what=$2
	shift 2
	until "$@"; do
		[ "$SECONDS" -lt "$end" ] || die "waited in vain for $what"
		sleep 0.05
	done
}

is_gone()
{
	[ ! -d "/proc/$1" ] || grep -q '^State:[[:space:]]*Z' "/proc/$1/status" 2>/dev/null
}

is_qemu()
{
	[ "$(readlink "/proc/$1/exe")" = "$REAL_QEMU" ]
}

has_starts()
{
	[ "$(wc -l <"$E2E_STARTS")" -ge "$1" ]
}

no_start()
{
	[ ! -s "$E2E_STARTS" ] || die "a VM was started"
}

# The folder of a run, by its number; there is one run set.
run_folder()
{
	local found=("$MMRIG_RESULTS"/*-*/"$1")
	[ ${#found[@]} -eq 1 ] || die "${#found[@]} folders of run $1 in $MMRIG_RESULTS"
	echo "${found[0]}"
}

verify_store()
{
	"$MMRIG" results verify >"$T/verify" 2>&1 || die "results verify: $(head -n 3 "$T/verify")"
}

no_leftovers()
{
	local found
	[ -d "$1" ] || return 0
	found=$(find "$1" \( -name '*.tmp' -o -name scratch -o -name 'initrd*' \) -print -quit)
	[ -z "$found" ] || die "left behind: $found"
}

# samples FILE: "PHASE EDGE FILE BYTES" of every sample.
# samples FILE PHASE EDGE NAME: the bytes of that one.
samples()
{
	zstd -dcq "$1" | perl -e '
		use strict;
		binmode STDIN;
		binmode STDOUT;
		my ($phase, $edge, $name) = @ARGV;
		my @phases = qw(boot layout settle workload collect);
		my @edges = qw(none begin end);
		local $/;
		my $all = <STDIN>;
		my $at = 0;
		my $last = 0;
		while ($at < length $all) {
			die "cut off\n" if $at + 4 > length $all;
			my $n = unpack "V", substr $all, $at, 4;
			my $p = substr $all, $at + 4, $n;
			die "cut off\n" if length $p != $n || $n < 11;
			$at += 4 + $n;
			my ($ns, $e, $f, $len) = unpack "Q< C C C", $p;
			die "the clock goes backwards\n" if $ns < $last;
			$last = $ns;
			die "edge $e, phase $f\n" if $e > 2 || $f > 4;
			my $who = substr $p, 11, $len;
			my $data = substr $p, 11 + $len;
			if (!defined $phase) {
				print "$phases[$f] $edges[$e] $who ", length $data, "\n";
			} elsif ($phases[$f] eq $phase && $edges[$e] eq $edge && $who eq $name) {
				print $data;
			}
		}' "${@:2}"
}

# The image file of the main kernel.
kernel_image()
{
	case $KERNEL in
	debian:*) jq -er .kernel.image "$WORK/kernel.json" ;;
	*) echo "$KERNEL" ;;
	esac
}

# reproduce LINE: into results of its own.
reproduce()
{
	export MMRIG_RESULTS=$T/again
	shell_line 0 "$1 --json"
}

# shell_line STATUS LINE: as pasted into a shell.
shell_line()
{
	local PATH="${MMRIG%/*}:$PATH"
	rc=0
	eval "$2" >"$T/out" 2>"$T/err" </dev/null || rc=$?
	[ "$rc" -eq "$1" ] || die "$2: exit status $rc, not $1: $(head -n 3 "$T/err")"
}

# ---- real boots ----

# A number that a kernel gave, taken from the raw samples: key (or prefix*) over the workload.
raw_delta()
{
	local folder=$1 pattern=$2 edge
	for edge in begin end; do
		samples "$folder/samples.zst" workload $edge vmstat |
			awk -v key="$pattern" '
				BEGIN { star = sub(/\*$/, "", key) }
				star ? index($1, key) == 1 : $1 == key { n += $2 }
				END { printf "%.0f\n", n }'
	done | paste -sd ' ' | awk '{ printf "%.0f\n", $2 - $1 }'
}

check_layout()
{
	local file=$1/run.json zeros
	holds "$file" '[.layout[].step][:3] == ["fill", "pin", "free"]'
	holds "$file" 'all(.layout[]; .ok == true)'
	# 512 MiB are 256 blocks of 512 pages; what is filled lies in between, and each block of it
	# holds a pin.
	holds "$file" '.layout[0] | .asked.leave_blocks == 40 and
		(.got.leave_blocks - 40 | fabs) <= 8'
	holds "$file" '.layout[0].got.filled_pages as $n | .layout[1] |
		.got.blocks_with_pin == .asked.blocks_with_pin and
		.got.blocks_with_pin >= $n / 512 and .got.blocks_with_pin <= 216 and
		.got.pins == .got.blocks_with_pin and .got.moved <= .got.pins / 50'
	# One page in eight was asked for.
	holds "$file" '.layout[0].got.filled_pages as $n | .layout[2] |
		(.asked.pages - $n / 8 | fabs) <= $n / 8 * 0.03 and
		(.got.pages - .asked.pages | fabs) <= .asked.pages * 0.02'
	zeros=$(samples "$1/samples.zst" layout end buddyinfo | awk '{ n += $5 } END { print n + 0 }')
	holds "$file" '$zeros >= .layout[2].got.pages * 0.9' --argjson zeros "$zeros"
}

check_metrics()
{
	local file=$1/run.json key
	holds "$file" '.metrics | [.allocstall, .compact_stall, .compact_free_scanned, .pgfault,
		.time, .create_median, .create_p99, .create_p999, .create_max] |
		all(type == "number")'
	holds "$file" '.metrics | .files == 2000 and .time > 0 and .create_median > 0 and
		.create_median <= .create_p99 and .create_p99 <= .create_p999 and
		.create_p999 <= .create_max'
	holds "$file" '.metrics.time <= .phases.workload'
	holds "$file" '[.workload.histogram[][2]] | add == 2000'
	holds "$file" '.metrics.allocstall == $n' --argjson n "$(raw_delta "$1" 'allocstall_*')"
	for key in compact_stall pgfault pgfree; do
		holds "$file" '.metrics[$key] == $n' --arg key $key \
			--argjson n "$(raw_delta "$1" $key)"
	done
}

check_samples()
{
	local phase edge name
	samples "$1/samples.zst" >"$T/samples" || die "samples.zst cannot be read"
	for phase in "${@:2}"; do
		for edge in begin end; do
			for name in vmstat buddyinfo pagetypeinfo zoneinfo meminfo pressure/memory \
				slabinfo; do
				grep -qE "^$phase $edge $name [1-9]" "$T/samples" ||
					die "no sample of $name at the $edge of $phase"
			done
		done
	done
}

json_shape()
{
	holds "$1" '.schema == 1 and (.runset | test("^[0-9]{8}-[0-9]{6}-")) and
		(.scenario | type == "string") and (.cells | type == "array" and length > 0)'
	holds "$1" 'all(.cells[]; (.kernel | (.name | type == "string") and
		(.release | type == "string")) and (.variant | type == "object") and
		(.runs | type == "array"))'
	holds "$1" 'all(.cells[].runs[]; (.id | type == "string") and (.seed | type == "number") and
		(.verdict | type == "string") and (.accel == "tcg" or .accel == "kvm") and
		all(.phases[], .metrics[]; type == "number"))'
}

# The longest: a whole run, and everything that is said and kept of it.
test_run_ok()
{
	local folder line
	small 0 --json
	jq -s -e 'length == 1' "$T/out" >/dev/null || die "stdout is not one JSON document"
	json_shape "$T/out"
	cp "$T/out" "$T/first.json"
	holds "$T/out" '.scenario == "e2e-small" and (.cells | length) == 1 and
		(.cells[0].runs | length) == 1 and .cells[0].runs[0].verdict == "ok"'
	holds "$T/out" '.cells[0].runs[0].phases | keys ==
		["boot", "collect", "layout", "settle", "workload"] and all(.[]; . >= 0)'
	holds "$T/out" '.cells[0].kernel.build_id | test("^[0-9a-f]{16,}$")'
	grep -q '^mmrig: e2e-small: 1 run$' "$T/err" || die "no line for the start of the set"
	grep -qE '^mmrig: run 1/1 seed 1: ok, [0-9.]+ s' "$T/err" || die "no line for the run"
	! grep -q $'[\r\033]' "$T/err" || die "control characters on a stderr that is no terminal"

	folder=$(run_folder 0001)
	holds "$folder/run.json" '.verdict == "ok" and .seed == 1 and .ended > .started'
	holds "$folder/run.json" '.metrics == $doc[0].cells[0].runs[0].metrics' \
		--slurpfile doc "$T/first.json"
	check_layout "$folder"
	check_metrics "$folder"
	check_samples "$folder" layout workload
	grep -qa 'Linux version' "$folder/console.log" || die "no banner in console.log"
	verify_store

	"$MMRIG" results show last >"$T/before" || die "results show"
	rm "$MMRIG_RESULTS"/mmrig.db*
	expect 0 results rebuild
	out_has "indexed 1 run"
	"$MMRIG" results show last >"$T/after" || die "results show after the rebuild"
	cmp "$T/before" "$T/after" || die "another table after the rebuild"
	grep -q allocstall "$T/before" || die "the table does not show allocstall"

	# From another folder, as one who was sent the line would.
	line=$(jq -r .reproduce "$folder/run.json")
	mkdir "$T/elsewhere"
	cd "$T/elsewhere"
	reproduce "$line"
	holds "$T/out" '.cells[0].runs[0] | .verdict == "ok" and .seed == 1 and .metrics.files == 2000'
	holds "$T/out" '.cells[0].kernel == $doc[0].cells[0].kernel' --slurpfile doc "$T/first.json"
	no_leftovers "$T/again"
}

test_old_unsupported()
{
	expect 4 run alias-tmpfs --kernel "$OLD_KERNEL" --accel "$ACCEL" --memory 1G --runs 1 \
		--set residue=4 --json
	holds "$T/out" '.cells[0].runs[0] | .verdict == "unsupported" and
		(.why | contains("sysctl:vm.defrag_mode")) and (.metrics.allocstall == null)'
	err_has "sysctl:vm.defrag_mode"
}

# Its virtio drivers are compressed modules.
test_old_ok()
{
	local folder
	expect 0 run "$SMALL" --kernel "$OLD_KERNEL" --accel "$ACCEL" --json
	holds "$T/out" '.cells[0].runs[0] | .verdict == "ok" and .metrics.files == 2000'
	folder=$(run_folder 0001)
	holds "$folder/run.json" '.qemu_command | contains("virtserialport")'
	holds "$folder/run.json" 'all(.layout[]; .ok == true)'
	check_samples "$folder" layout workload
}

test_generic_flavour()
{
	expect 0 run "$SMALL" --kernel "$GENERIC" --accel "$ACCEL" --json
	holds "$T/out" '.cells[0].runs[0] | .verdict == "ok" and .metrics.files == 2000'
	holds "$T/out" '.cells[0].kernel.release | contains("cloud") | not'
}

# Two kernels take turns in one set, and each is a cell of its own.
test_two_kernels()
{
	expect 0 run "$SMALL" --kernel "$KERNEL" --kernel "$OLD_KERNEL" --accel "$ACCEL" --json \
		--set files=100
	holds "$T/out" '.cells | length == 2 and all(.[]; .runs[0].verdict == "ok")'
	holds "$T/out" '.cells | .[0].kernel.release != .[1].kernel.release'
	holds "$T/out" 'all(.cells[].runs[]; .metrics.files == 100)'
}

test_boot_panic()
{
	export E2E_APPEND="rdinit=/nonexistent"
	small 1 --json --set limits.boot=60s
	holds "$T/out" '.cells[0].runs[0] | .verdict == "splat" and
		(.why | startswith("panic in boot: Kernel panic - not syncing"))'
	holds "$(run_folder 0001)/run.json" '.detail | contains("Kernel panic")'
	# The panic's own report, not the limit of the boot, ended it.
	holds "$(run_folder 0001)/run.json" '.ended - .started < 60'
	err_has "splat"
}

# make_kernel FILE TEXT: a valid boot header in front of real-mode code that puts the text on the
# first serial port and stops the CPU for good.
make_kernel()
{
	perl -e '
		my $k = "\0" x 2560;
		sub put { my ($at, $bytes) = @_; substr($k, $at, length $bytes) = $bytes; }
		put 0x1f1, pack "C", 3;			# sectors of setup behind the first
		put 0x1f4, pack "V", 32;		# 512 bytes behind the setup
		put 0x1fe, "\x55\xaa";
		put 0x200, "\xeb\x66";			# to 0x268
		put 0x202, "HdrS" . pack "v", 0x20f;
		put 0x20e, pack "v", 0x100;		# the version stands at 0x300
		put 0x211, pack "C", 1;			# loaded high
		put 0x22c, pack "V", 0x7fffffff;
		put 0x236, pack "v", 1;			# has a 64-bit entry
		put 0x238, pack "V", 2047;
		put 0x268, "\xfa\xfc\xbe\x20\x01"	# cli; cld; mov $text, %si
			. "\x2e\xac\x84\xc0\x74\x12"	# next: lods %cs:(%si), %al; test; jz stop
			. "\x88\xc4\xba\xfd\x03"	# mov %al, %ah; mov $0x3fd, %dx
			. "\xec\xa8\x20\x74\xfb"	# until the transmitter is free
			. "\xba\xf8\x03\x88\xe0\xee"	# mov $0x3f8, %dx; mov %ah, %al; out
			. "\xeb\xe8\xf4\xeb\xfd";	# jmp next; stop: hlt; jmp stop
		put 0x300, "9.9.9-tiny (nobody) #1";
		put 0x320, $ARGV[0];
		print $k;' "$2" >"$1"
}

# tiny STATUS TEXT: a run of such a kernel.
tiny()
{
	make_kernel "$T/tiny" "$2"
	expect "$1" run "$SMALL" --kernel "$T/tiny" --accel tcg --set limits.boot=3s --json \
		"${@:3}"
}

test_boot_silence()
{
	local folder
	tiny 4 ""
	holds "$T/out" '.cells[0].kernel.release == "9.9.9-tiny"'
	holds "$T/out" '.cells[0].runs[0] | .verdict == "boot-timeout" and
		(.why | contains("console stayed empty")) and .phases == {}'
	folder=$(run_folder 0001)
	# 3 s, four times as long without KVM.
	holds "$folder/run.json" '.ended - .started | . >= 12 and . < 30'
}

test_reboot()
{
	tiny 4 $'[    0.0] Linux version 9.9.9\r\n[    0.1] reboot: machine restart\r\n\n[    0.0] Linux version 9.9.9\r\n'
	holds "$T/out" '.cells[0].runs[0] | .verdict == "guest-lost" and (.why | contains("rebooted"))'
}

# A breakpoint that TCG ran too late is no fault of the kernel; with one CPU it is.
test_tcg_race()
{
	local text=$'[    0.0] Linux version 9.9.9\r\n[    0.9] Oops: int3: 0000 [#1] SMP\r\n[    0.9] Kernel panic - not syncing: Fatal exception\r\n'
	tiny 4 "$text"
	holds "$T/out" '.cells[0].runs[0] | .verdict == "infra" and (.why | contains("known race"))'
	holds "$(run_folder 0001)/run.json" '.detail | contains("int3: 0000")'
	rm -r "$T/results"
	tiny 1 "$text" --set vm.cpus=1
	holds "$T/out" '.cells[0].runs[0] | .verdict == "splat" and (.why | startswith("oops in boot"))'
}

# What a guest prints reaches neither the terminal nor the JSON as it is.
test_hostile_console()
{
	tiny 1 $'Linux version 9\nBUG: \033[2J\033]0;title\007 "quoted" \377\376 <b>\n'
	holds "$T/out" '.cells[0].runs[0] | .verdict == "splat" and (.why | contains("\"quoted\""))'
	! grep -qa $'[\033\007\377]' "$T/err" "$T/out" || die "control characters came through"
	err_has '\x1b[2J'
	"$MMRIG" results show last >"$T/show" || die "results show"
	! grep -qa $'[\033\007\377]' "$T/show" || die "control characters in the table"
}

test_layout_to_zero()
{
	small 4 --json --set layout.0.leave=0
	holds "$T/out" '.cells[0].runs[0] | .verdict == "infra" and
		(.why | contains("fill")) and (.metrics.allocstall == null)'
	! grep -qa 'Kernel panic' "$(run_folder 0001)/console.log" || die "the guest panicked"
}

test_workload_too_big()
{
	local folder
	small 1 --json --memory 256M --set files=100000000 --set spare=10
	holds "$T/out" '.cells[0].runs[0].verdict | . == "workload-failed" or . == "splat"'
	holds "$T/out" '.cells[0].runs[0].why | test("OOM|memory|signal 9|No space")'
	folder=$(run_folder 0001)
	holds "$folder/run.json" '.ended - .started < 240'
	verify_store
}

test_division_in_guest()
{
	small 4 --json --set 'layout.2.where=8 / (block - block) == 1'
	holds "$T/out" '.cells[0].runs[0] | .verdict == "infra" and
		(.why | contains("division by zero"))'
}

test_where_selects_nothing()
{
	small 4 --json --set 'layout.2.where=pfn < 0'
	holds "$T/out" '.cells[0].runs[0] | .verdict == "infra" and
		(.why | contains("(free)") and contains("selects no page"))'
}

# The console carries more than is kept; what is kept has the first and the last of it.
test_console_flood()
{
	local log
	export E2E_APPEND="ignore_loglevel initcall_debug" E2E_FLOOD=8
	small 0 --json
	holds "$T/out" '.cells[0].runs[0].verdict == "ok"'
	log=$(run_folder 0001)/console.log
	[ "$(stat -c %s "$log")" -le $((3 * 1024 * 1024 + 1024)) ] ||
		die "console.log has $(stat -c %s "$log") bytes"
	[ "$(stat -c %s "$log")" -ge $((2 * 1024 * 1024)) ] || die "the head was not kept"
	grep -qa '^flood line 1$' "$log" || die "the first line is lost"
	tail -c 65536 "$log" | grep -qaE 'initcall|reboot: Power down' || die "the last lines are lost"
}

# A folder whose name has a blank and a comma, for everything, and a bare image in it: nothing is
# known of its drivers, so that the wire is the serial port.
test_odd_names()
{
	local image folder odd="$T/a b,c" line
	image=$(kernel_image)
	mkdir -p "$odd/results d,e"
	cp "$image" "$odd/bz image,1"
	cp "$SMALL" "$odd/small one,2.yaml"
	cd "$odd"
	export MMRIG_RESULTS="results d,e"
	expect 0 run "./small one,2.yaml" --kernel "./bz image,1" --accel "$ACCEL" --json \
		--set files=300
	holds "$T/out" '.cells[0].runs[0] | .verdict == "ok" and .metrics.files == 300'
	folder=$(run_folder 0001)
	holds "$folder/run.json" '.qemu_command | contains("virtserialport") | not'
	check_samples "$folder" layout workload
	line=$(jq -r .reproduce "$folder/run.json")
	cd /
	reproduce "$line"
	holds "$T/out" '.cells[0].runs[0] | .verdict == "ok" and .metrics.files == 300'
	no_leftovers "$T/again"
}

# ---- ends that nobody planned ----

# begin ARGUMENT...: mmrig in the background; its pid goes to $pid.
begin()
{
	"$MMRIG" "$@" >"$T/out" 2>"$T/err" </dev/null &
	pid=$!
}

# finish SECONDS: waits for it; its status goes to $rc.
finish()
{
	await "$1" "the end of mmrig" is_gone "$pid"
	rc=0
	wait "$pid" || rc=$?
}

in_layout()
{
	local dir
	for dir in "$MMRIG_RESULTS"/*-*/".$1.tmp"; do
		grep -qa 'Linux version' "$dir/console.log" 2>/dev/null && return 0
	done
	return 1
}

test_interrupt()
{
	local folder stamp hint
	begin run "$SMALL" --kernel "$KERNEL" --accel "$ACCEL" --runs 3
	await 120 "the second run" in_layout 0002
	folder=$(run_folder 0001)
	stamp=$(stat -c '%i %Y' "$folder/run.json")
	kill -INT "$pid"
	finish 10
	[ "$rc" -eq 130 ] || die "exit status $rc, not 130"
	holds "$folder/run.json" '.verdict == "ok"'
	out_has "allocstall"
	is_gone "$(tail -n 1 "$E2E_STARTS")" || die "QEMU is still there"
	hint=$(sed -n 's/^mmrig: to go on: //p' "$T/err")
	[ -n "$hint" ] || die "no hint how to go on"

	has_starts 2 || die "fewer VMs than runs"
	: >"$E2E_STARTS"
	shell_line 0 "$hint --json"
	[ "$(wc -l <"$E2E_STARTS")" -eq 2 ] || die "$(wc -l <"$E2E_STARTS") runs, not the 2 that lacked"
	[ "$stamp" = "$(stat -c '%i %Y' "$folder/run.json")" ] || die "the finished run was made again"
	holds "$T/out" '[.cells[0].runs[] | select(.verdict == "ok") | .seed] | sort == [1, 2, 3]'
	verify_store
}

test_interrupt_twice()
{
	begin run "$SMALL" --kernel "$KERNEL" --accel "$ACCEL"
	await 60 "the run" in_layout 0001
	kill -INT "$pid"
	kill -INT "$pid" 2>/dev/null || true
	finish 5
	[ "$rc" -eq 130 ] || die "exit status $rc, not 130"
	await 2 "the end of QEMU" is_gone "$(tail -n 1 "$E2E_STARTS")"
}

test_kill()
{
	local qemu set
	begin run "$SMALL" --kernel "$KERNEL" --accel "$ACCEL" --runs 2
	await 120 "the second run" in_layout 0002
	qemu=$(tail -n 1 "$E2E_STARTS")
	is_qemu "$qemu" || die "no QEMU to be seen"
	kill -KILL "$pid"
	await 2 "the end of QEMU" is_gone "$qemu"
	wait "$pid" || true
	holds "$(run_folder 0001)/run.json" '.verdict == "ok"'
	set=$(basename "$(dirname "$(run_folder 0001)")")
	small 0 --runs 2 --resume "$set" --json
	no_leftovers "$MMRIG_RESULTS"
	holds "$T/out" '.cells[0].runs | length == 2 and all(.[]; .verdict == "ok")'
	verify_store
}

# The host is busy elsewhere while the guest comes to its end: nothing that was sent may be lost.
test_slow_host()
{
	# Without a layout, and with a silent console, it all fits in the queues between guest and
	# host, so that the guest comes to its end while the host sleeps.
	export E2E_APPEND="loglevel=1"
	cat >"$T/slow.yaml" <<-'YAML'
		name: slow
		vm: {memory: 256M, cpus: 2}
		workload: {tmpfs-files: {files: 200}}
	YAML
	begin run "$T/slow.yaml" --runs 1 --kernel "$KERNEL" --accel "$ACCEL" --json
	await 60 "the run" has_starts 1
	kill -STOP "$pid"
	sleep 12
	kill -CONT "$pid"
	finish 60
	[ "$rc" -eq 0 ] || die "exit status $rc, not 0: $(tail -n 1 "$T/err")"
	check_samples "$(run_folder 0001)" workload
}

# QEMU goes away by itself: nobody knows of the guest, and that is what the run says.
test_lost_qemu()
{
	begin run "$SMALL" --kernel "$KERNEL" --accel "$ACCEL" --json
	await 60 "the run" in_layout 0001
	kill -KILL "$(tail -n 1 "$E2E_STARTS")"
	finish 10
	[ "$rc" -eq 4 ] || die "exit status $rc, not 4"
	holds "$T/out" '.cells[0].runs[0] | .verdict == "guest-lost" and (.why | contains("signal 9"))'
}

test_two_at_once()
{
	local first
	"$MMRIG" run "$SMALL" --kernel "$KERNEL" --accel "$ACCEL" --json --seed 11 \
		>"$T/out1" 2>"$T/err1" </dev/null &
	first=$!
	try run "$SMALL" --kernel "$KERNEL" --accel "$ACCEL" --json --seed 22
	pid=$first
	[ "$rc" -eq 0 ] || die "the second: exit status $rc"
	finish "$LIMIT"
	[ "$rc" -eq 0 ] || die "the first: exit status $rc: $(head -n 3 "$T/err1")"
	holds "$T/out1" '.cells[0].runs[0] | .verdict == "ok" and .seed == 11'
	holds "$T/out" '.cells[0].runs[0] | .verdict == "ok" and .seed == 22'
	"$MMRIG" results list --json >"$T/list" || die "results list"
	holds "$T/list" '.runsets | length == 2 and ([.[].id] | unique | length) == 2 and
		all(.[]; .verdicts == {"ok": 1})'
	verify_store
}

# ---- disks ----

# mount_small FOLDER SIZE: a small file system; the suite takes it away again.
mount_small()
{
	mkdir -p "$1"
	mount -t tmpfs -o "size=$2" e2e "$1" 2>/dev/null ||
		skip "cannot mount a tmpfs; run as root"
	echo "$1" >>"$T/mounts"
}

test_disk_full_before()
{
	mount_small "$T/disk" 4M
	export MMRIG_RESULTS=$T/disk/results
	try run "$SMALL" --kernel "$KERNEL" --accel "$ACCEL"
	[ "$rc" -eq 4 ] || die "exit status $rc, not 4"
	err_has "$T/disk/results"
	err_has "make room"
	no_start
}

test_disk_full_in_run()
{
	mount_small "$T/disk" 96M
	export MMRIG_RESULTS=$T/disk/results
	begin run "$SMALL" --kernel "$KERNEL" --accel "$ACCEL" --runs 3 --json
	await 120 "the second run" in_layout 0002
	dd if=/dev/zero of="$T/disk/fill" bs=64k 2>/dev/null && die "the disk is not full"
	finish 60
	cp -r "$T/disk/results" "$T/results"
	rm "$T/disk/fill"
	verify_store
	[ "$rc" -eq 4 ] || die "exit status $rc, not 4"
	err_has "No space left"
	export MMRIG_RESULTS=$T/results
	holds "$(run_folder 0001)/run.json" '.verdict == "ok"'
	is_gone "$(tail -n 1 "$E2E_STARTS")" || die "QEMU is still there"
}

test_results_read_only()
{
	export MMRIG_RESULTS=$T/fixed/results
	mkdir -p "$T/fixed"
	if [ "$(id -u)" -eq 0 ]; then
		mount --bind "$T/fixed" "$T/fixed" 2>/dev/null || skip "cannot mount; no right to"
		echo "$T/fixed" >>"$T/mounts"
		mount -o remount,ro,bind "$T/fixed"
	else
		chmod 500 "$T/fixed"
	fi
	try run "$SMALL" --kernel "$KERNEL" --accel "$ACCEL"
	[ "$rc" -eq 2 ] || die "exit status $rc, not 2"
	err_has "$T/fixed/results"
	no_start
}

test_results_is_file()
{
	: >"$T/file"
	export MMRIG_RESULTS=$T/file
	small 2
	err_has "$T/file"
	no_start
}

# ---- input that is refused, before anything starts ----

# refused TEXT ARGUMENT...: status 2, the text on stderr, nothing on stdout, nothing started.
refused()
{
	local text=$1
	shift
	expect 2 "$@"
	err_has "$text"
	[ ! -s "$T/out" ] || die "mmrig $*: something on stdout"
	[ "$(wc -l <"$T/err")" -le 4 ] || die "mmrig $*: more than four lines on stderr"
	grep -q '^mmrig' "$T/err" || die "mmrig $*: stderr does not say who speaks"
	no_start
	[ -z "$(ls -A "$MMRIG_RESULTS" 2>/dev/null)" ] || die "mmrig $*: made results"
}

bad_kernel()
{
	refused "$2" run "$SMALL" --kernel "$T/$1" --accel tcg
	err_has "$T/$1"
}

test_bad_kernels()
{
	local image
	image=$(kernel_image)
	head -c 1000000 "$image" >"$T/truncated"
	bad_kernel truncated "truncated bzImage"
	head -c 600 "$image" >"$T/stump"
	bad_kernel stump "truncated bzImage"
	echo "this is no kernel" >"$T/text"
	bad_kernel text "text file"
	: >"$T/empty"
	bad_kernel empty "empty file"
	perl -e 'print "MZ\0\x91", "\0" x 52, "ARM\x64", "\0" x 4096' >"$T/arm64"
	bad_kernel arm64 "arm64"
	cp /bin/true "$T/program"
	bad_kernel program "x86-64 program"
	gzip -c "$T/text" >"$T/zipped"
	bad_kernel zipped "gzip"
	head -c 70000 /dev/zero >"$T/zeros"
	bad_kernel zeros "not a kernel"
	mkdir "$T/folder"
	bad_kernel folder "without a kernel"
	mkfifo "$T/fifo"
	bad_kernel fifo "not a regular file"
	bad_kernel missing "no kernel there"
	refused "7.3" run "$SMALL" --kernel no-such-kernel --accel tcg
}

test_bad_usage()
{
	local much
	much=$(awk '/^MemTotal/ { print int($2 / 2048) * 2 + 1024 }' /proc/meminfo)
	refused "--runs" run "$SMALL" --kernel "$KERNEL" --runs 0
	refused "--runs" run "$SMALL" --kernel "$KERNEL" --runs -1
	refused "--runs" run "$SMALL" --kernel "$KERNEL" --runs three
	refused "or less" run "$SMALL" --kernel "$KERNEL" --memory "${much}M"
	refused "--memory" run "$SMALL" --kernel "$KERNEL" --memory lots
	refused "--kernel" run "$SMALL" --kernal "$KERNEL"
	refused "run" rnu "$SMALL"
	refused "SCENARIO" run
	refused "tcg" run "$SMALL" --kernel "$KERNEL" --accel xen
	expect 2 run "$SMALL" --kernel "$KERNEL" --accel tcg --resume 20990101-000000-none-0000
	err_has 20990101-000000-none-0000
	no_start
}

# bad_scenario TEXT <<YAML: the file is $T/bad.yaml.
bad_scenario()
{
	cat >"$T/bad.yaml"
	refused "$1" run "$T/bad.yaml" --kernel "$KERNEL" --accel tcg
}

test_bad_scenarios()
{
	refused "alias-tmpfs" run alias-tmpsf --kernel "$KERNEL"
	refused "$T/none.yaml" run "$T/none.yaml" --kernel "$KERNEL"
	bad_scenario "bad.yaml:2:1: " <<-'YAML'
		name: bad
		workloda: {tmpfs-files: {files: 1}}
	YAML
	err_has "did you mean workload"
	bad_scenario "bad.yaml:3:11: " <<-'YAML'
		name: bad
		layout:
		  - pin: {pre: pageblock}
		workload: {tmpfs-files: {files: 1}}
	YAML
	err_has "did you mean per"
	bad_scenario "bad.yaml:3:5: " <<-'YAML'
		name: bad
		layout:
		  - fil: {leave: 100M}
		workload: {tmpfs-files: {files: 1}}
	YAML
	err_has "did you mean fill"
	# The second % of the predicate.
	bad_scenario "bad.yaml:4:24: " <<-'YAML'
		name: bad
		layout:
		  - fill: {leave: 100M}
		  - free: {where: pfn %% 8 == 4}
		workload: {tmpfs-files: {files: 1}}
	YAML
	bad_scenario "bad.yaml:4:2" <<-'YAML'
		name: bad
		layout:
		  - fill: {leave: 100M}
		  - free: {where: "pfn % (8 - 8) == 4"}
		workload: {tmpfs-files: {files: 1}}
	YAML
	err_has "zero"
	bad_scenario "bad.yaml:4:19: " <<-'YAML'
		name: bad
		layout:
		  - fill: {leave: 100M}
		  - free: {where: pnf % 8 == 4}
		workload: {tmpfs-files: {files: 1}}
	YAML
	err_has "pfn"
	bad_scenario "bad.yaml:3:33: " <<-'YAML'
		name: bad
		constants: {flies: 5}
		workload: {tmpfs-files: {files: files}}
	YAML
	bad_scenario "bad.yaml:3:11: " <<-'YAML'
		name: bad
		workload: {tmpfs-files: {files: 1}}
		metrics: [allocstal]
	YAML
	err_has "allocstall"
	bad_scenario "bad.yaml:2:12: " <<-'YAML'
		name: bad
		workload: {tmpfs-file: {files: 1}}
	YAML
	err_has "tmpfs-files"
	bad_scenario "bad.yaml:2:33: " <<-'YAML'
		name: bad
		workload: {tmpfs-files: {files: [1, 2]}}
	YAML
	bad_scenario "bad.yaml:2:5: " <<-'YAML'
		name: bad
		vm: 512M
		workload: {tmpfs-files: {files: 1}}
	YAML
	bad_scenario "bad.yaml:3:1: " <<-'YAML'
		name: bad
		workload: {tmpfs-files: {files: 1}}
		name: twice
	YAML
	bad_scenario "bad.yaml:3:1: not valid YAML" <<-'YAML'
		name: bad
		workload: {tmpfs-files: {files: 1}
	YAML
	bad_scenario "bad.yaml" </dev/null
	refused "files" run "$SMALL" --kernel "$KERNEL" --set flies=3
	refused "files" run "$SMALL" --kernel "$KERNEL" --set files=0
	refused "--set" run "$SMALL" --kernel "$KERNEL" --set files
}

# Whether a sysctl exists only the guest can say, or whether it takes the value.
test_unknown_sysctl()
{
	small 4 --json --set sysctl.workload.vm.no_such_thing=1
	holds "$T/out" '.cells[0].runs[0] | .verdict == "unsupported" and
		(.why | contains("sysctl:vm.no_such_thing"))'
}

test_refused_sysctl()
{
	small 4 --json --set sysctl.workload.vm.overcommit_memory=77
	holds "$T/out" '.cells[0].runs[0] | .verdict == "infra" and
		(.why | contains("vm.overcommit_memory=77") and contains("Invalid argument"))'
}

test_bad_qemu()
{
	export MMRIG_RESULTS=$T/results
	small 4 --qemu "$T/none"
	err_has "$T/none"
	printf '#!/bin/sh\nexit 1\n' >"$T/false"
	chmod +x "$T/false"
	small 4 --qemu "$T/false"
	err_has "$T/false"
}

# ---- the suite ----

tests=(run_ok old_unsupported old_ok generic_flavour two_kernels boot_panic boot_silence
	reboot tcg_race hostile_console layout_to_zero workload_too_big division_in_guest where_selects_nothing console_flood
	odd_names interrupt interrupt_twice kill slow_host lost_qemu two_at_once disk_full_before
	disk_full_in_run results_read_only results_is_file bad_kernels bad_usage bad_scenarios
	unknown_sysctl refused_sysctl bad_qemu)

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
	unset MMRIG_SCENARIOS
	mkdir "$WORK/tmp" "$WORK/run"
	find /dev/shm -mindepth 1 >"$WORK/shm" 2>/dev/null || true
	trap 'kill $(jobs -p) 2>/dev/null || true' EXIT
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

# Its status goes to $status.
body()
{
	# Not in a condition, or bash would ignore set -e inside.
	set +e
	(
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

# Whether a run of this test met the race that is_race_of_tcg() of harness/engine/run_one.c tells of.
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
