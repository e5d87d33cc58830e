# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2016,SC2034,SC2154 # dollars of jq; names of the other files
#
# Part of ci/e2e.sh: forks and deterministic runs, and faults put into both: QEMU and mmrig ended or
# stopped in every phase, memory that is not there, and a guest that misbehaves (bad-agent.c).

faults_tests=(fork_groups fork_resume fork_refused fork_tight fork_file_limit fork_no_memory
	two_forking verify_determinism bad_frames wire_flood template_flood console_gib last_words
	lost_plain lost_deterministic lost_fork frozen signals stopped starved)

phases=(boot layout settle workload collect)
# enum bad of bad-agent.c
CRC=1 LENGTH=2 TYPE=3 GAP=4 JSON=5 HALF=6 HANG=7 IDLE=8 NOISE=9 LOGS=10 SAMPLES=11 CONSOLE=12
EARLY_END=13

BAD=$here/e2e/bad.yaml
bad_args=(run "$BAD" --kernel "$KERNEL" --accel "$ACCEL")

# mmrig with the bad agent beside it, laid out as `make install` does.
use_bad_agent()
{
	local bad=$WORK/bad source=$here/..
	if [ ! -x "$bad/bin/mmrig" ]; then
		command -v "${CC:-cc}" >/dev/null || skip "no C compiler for the bad agent"
		mkdir -p "$bad/libexec/mmrig" "$bad/bin"
		(cd "$source" && "${CC:-cc}" -std=gnu11 -O2 -Wall -D_GNU_SOURCE -I. -static \
			-o "$bad/libexec/mmrig/agent" ci/e2e/bad-agent.c \
			guest/{boot,cma,job,pagetype,procfs,size_text,task,wire}.c) || die "the bad agent does not compile"
		cp "$MMRIG" "$bad/bin/mmrig"
	fi
	MMRIG=$bad/bin/mmrig
}

# A guest of a second or two, for the true agent.
write_tiny()
{
	cat >"$T/tiny.yaml" <<-'YAML'
		name: tiny
		vm: {memory: 256M, cpus: 1}
		layout:
		  - fill: {kind: anon, leave: {blocks: 60}}
		  - free: {where: pfn % 8 == 4}
		workload: {tmpfs-files: {files: 400}}
	YAML
	tiny_args=(run "$T/tiny.yaml" --kernel "$KERNEL" --accel "$ACCEL")
}

# in_phase RUN PHASE: the bad agent of that run says that it is there.
in_phase()
{
	grep -qsa "bad-agent: in $2\." "$MMRIG_RESULTS"/*-*/".$1.tmp/console.log"
}

# qemu_of_run RUN: the pid of its VM, to $qemu.
qemu_of_run()
{
	local each
	qemu=
	while read -r each; do
		! grep -qzs "/\.$1\.tmp/" "/proc/$each/cmdline" || qemu=$each
	done <"$E2E_STARTS"
	[ -n "$qemu" ]
}

# qemu_of MMRIG: the pid of its newest VM, to $qemu.
qemu_of()
{
	local each
	qemu=
	while read -r each; do
		! grep -qs "^PPid:[[:space:]]*$1$" "/proc/$each/status" || qemu=$each
	done <"$E2E_STARTS"
	[ -n "$qemu" ]
}

# kill_in RUN PHASE: QEMU, as soon as the run is in that phase.
kill_in()
{
	await 90 "run $1 in $2" in_phase "$1" "$2"
	qemu_of_run "$1" || die "run $1 has no QEMU"
	kill -KILL "$qemu"
}

# run_is RUN JQ-EXPRESSION
run_is()
{
	holds "$(run_folder "$1")/run.json" "$2" "${@:3}"
}

# Nothing but finished runs, all of them readable.
check_store()
{
	"$MMRIG" results list >"$T/list" || die "results list"
	no_leftovers "$MMRIG_RESULTS"
	verify_store
}

# ---- forks, as they should be ----

