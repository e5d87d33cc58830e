# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2016,SC2034,SC2154 # dollars of jq; names of the other files
#
# Part of ci/e2e.sh: programs of the toolbox, and what they must not do.

programs_tests=(fio_job fio_bad stress_met program_oom program_hangs program_forks toolbox_no_room)

# program STATUS WORKLOAD [MORE-YAML]: one run on the main kernel.
program()
{
	printf '%s\n' "name: program" "vm: {memory: 512M, cpus: 2}" "workload: {$2}" "runs: 1" "${@:3}" >"$T/program.yaml"
	expect "$1" run "$T/program.yaml" --kernel "$KERNEL" --accel "$ACCEL" --json
}

# A job file beside the scenario, on a disk, with a seed that is the run's.
test_fio_job()
{
	printf '%s\n' "[global]" "size=4M" "[a]" "rw=randwrite" "end_fsync=1" >"$T/mine.fio"
	program 0 'fio: {job: mine.fio, scratch: 64M}'
	holds "$(run_folder 0001)/run.json" '.verdict == "ok" and .metrics.fio_write_bw > 0 and
		(.metrics | has("fio_read_bw") | not) and .metrics.pgpgout >= 4096'
}

test_fio_bad()
{
	printf '%s\n' "[a]" "rw=sideways" >"$T/mine.fio"
	program 1 'fio: {job: mine.fio}'
	holds "$T/out" '.cells[0].runs[0] | .verdict == "workload-failed" and
		(.why | startswith("fio ended with status 1: ") and contains("sideways"))'
	program 2 'fio: {job: yours.fio}'
	err_has 'yours.fio'
	program 2 'fio: {args: "--name=a '"'"'"}'
	err_has 'a quote that is not closed'
	program 2 'fio: {}'
	err_has 'nothing to do: give args, or job'
}

test_stress_met()
{
	program 0 'stress-ng: {args: "--vm 1 --vm-bytes 32M --vm-ops 200"}'
	holds "$(run_folder 0001)/run.json" '.verdict == "ok" and .metrics.stress_bogo_ops_vm >= 200 and
		.metrics.program_rss > 1000'
}

# The kernel's own word comes first; what the program made of it does not count.
test_program_oom()
{
	program 1 'stress-ng: {args: "--vm 1 --vm-bytes 128M --timeout 20", memory: 32M}'
	holds "$T/out" '.cells[0].runs[0] | .verdict == "splat" and
		(.why | startswith("OOM kill in workload: stress-ng"))'
}

# Asleep for ever: nothing moves, which is a stall.
test_program_hangs()
{
	program 1 'fio: {args: "--name=a --rw=read --size=64k --thinktime=1h --thinktime_blocks=1"}' \
		'limits: {silence: 5s}'
	holds "$T/out" '.cells[0].runs[0] | .verdict == "stall"'
}

test_program_forks()
{
	program 1 'stress-ng: {args: "--fork 8 --fork-max 64 --timeout 30", processes: 30}'
	holds "$T/out" '.cells[0].runs[0] | .verdict == "workload-failed" and
		(.why | contains("had more than 30 processes and threads, its limit, and was ended"))'
}

# Neither the packages nor the image have room.
test_toolbox_no_room()
{
	local part cache=${XDG_CACHE_HOME:-$HOME/.cache}/mmrig
	mkdir -p "$T/cache/mmrig"
	for part in apt kernels accel qemu; do
		[ ! -e "$cache/$part" ] || ln -s "$cache/$part" "$T/cache/mmrig/$part"
	done
	mount_small "$T/cache/mmrig/toolbox" 4M
	XDG_CACHE_HOME=$T/cache program 4 'fio: {args: "--name=a --size=1M"}'
	err_has 'toolbox of fio: '
	err_has 'No space left on device'
	[ -z "$(find "$T/cache/mmrig/toolbox" -mindepth 1 ! -name .lock)" ] || die "something half made was left"
	no_start
}
