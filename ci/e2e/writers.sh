# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2016,SC2034,SC2154 # dollars of jq; names of the other files
#
# Part of ci/e2e.sh: the workload writers. Its series is held against the kernel's own counters.

writers_tests=(writers writers_bad)

# writing STATUS PARAMETERS [OPTION]...
writing()
{
	{
		echo "name: writing"
		echo "vm: {memory: 512M, cpus: 2}"
		echo "workload: {writers: {$2}}"
		echo "metrics: [stream_throughput, run_queue]"
		echo "profile: true"
	} >"$T/writing.yaml"
	rm -rf "$MMRIG_RESULTS"
	expect "$1" run "$T/writing.yaml" --runs 1 --kernel "$KERNEL" --accel "$ACCEL" "${@:3}"
}

test_writers()
{
	local run written
	writing 0 "streams: 4, seconds: 8, buffer: 2M, size: 256M" --kernel "$OLD_KERNEL"
	for run in 0001 0002; do
		holds "$(run_folder $run)/run.json" '.verdict == "ok" and .no_effect == null and
			(.workload.series | (.rows | length) == 8 and (.columns | length) == 17 and
				all(.rows[]; length == 17 and (.[10:15] | add) > 95 and (.[10:15] | add) < 105)) and
			(.metrics | .stream_throughput > 0 and .run_queue_max >= .run_queue and
				.thp_fault_alloc > 0 and .system_share > 0 and .system_share <= 100)'
		# What the processes say they wrote is what the kernel saw become dirty.
		written=$(jq '[.workload.series.rows[][16]] | add * 256 | floor' "$(run_folder $run)/run.json")
		within "$(raw_delta "$(run_folder $run)" nr_dirtied)" "$written" $((written / 3 + 2048)) ||
			die "run $run: $written pages were written"
	done
	# Of some 80 looks at two CPUs each; a busy guest is in the kernel, and names are those of its own.
	for run in 0001 0002; do
		holds "$(run_folder $run)/run.json" '.profile | .samples >= 30 and .locks <= .samples and
			(.top | length) >= 5 and ([.top[].samples] | add) <= .samples and
			([.top[] | select(.symbol | test("^[a-z_]")) | .samples] | add) > .samples / 3'
	done
	grep -q 'all waits for locks' "$T/out" || die "no hot functions"
	[ "$(grep -c '^ *s *r *b *free' "$T/out")" -eq 2 ] || die "no series of both kernels"
	expect 0 report last -o "$T/report.html"
	grep -q 'Second by second' "$T/report.html" || die "no series in the report"
}

test_writers_bad()
{
	writing 2 "buffer: 3M"
	err_has "buffer is 3M: it must be whole huge pages of 2M"
	writing 2 "streams: 100, buffer: 4M"
	err_has "100 streams with buffers of 4M are more than half of the guest's 512M"
	writing 2 "streams: 40, size: 128M"
	err_has "no room for a file of 4M for each of 40 streams"
	writing 2 "seconds: 5" --deterministic
	err_has "--set profile=false"
	writing 2 "seconds: 1000"
	err_has "seconds"
	no_start
}
