# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2016,SC2034,SC2154 # dollars of jq; names of the other files
#
# Part of ci/e2e.sh: ends that nobody planned, and disks that are full.

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

is_up()
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
	await 120 "the second run" is_up 0002
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
	await 60 "the run" is_up 0001
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
	await 120 "the second run" is_up 0002
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
	await 60 "the run" is_up 0001
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
	await 120 "the second run" is_up 0002
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