test_fork_groups()
{
	write_tiny
	expect 0 "${tiny_args[@]}" --fork --layouts 2 --runs 4 --jobs 2 --json
	holds "$T/out" '.cells[0].runs | length == 4 and all(.[]; .verdict == "ok") and
		([.[].seed] | sort) == [1, 2, 3, 4]'
	# Two layouts with two runs each. What was before the fork is the layout's and the same in its
	# runs; what comes after is each run's own.
	holds "$T/out" '.cells[0].runs | group_by(.forked_from) | length == 2 and all(.[];
		length == 2 and .[0].forked_from != null and
		.[0].phases.boot == .[1].phases.boot and .[0].phases.layout == .[1].phases.layout and
		.[0].layout == .[1].layout and .[0].phases.workload != .[1].phases.workload)'
	holds "$T/out" '[.cells[0].runs[].phases.layout] | unique | length == 2'
	[ "$(wc -l <"$E2E_STARTS")" -eq 6 ] || die "$(wc -l <"$E2E_STARTS") VMs for 2 layouts and 4 forks"
	check_samples "$(run_folder 0004)" layout workload
	check_store
}

test_fork_resume()
{
	local set
	use_bad_agent
	begin "${bad_args[@]}" --fork --runs 3 --jobs 1
	await 90 "the workload of the second fork" in_phase 0002 workload
	kill -INT "$pid"
	finish 10
	[ "$rc" -eq 130 ] || die "exit status $rc, not 130"
	run_is 0001 '.verdict == "ok" and .forked_from == "L1"'
	run_is 0002 '.verdict == "interrupted"'
	set=$(basename "$(dirname "$(run_folder 0001)")")
	: >"$E2E_STARTS"
	expect 0 "${bad_args[@]}" --fork --runs 3 --jobs 1 --resume "$set" --json
	[ "$(wc -l <"$E2E_STARTS")" -eq 3 ] || die "$(wc -l <"$E2E_STARTS") VMs for a layout and 2 forks"
	holds "$T/out" '[.cells[0].runs[] | select(.verdict == "ok") | .seed] | sort == [1, 2, 3]'
	check_store
}

test_fork_refused()
{
	small 2 --fork --deterministic
	err_has "--deterministic and --fork do not go together"
	no_start
}

test_two_forking()
{
	local first
	write_tiny
	"$MMRIG" "${tiny_args[@]}" --fork --runs 2 --json --seed 11 >"$T/out1" 2>"$T/err1" </dev/null &
	first=$!
	expect 0 "${tiny_args[@]}" --fork --runs 2 --json --seed 21
	pid=$first
	finish "$LIMIT"
	[ "$rc" -eq 0 ] || die "the first: exit status $rc: $(head -n 3 "$T/err1")"
	holds "$T/out1" '[.cells[0].runs[] | select(.verdict == "ok" and .forked_from) | .seed] | sort == [11, 12]'
	holds "$T/out" '[.cells[0].runs[] | select(.verdict == "ok" and .forked_from) | .seed] | sort == [21, 22]'
	check_store
}

# The same bits on a busy host, on two kernels. A task of this test keeps one CPU for itself.
test_verify_determinism()
{
	local kernel spinner
	cat >"$T/det.yaml" <<-'YAML'
		name: det
		vm: {memory: 256M, cpus: 2}
		layout:
		  - fill: {kind: anon, leave: {blocks: 60}}
		  - pin: {per: pageblock}
		  - free: {where: pfn % 8 == 4}
		workload: {tmpfs-files: {files: 500}}
	YAML
	(while :; do :; done) &
	spinner=$!
	for kernel in "$KERNEL" "$OLD_KERNEL"; do
		expect 0 run "$T/det.yaml" --verify-determinism --runs 1 --seed 7 --kernel "$kernel" --json
		holds "$T/out" '.cells[0].runs | length == 2 and all(.[]; .verdict == "ok") and
			.[0].metrics == .[1].metrics and .[0].phases == .[1].phases'
		err_has "are the same"
		rm -r "$MMRIG_RESULTS"
	done
	kill "$spinner"
}

# ---- memory that is not there ----

