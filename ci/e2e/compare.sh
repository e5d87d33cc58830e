# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2016,SC2034,SC2154 # dollars of jq; names of the other files
#
# Part of ci/e2e.sh: what is made of stored runs. The numbers are checked against jq's own.

compare_tests=(compare_forms compare_mismatch export_import)

# median FILTER FILE...: of what the filter gives for the runs.
median()
{
	jq -s "[.[] | $1] | sort | (.[(length - 1) / 2 | floor] + .[length / 2 | floor]) / 2" "${@:2}"
}

# The run.json of a variant, by the text of its label.
runs_of()
{
	local file
	for file in "$MMRIG_RESULTS"/*-*/*/run.json; do
		jq -e --arg which "$1" '.variant.label == $which' "$file" >/dev/null && echo "$file"
	done
}

# One boot a run: two variants that differ in how much they do.
test_compare_forms()
{
	local form base head few many
	small 0 --set files=2000,20000 --runs 4
	out_has "against files=2000"
	mapfile -t few < <(runs_of files=2000)
	mapfile -t many < <(runs_of files=20000)
	[ "${#few[@]},${#many[@]}" = 4,4 ] || die "${#few[@]} and ${#many[@]} runs"

	expect 0 compare last --json --metric time --metric pgalloc_dma32
	cp "$T/out" "$T/compare.json"
	holds "$T/out" '.by == "variant" and .columns == ["files=2000", "files=20000"] and .tests == 2'
	for base in time pgalloc_dma32; do
		holds "$T/out" '.sections[0].metrics[] | select(.name == $name) | .columns |
			.[0].median == $few and .[1].median == $many and .[1].n == 4' --arg name $base \
			--argjson few "$(median ".metrics.$base" "${few[@]}")" \
			--argjson many "$(median ".metrics.$base" "${many[@]}")"
	done
	# Every run of the one above every run of the other: 2 / C(8, 4), here of one test.
	expect 0 compare last --json --metric files
	holds "$T/out" '.sections[0].metrics[0].columns[1] | .shift.estimate == 18000 and .delta == 1 and
		(.p - 2 / 70 | fabs) < 1e-12 and .p_adjusted == .p and .outcome == "better"'
	# An interval of the shift holds the shift.
	holds "$T/compare.json" 'all(.sections[0].metrics[].columns[1].shift;
		.low <= .estimate and .estimate <= .high)'

	for form in lkml mmtests markdown csv json stalls highalloc defrag thpscale kselftest buddy; do
		expect 0 compare last --format $form
		[ -s "$T/out" ] || die "nothing was printed as $form"
		! grep -qiE '(^|[^a-z])-?(nan|inf)([^a-z]|$)' "$T/out" || die "NaN in $form"
		! grep -q $'\033' "$T/out" || die "an escape in $form"
	done
	expect 0 compare last --format lkml
	[ "$(awk '{ print length }' "$T/out" | sort -n | tail -n 1)" -le 78 ] || die "wider than 78 columns"
	expect 0 compare last --format defrag
	grep -qE '^Compact daemon scanned migrate +[0-9.]+ \( +\+0\.00%\) ' "$T/out" || die "no row of the post"
	expect 0 compare last --format buddy
	grep -qE '^Node 0, zone +DMA32( +[0-9]+){11}$' "$T/out" || die "no row of buddyinfo"
	expect 0 compare last --format csv --all
	[ "$(wc -l <"$T/out")" -gt 200 ] || die "few rows with --all"

	# Told by the exit status where that is wanted.
	expect 0 compare last --metric files --exit-code
	expect 1 compare last --metric files --exit-code --baseline files=20000
	# A column whose runs splat is no good column, however good the numbers of the others are.
	jq '.verdict = "splat"' "${many[3]}" >"$T/edited" && cp "$T/edited" "${many[3]}"
	"$MMRIG" results rebuild >"$T/rebuild" 2>&1 || true
	expect 1 compare last --metric files --exit-code
	out_has "1 of 4 (files=20000): 1 splat"
	expect 0 compare last --metric files --exit-code --by files --baseline files=20000 --margin 100
	# What is no file stays what it is.
	mkfifo "$T/fifo"
	ln -s "$T/nowhere" "$T/link"
	for form in fifo link; do
		expect 2 report last -o "$T/$form"
		expect 2 results export last -o "$T/$form"
		[ ! -f "$T/$form" ] || die "a file in place of $form"
	done

	expect 2 compare last --by residue
	err_has "no such axis"
	expect 2 compare last --metric allocstal
	err_has "did you mean allocstall?"
	expect 2 compare last --format lklm
	err_has "did you mean lkml?"
	expect 2 compare last last
	err_has "one run set"
	expect 2 compare nothing
}

test_compare_mismatch()
{
	local first second
	small 0 --runs 2 --fork
	first=$("$MMRIG" results list | awk 'NR == 1 { print $1 }')
	small 0 --runs 2 --fork --memory 640M
	second=$("$MMRIG" results list | awk 'NR == 1 { print $1 }')
	expect 2 compare "$first" "$second"
	err_has "memory: 512M ($first), 640M ($second)"
	err_has "--by memory"
	expect 0 compare "$first" "$second" --by memory
	out_has "against 512M"
	# One layout a side says nothing of others, whatever the numbers are.
	expect 3 compare "$first" "$second" --by memory --exit-code
	expect 0 compare "$first" "$second" --force
	out_has "warning: forced, the runs differ in memory"
	out_has "one layout or seed on a side"
}

# From one store to another, and the same table there; the report, and a byte that turned over.
test_export_import()
{
	local id folder
	small 0 --set files=2000,4000 --runs 2
	id=$("$MMRIG" results list | awk 'NR == 1 { print $1 }')
	expect 0 compare last --all --format csv
	cp "$T/out" "$T/here.csv"
	expect 0 results export last -o "$T/set.tar.zst"
	(cd "$MMRIG_RESULTS/$id/0001" && sha256sum -c --quiet checksums) || die "sha256sum -c"

	export MMRIG_RESULTS="$T/other store"
	expect 0 results import "$T/set.tar.zst"
	expect 0 compare "$id" --all --format csv
	cmp "$T/out" "$T/here.csv" || die "another table after the import"
	expect 0 results import "$T/set.tar.zst"
	expect 0 results verify
	expect 0 report last -o "$T/page.html"
	grep -q '<h1>' "$T/page.html" || die "no page"
	! grep -qE '<script|src="?http|href="?http' "$T/page.html" || die "the page is not self-contained"
	grep -q 'Pageblocks before the workload' "$T/page.html" || die "no map of pageblocks"

	folder="$MMRIG_RESULTS/$id/0001"
	printf 'X' | dd of="$folder/console.log" bs=1 seek=100 conv=notrunc status=none
	expect 4 results verify
	out_has "$id/0001/console.log"

	# A samples.zst that nobody ever writes must not hold up anything.
	rm "$MMRIG_RESULTS/$id/0002/samples.zst"
	mkfifo "$MMRIG_RESULTS/$id/0002/samples.zst"
	expect 4 results verify
	out_has "no regular file"

	head -c 5000 "$T/set.tar.zst" >"$T/cut.tar.zst"
	export MMRIG_RESULTS="$T/third"
	expect 2 results import "$T/cut.tar.zst"
	[ -z "$(find "$T/third" -mindepth 1 -maxdepth 1 -name '2*' -o -name '.2*')" ] ||
		die "something of a cut archive was left"
}
