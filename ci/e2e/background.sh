# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2016,SC2034,SC2154 # dollars of jq; names of the other files
#
# Part of ci/e2e.sh: a workload beside the one that is measured.

background_tests=(background background_ends background_deaf background_fails background_fork background_bad)

# beside STATUS BACKGROUND [MORE-YAML] [ARGUMENT]...: tmpfs-files with that beside it.
beside()
{
	printf '%s\n' "name: beside" "vm: {memory: 512M, cpus: 2}" "workload: {tmpfs-files: {files: 20000, per_dir: 500}}" \
		"background: $2" "metrics: [time, background_seconds]" >"$T/beside.yaml"
	expect "$1" run "$T/beside.yaml" --kernel "$KERNEL" --accel "$ACCEL" --json "${@:3}"
}

# It was at work when the other one began, until that had ended, and told what it had done by then.
test_background()
{
	beside 0 '{workload: {stress-ng: {args: "--vm 1 --vm-bytes 32M"}}, warm_up: 1s}' --runs 1
	holds "$(run_folder 0001)/run.json" '.verdict == "ok" and .metrics.files == 20000 and
		(.workload.background | .workload == "stress-ng" and .stopped == true and
			(.result.metrics | .stress_bogo_ops_vm > 0 and .program_user > 0)) and
		.metrics.background_seconds >= .metrics.time + 1 and
		.metrics.background_program_user == .workload.background.result.metrics.program_user'
	expect 0 results show last
	grep -q 'background_seconds\|background_' "$T/out" || die "the background is not shown"
	verify_store
}

# One that is done before the other has its whole result.
test_background_ends()
{
	beside 0 '{workload: {fio: {args: "--name=a --rw=write --size=1M"}}, warm_up: 10s}' --runs 1
	holds "$(run_folder 0001)/run.json" '.verdict == "ok" and (.workload.background |
		.stopped == false and .seconds < 10 and .result.metrics.fio_write_bw > 0 and (has("failed") | not))'
}

# One that does not heed the word to stop is ended, and does not fail the run.
test_background_deaf()
{
	beside 0 '{workload: {alloc-order: {order: 2, count: 500000, hold: false}}}' --runs 1
	holds "$(run_folder 0001)/run.json" '.verdict == "ok" and (.workload.background |
		.workload == "alloc-order" and .stopped == true and (has("result") | not))'
}

test_background_fails()
{
	beside 1 '{workload: {fio: {args: "--name=a --rw=sideways"}}, warm_up: 20s}' --runs 1
	holds "$T/out" '.cells[0].runs[0] | .verdict == "workload-failed" and
		(.why | startswith("background fio: fio ended with status 1: ") and contains("sideways"))'
}

# Each fork has its own.
test_background_fork()
{
	beside 0 '{workload: {stress-ng: {args: "--vm 1 --vm-bytes 32M"}}, warm_up: 2s}' --runs 2 --fork
	holds "$T/out" '[.cells[].runs[] | select(.verdict == "ok")] | length == 2'
	holds "$(run_folder 0002)/run.json" '.workload.background.result.metrics.stress_bogo_ops_vm > 0'
}

test_background_bad()
{
	beside 2 '{workload: {tmpfs-files: {files: 1}}}'
	err_has 'background is tmpfs-files, as the workload is'
	beside 2 '{workload: {fi: {}}}'
	err_has 'unknown workload "fi"; did you mean fio?'
	beside 2 '{warm_up: 1s}'
	err_has 'background has no workload'
	[ ! -e "$MMRIG_RESULTS" ] || die "something was begun"
}