# with_available MIB ARGUMENT...: as try, where /proc/meminfo says that so much is left.
with_available()
{
	unshare -m true 2>/dev/null || skip "cannot make a mount namespace; run as root"
	sed "s/^MemAvailable:.*/MemAvailable: $(($1 * 1024)) kB/" /proc/meminfo >"$T/meminfo"
	rc=0
	timeout -k 5 "$LIMIT" unshare -m sh -c 'mount --bind "$0" /proc/meminfo && exec "$@"' "$T/meminfo" \
		"$MMRIG" "${@:2}" >"$T/out" 2>"$T/err" </dev/null || rc=$?
}

test_fork_tight()
{
	cat >"$T/full.yaml" <<-'YAML'
		name: full
		vm: {memory: 512M, cpus: 1}
		layout:
		  - fill: {kind: anon, leave: {blocks: 40}}
		workload: {tmpfs-files: {files: 100}}
	YAML
	local args=(run "$T/full.yaml" --kernel "$KERNEL" --accel "$ACCEL" --fork --runs 3 --json)
	with_available 512 "${args[@]}"
	[ "$rc" -eq 2 ] || die "exit status $rc, not 2"
	err_has "512 MiB are available"
	no_start
	# The guest fits, but no fork beside its template: then one fork at a time, and all of them.
	with_available 1000 "${args[@]}"
	[ "$rc" -eq 0 ] || die "exit status $rc, not 0: $(head -n 3 "$T/err")"
	holds "$T/out" '.cells[0].runs | length == 3 and all(.[]; .verdict == "ok" and .forked_from == "L1")'
}

# A limit on files is one on a template too.
test_fork_file_limit()
{
	write_tiny
	ulimit -S -f $((64 * 1024))
	expect 4 "${tiny_args[@]}" --fork --runs 2
	err_has "template: cannot create its memory: File too large"
	no_start
	check_store
}

# Forks that do not get their memory: each says why, the template is not to blame.
test_fork_no_memory()
{
	write_tiny
	cat >"$T/qemu" <<-'SH'
		#!/bin/bash
		case " $* " in *" -incoming "*) ulimit -v 200000 ;; esac
		exec qemu-system-x86_64 "$@"
	SH
	chmod +x "$T/qemu"
	expect 4 "${tiny_args[@]}" --fork --runs 2 --jobs 1 --qemu "$T/qemu" --json
	holds "$T/out" '.cells[0].runs | length == 2 and all(.[]; .verdict == "infra" and
		.forked_from == "L1" and (.why | contains("annot allocate memory") or contains("set up guest memory")))'
	check_store
}

# ---- a guest that misbehaves ----

# bad_is KIND JQ-EXPRESSION: the run with this constant.
bad_is()
{
	holds "$T/out" '.cells[] | select(.variant.bad == $bad) | .runs[0] | '"$2" --argjson bad "$1"
}

test_bad_frames()
{
	use_bad_agent
	expect 1 "${bad_args[@]}" --jobs 2 --json \
		--set bad=$CRC,$LENGTH,$TYPE,$GAP,$JSON,$HALF,$EARLY_END
	for bad in $CRC $LENGTH $GAP; do
		bad_is "$bad" '.verdict == "infra" and (.why | contains("the wire lost"))'
	done
	bad_is $TYPE '.verdict == "ok"'
	bad_is $JSON '.verdict == "ok" and (.metrics | has("nan") or has("../a") | not)'
	bad_is $HALF '.verdict == "stall" and (.why | startswith("workload not done within"))'
	bad_is $EARLY_END '.verdict == "infra" and (.why | contains("before the end of the workload"))'
	check_store
}

# peak_kib: the most that mmrig has held, read until its end; to $peak.
watch_peak()
{
	local now
	peak=0
	until is_gone "$pid"; do
		now=$(awk '$1 == "VmHWM:" { print $2 }' "/proc/$pid/status" 2>/dev/null) || true
		[ "${now:-0}" -le "$peak" ] || peak=$now
		sleep 0.2
	done
	finish 5
}

