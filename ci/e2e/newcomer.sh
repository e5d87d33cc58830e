# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2016,SC2034,SC2154 # dollars of jq; names of the other files
#
# Part of ci/e2e.sh: what workloads/template/README.md says, on a copy of the tree.

newcomer_tests=(new_workload)

# The commands of the page, with another name; in the copy nothing else is touched.
test_new_workload()
{
	local top=$here/.. commands
	mkdir "$T/tree"
	cp -a "$top"/{Makefile,guest,harness,results,workloads,ci} "$T/tree"
	[ ! -d "$top/build" ] || cp -a "$top/build" "$T/tree"
	commands=$(sed -n 's/^    //p' "$top/workloads/template/README.md" | sed 's/mine/newcomer/g; s/ && build\/mmrig .*//')
	[ "$(wc -l <<<"$commands")" -eq 3 ] || die "the page has not the three lines of commands: $commands"
	(cd "$T/tree" && bash -ec "$commands") >"$T/make" 2>&1 || die "it does not build: $(tail -n 3 "$T/make")"
	MMRIG=$T/tree/build/mmrig expect 0 run newcomer --kernel "$KERNEL" --accel "$ACCEL" --json
	holds "$T/out" '.cells[0].runs[0] | .verdict == "ok" and .metrics.time > 0'
	holds "$(run_folder 0001)/run.json" '.workload.metrics.touch_median > 0 and .no_effect == null and
		(.workload.histogram | map(.[2]) | add) == 10000'
}