# log_is_bounded FILE: head, tail, and a line between them.
log_is_bounded()
{
	[ "$(stat -c %s "$1")" -le $((3 * 1024 * 1024 + 1024)) ] || die "$1 has $(stat -c %s "$1") bytes"
}

test_wire_flood()
{
	local file
	use_bad_agent
	begin "${bad_args[@]}" --jobs 2 --json --set bad=$NOISE,$LOGS,$SAMPLES,$CONSOLE
	watch_peak
	[ "$rc" -eq 1 ] || die "exit status $rc, not 1"
	[ "$peak" -lt $((192 * 1024)) ] || die "mmrig took $peak KiB"
	for bad in $NOISE $LOGS $CONSOLE; do
		bad_is "$bad" '.verdict == "stall" and (.why | startswith("workload not done within"))'
	done
	bad_is $SAMPLES '(.verdict == "infra" and (.why | contains("more samples than"))) or .verdict == "stall"'
	for file in "$MMRIG_RESULTS"/*/*/samples.zst; do
		[ "$(stat -c %s "$file")" -le $((66 * 1024 * 1024)) ] || die "$file: $(stat -c %s "$file") bytes"
	done
	for file in "$MMRIG_RESULTS"/*/*/console.log; do
		log_is_bounded "$file"
	done
	check_store
}

# What a template says is kept in memory for its forks: not without end.
test_template_flood()
{
	use_bad_agent
	try "${bad_args[@]}" --fork --runs 1 --json --set bad=$LOGS --set at=1
	holds "$T/out" '.cells[0].runs[0] | (.verdict == "infra" and (.why | contains("more than 32 MiB"))) or
		(.verdict == "stall" and (.why | startswith("layout not done")))'
	[ "$rc" -eq 4 ] || [ "$rc" -eq 1 ] || die "exit status $rc"
	check_store
}

test_console_gib()
{
	use_bad_agent
	export E2E_FLOOD=1024
	begin "${bad_args[@]}" --json --set limits.boot=60s
	watch_peak
	[ "$rc" -eq 0 ] || die "exit status $rc, not 0: $(tail -n 1 "$T/err")"
	[ "$peak" -lt $((96 * 1024)) ] || die "mmrig took $peak KiB"
	log_is_bounded "$(run_folder 0001)/console.log"
	check_store
}

# said_last FOLDER: it was asked what it is doing, and answered.
said_last()
{
	local words
	for words in "sysrq: Show Memory" "sysrq: Show Blocked State" "sysrq: Show State" "Mem-Info:"; do
		grep -qa "$words" "$1/console.log" || die "${1##*/}: no \"$words\" on the console"
	done
	holds "$1/run.json" '.detail | contains("CPU#0") and contains("RIP=")'
}

# Silent guests of three kinds: one that beats and does not go on, one that does nothing, and one
# that never says hello.
test_last_words()
{
	local early
	use_bad_agent
	mkdir "$T/early"
	MMRIG_RESULTS=$T/early "$MMRIG" "${bad_args[@]}" --json --set bad=$HANG --set at=0 \
		--set limits.boot=6s >"$T/early.out" 2>"$T/early.err" </dev/null &
	early=$!
	expect 1 "${bad_args[@]}" --jobs 2 --json --set bad=$HANG,$IDLE --set limits.silence=1s \
		--set limits.workload=4s
	bad_is $IDLE '.verdict == "stall" and (.why | startswith("workload: no progress for"))'
	bad_is $HANG '.verdict == "stall"'
	for run in 0001 0002; do
		said_last "$(run_folder $run)"
		# What it answers is no report of a fault.
		run_is $run '.splats == null or (.splats | length) == 0'
	done
	pid=$early
	finish 60
	[ "$rc" -eq 4 ] || die "exit status $rc, not 4"
	holds "$T/early.out" '.cells[0].runs[0] | .verdict == "boot-timeout" and (.why | contains("no hello"))'
	export MMRIG_RESULTS=$T/early
	said_last "$(run_folder 0001)"
}

# ---- QEMU killed from outside ----

# lost_in RUN PHASE
lost_in()
{
	run_is "$1" '.verdict == "guest-lost" and .why == "QEMU was killed by signal 9 in \($phase)"' \
		--arg phase "$2"
}

# killed_everywhere ARGUMENT...: a run for each phase, which it does not leave, and one that is
# left alone. Each QEMU is killed when its run is there; the set goes on.
killed_everywhere()
{
	local i
	use_bad_agent
	begin run "$BAD" --kernel "$KERNEL" --jobs 2 --json --set bad=$IDLE --set at=0,1,2,3,4,9 --set dwell=0 \
		--set limits.layout=20s --set limits.settle=20s --set limits.workload=20s \
		--set limits.collect=20s "$@"
	for i in 0 1 2 3 4; do
		kill_in "000$((i + 1))" "${phases[i]}"
	done
	finish 60
	[ "$rc" -eq 4 ] || die "exit status $rc, not 4"
	for i in 0 1 2 3 4; do
		lost_in "000$((i + 1))" "${phases[i]}"
	done
	run_is 0006 '.verdict == "ok"'
	check_store
}

test_lost_plain()
{
	killed_everywhere --accel "$ACCEL"
}

test_lost_deterministic()
{
	killed_everywhere --deterministic
}

# Two groups of four. In the first the template's QEMU is killed in boot, in layout, and while it is
# being saved; in the second a fork's: one freezes at its start and never is restored, one is killed
# there.
test_lost_fork()
{
	use_bad_agent
	# Four templates and a fork are the first group and a sixth start the second one's template.
	export E2E_FREEZE_AT=7 E2E_KILL_AT=8
	begin "${bad_args[@]}" --fork --layouts 2 --runs 8 --jobs 1 --json
	kill_in 0001 boot
	kill_in 0002 layout
	# mmrig reads READY only once QEMU can answer no more.
	await 90 "the third layout" in_phase 0003 layout
	kill -STOP "$pid"
	qemu_of "$pid" || die "no QEMU"
	sleep 2.5
	kill -STOP "$qemu"
	kill -CONT "$pid"
	sleep 1
	kill -KILL "$qemu"
	kill_in 0007 settle
	kill_in 0008 workload
	finish 60
	[ "$rc" -eq 4 ] || die "exit status $rc, not 4"
	lost_in 0001 boot
	lost_in 0002 layout
	run_is 0003 '.verdict == "infra" and (.why | contains("cannot be saved"))'
	run_is 0004 '.verdict == "ok"'
	run_is 0005 '.verdict == "infra" and (.why | contains("cannot be restored"))'
	run_is 0006 '.verdict == "infra" and (.why | contains("signal 9"))'
	lost_in 0007 settle
	lost_in 0008 workload
	check_store
}

# A QEMU that was stopped from outside is no guest that stalls: in boot, in a phase of a guest of its
# own, and in a fork that was restored.
test_frozen()
{
	local run
	use_bad_agent
	begin "${bad_args[@]}" --fork --runs 2 --jobs 1 --json --set bad=$IDLE --set at=3 \
		--set limits.boot=4s
	await 90 "the first run in boot" in_phase 0001 boot
	qemu_of_run 0001 || die "no QEMU"
	kill -STOP "$qemu"
	await 90 "the second run in workload" in_phase 0002 workload
	qemu=$(tail -n 1 "$E2E_STARTS")
	kill -STOP "$qemu"
	finish 90
	[ "$rc" -eq 4 ] || die "exit status $rc, not 4"
	for run in 0001 0002; do
		run_is $run '.verdict == "infra" and (.why | contains("QEMU did not answer"))'
	done
	check_store
}

# ---- mmrig ended and stopped ----

# start_one NAME ARGUMENT...: mmrig in the background, with results of its own name in one folder.
start_one()
{
	"$MMRIG" "${bad_args[@]}" --jobs 1 "${@:2}" >"$T/$1.out" 2>"$T/$1.err" </dev/null &
	pids[$1]=$!
}

# set_in_phase PID PHASE: the VM of that mmrig.
set_in_phase()
{
	local folder
	qemu_of "$1" || return 1
	folder=$(tr '\0' '\n' <"/proc/$qemu/cmdline" | sed -n 's,/scratch/initrd$,,p')
	grep -qsa "bad-agent: in $2\." "$folder/console.log"
}

# strike SIGNAL NAME PHASE STATUS: and it is gone in a moment, with its VM.
strike()
{
	await 120 "$2 in $3" set_in_phase "${pids[$2]}" "$3"
	kill "-$1" "${pids[$2]}"
	pid=${pids[$2]}
	finish 10
	[ "$rc" -eq "$4" ] || die "$2, SIG$1 in $3: exit status $rc, not $4"
	await 2 "the end of the QEMU of $2 in $3" is_gone "$qemu"
}

# All in one folder of results, four at a time; none leaves its phase by itself.
test_signals()
{
	local i phase stay
	local -A pids=()
	use_bad_agent
	for i in 0 1 2 3 4; do
		phase=${phases[i]}
		stay=(--set "bad=$IDLE" --set "at=$i" --set dwell=0 --set limits.boot=60s)
		stay+=(--set "limits.$phase=60s")
		start_one term "${stay[@]}"
		start_one int --fork "${stay[@]}"
		start_one kill "${stay[@]}"
		start_one kill_fork --fork "${stay[@]}"
		strike TERM term "$phase" 130
		strike INT int "$phase" 130
		strike KILL kill "$phase" 137
		strike KILL kill_fork "$phase" 137
	done
	# The next start takes away what the killed ones could not.
	expect 0 "${bad_args[@]}" --json
	holds "$T/out" '.cells[0].runs[0].verdict == "ok"'
	check_store
	"$MMRIG" results list --json >"$T/list.json" || die "results list"
	holds "$T/list.json" '.runsets | [.[].verdicts | .interrupted // 0] | add == 10'
}

# 10 s of sleep are longer than the limit of any phase here but the boot's, and no fault of the guest.
test_stopped()
{
	local i name phase end=$((SECONDS + 120))
	local -A pids=() left=()
	use_bad_agent
	for i in 0 1 2 3 4; do
		start_one "${phases[i]}" --set limits.boot=30s --set dwell=1500
	done
	start_one fork --fork --set limits.boot=30s --set dwell=1500
	for name in "${phases[@]}" fork; do
		left[$name]=1
	done
	# Each when its time has come, whichever comes first.
	while [ ${#left[@]} -gt 0 ]; do
		[ "$SECONDS" -lt "$end" ] || die "not all came to their phase: ${!left[*]}"
		for name in "${!left[@]}"; do
			phase=$name
			[ "$name" != fork ] || phase=layout
			set_in_phase "${pids[$name]}" "$phase" || continue
			kill -STOP "${pids[$name]}"
			(sleep 10 && kill -CONT "${pids[$name]}") &
			unset "left[$name]"
		done
		sleep 0.05
	done
	for name in "${phases[@]}" fork; do
		pid=${pids[$name]}
		finish 60
		[ "$rc" -eq 0 ] || die "stopped in $name: exit status $rc: $(tail -n 1 "$T/$name.err")"
	done
	check_store
}

# Five busy processes a CPU leave QEMU a sixth of one: its times say nothing, and the run says so.
test_starved()
{
	local i spinners=()
	for ((i = 0; i < 5 * $(nproc); i++)); do
		# A session each: the kernel's autogroups would deal the CPU out by session.
		setsid bash -c 'while :; do :; done' &
		spinners+=($!)
	done
	export MMRIG_ALLOW_STARVED=0
	expect 4 run "$SMALL" --kernel "$KERNEL" --accel "$ACCEL" --json --set limits.boot=300s
	kill "${spinners[@]}"
	holds "$T/out" '.cells[0].runs[0] | .verdict == "infra" and (.why | contains("the host was starved"))'
	run_is 0001 '.host_wait > 0.6'
}
