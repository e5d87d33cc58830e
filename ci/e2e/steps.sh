# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2016,SC2034,SC2154 # dollars of jq; names of the other files
#
# Part of ci/e2e.sh: steps of a layout, held against what the guest's kernel itself says.

steps_tests=(steps_memory steps_shape steps_mix steps_pipes steps_fills steps_named steps_shipped steps_small
	steps_cma steps_reserve steps_check steps_check_off steps_import)

# with_layout YAML-OF-THE-STEPS: a scenario of 1 GiB, run on both kernels; folders in $folders.
with_layout()
{
	local kernel
	printf '%s\n' 'name: steps' 'vm: {memory: 1G, cpus: 2}' 'constants: {spare: 8}' "$1" \
		'workload: {tmpfs-files: {files: 500}}' 'runs: 1' >"$T/steps.yaml"
	folders=()
	for kernel in "$KERNEL" "$OLD_KERNEL"; do
		expect 0 run "$T/steps.yaml" --kernel "$kernel" --accel "$ACCEL" --json
		folders+=("$(settled_folder "$MMRIG_RESULTS/$(jq -r .runset "$T/out")/0001")")
	done
}

# What the agent and its children need besides what they lay out, their text included: at most 8 bytes
# a page of the guest and 4 MiB.
test_steps_memory()
{
	local folder managed used
	with_layout 'layout: [compact: {}]'
	for folder in "${folders[@]}"; do
		managed=$(samples "$folder/samples.zst" workload begin zoneinfo |
			awk '$1 == "managed" { n += $2 } END { print n }')
		used=$(samples "$folder/samples.zst" workload begin vmstat |
			awk '$1 == "nr_anon_pages" || $1 == "nr_mapped" { n += $2 } END { print n }')
		[ $((used * 4096)) -le $((managed * 8 + 4 * 1024 * 1024)) ] ||
			die "$folder: the agent has $used pages in a guest of $managed"
	done
}

# The workload has not begun: what is free then is what the layout left.
test_steps_shape()
{
	local folder
	with_layout 'layout: [shape: {order0: 6000, order2: 1500, order5: 100, order9: 20, order10: 4}]'
	for folder in "${folders[@]}"; do
		samples "$folder/samples.zst" layout end buddyinfo | awk '
			BEGIN { want[0] = 6000; want[2] = 1500; want[5] = 100; want[9] = 20; want[10] = 4 }
			{ for (i = 5; i <= NF; i++) have[i - 5] += $i }
			END {
				for (k = 0; k <= 10; k++) {
					pages += want[k] * 2 ^ k
					off = (have[k] - want[k]) * 2 ^ k
					if (off > 0) more += off; else less -= off
				}
				exit (more > less ? more : less) > pages * 0.08
			}' || die "$folder: $(samples "$folder/samples.zst" layout end buddyinfo)"
		holds "$folder/run.json" '.layout[0] | .ok and .got.distance <= 0.05 and .tolerance == 0.05 and
			(.error - .got.distance | fabs) < 0.0001'
	done
}

# ends_mixed FOLDER: the last word on the mix steps, within 2 % of all pageblocks; the map says the same.
ends_mixed()
{
	holds "$1/run.json" '.layout[-1] | .step == "mixed" and .ok and
		.asked.type_unmovable > 0 and .got.type_unmovable > 0 and .got.type_movable > 0 and
		(.got.unmovable_blocks - .asked.unmovable_blocks | fabs) <= .got.blocks / 50 and
		((.got.reclaimable_blocks - (.asked.reclaimable_blocks // 0)) | fabs) <= .got.blocks / 50'
	holds "$1/run.json" '.layout[-1].got | .unmovable_blocks + .reclaimable_blocks == $map' \
		--argjson map "$(unmovable_blocks "$1" 1)"
}

test_steps_mix()
{
	local folder
	with_layout 'layout:
  - fill: {leave: 20%}
  - mix: {share: 30%, how: pagetables}
  - mix: {share: 20%, kind: reclaimable}
  - mix: {share: 5%}'
	for folder in "${folders[@]}"; do
		holds "$folder/run.json" 'all(.layout[]; .ok == true)'
		# 1 GiB are 512 blocks, some of which the kernel has had from the start; they count.
		holds "$folder/run.json" '.layout[1] | .asked.blocks == 154 and .got.of == 512 and
			(.got.blocks - 154 | fabs) <= 10 and .got.before >= 20 and .got.before <= 80 and
			.got.taken == .got.chosen and .got.chosen <= 154 - .got.before'
		holds "$folder/run.json" '.layout[2] | .asked.blocks == 102 and (.got.blocks - 102 | fabs) <= 10'
		# The guest has more than that: told, and no fault.
		holds "$folder/run.json" '.layout[3] | .asked.blocks == 26 and .got.blocks == .got.before and
			.got.blocks >= 144 and .got.pages == 0 and (.how | contains("none made"))'
		# A table a block at least, by the kernel's own count.
		holds "$folder/run.json" '.layout[1].got.taken <= $after - $before' \
			--argjson before "$(level "$folder" begin nr_page_table_pages)" \
			--argjson after "$(level "$folder" end nr_page_table_pages)"
		holds "$folder/run.json" '.layout[2].got.taken <= $after - $before' \
			--argjson before "$(level "$folder" begin nr_slab_reclaimable)" \
			--argjson after "$(level "$folder" end nr_slab_reclaimable)"
		holds "$folder/run.json" '.layout[-1] | .ok and .asked.unmovable_blocks == 26'
	done
}

# Pages of pipes have no flag and are in no counter: the map of the pageblocks says how many blocks have
# got four pages that cannot be moved, against a guest without them. That differs by up to 8 from one
# boot to the next.
test_steps_pipes()
{
	local folder before=() n=0
	with_layout 'layout: [fill: {leave: 20%}]'
	for folder in "${folders[@]}"; do
		before+=("$(unmovable_blocks "$folder" 4)")
	done
	with_layout 'layout:
  - fill: {leave: 20%}
  - mix: {share: 30%, how: pipes, per_block: 4}
  - mix: {share: 35%, how: pipes}'
	for folder in "${folders[@]}"; do
		holds "$folder/run.json" 'all(.layout[]; .ok == true)'
		holds "$folder/run.json" '.layout[1] | (.got.blocks - .asked.blocks | fabs) <= 10 and
			.asked.blocks == 154 and .got.pages >= 4 * .got.taken'
		# Blocks of the first are none that the second may choose.
		holds "$folder/run.json" '[.layout[1, 2].got] | .[1].candidates <= .[0].candidates - .[0].taken / 2'
		# Those of the second have one such page at least, and slab that came with it.
		holds "$folder/run.json" '$after - $before >= .layout[1].got.taken - 12 and
			$after - $before <= .layout[2].got.blocks - .layout[1].got.before + 12' \
			--argjson before "${before[n++]}" --argjson after "$(unmovable_blocks "$folder" 4)"
		holds "$folder/run.json" '.layout[-1].asked.unmovable_blocks == 179'
		ends_mixed "$folder"
	done
	expect 2 run "$T/steps.yaml" --kernel "$KERNEL" --set layout.1.mix.order=1
	err_has "order goes with packet alone"
	expect 2 run "$T/steps.yaml" --kernel "$KERNEL" --set layout.1.mix.kind=reclaimable
	err_has "pipes and pagetables give unmovable pages"
}

# unmovable_blocks FOLDER N: the pageblocks with at least N unmovable pages when the layout stands.
unmovable_blocks()
{
	samples "$1/samples.zst" layout end pageblocks |
		awk -v least="$2" '$1 != "pageblocks" && $5 >= least { n++ } END { print n + 0 }'
}

# level FOLDER EDGE PREFIX: of /proc/vmstat, at an edge of the layout.
level()
{
	samples "$1/samples.zst" layout "$2" vmstat | awk -v key="$3" 'index($1, key) == 1 { n += $2 } END { print n }'
}

# Each kind of memory grows by 100 MiB, and its own counter says so.
test_steps_fills()
{
	local folder pair
	with_layout 'layout:
  - fill: {kind: file, leave: memory * 6 / 10}
  - fill: {kind: shmem, leave: memory * 5 / 10}
  - fill: {kind: hugetlb, leave: memory * 4 / 10}
  - fill: {kind: slab, leave: memory * 38 / 100}
  - reclaim: {bytes: 40M}'
	for folder in "${folders[@]}"; do
		holds "$folder/run.json" 'all(.layout[]; .ok == true)'
		for pair in nr_shmem:24000 nr_slab_:4000 nr_inactive_file:30000; do
			holds "$folder/run.json" '$after - $before >= $least' \
				--argjson before "$(level "$folder" begin "${pair%:*}")" \
				--argjson after "$(level "$folder" end "${pair%:*}")" \
				--argjson least "${pair#*:}"
		done
		samples "$folder/samples.zst" layout end meminfo |
			awk '$1 == "HugePages_Total:" { exit !($2 >= 48 && $2 <= 54) }' ||
			die "HugePages_Total is not about 51"
		holds "$folder/run.json" '.layout[4].got.pages >= 10240'
	done
}

# A layout by its name; its pins stand at the end.
test_steps_named()
{
	local folder
	with_layout 'layout: alias'
	for folder in "${folders[@]}"; do
		holds "$folder/run.json" '[.layout[].step] == ["fill", "pin", "free", "fill", "proof", "pins"]'
		holds "$folder/run.json" '.layout[5] | .ok and .got.pins > 100 and .got.moved == 0'
		holds "$folder/run.json" '.layout[3].asked.leave_blocks == 8'
	done
	expect 2 run "$T/steps.yaml" --kernel "$KERNEL" --set layout=alais
	sed -i 's/layout: alias/layout: alais/' "$T/steps.yaml"
	expect 2 run "$T/steps.yaml" --kernel "$KERNEL"
	err_has 'unknown layout "alais"; did you mean alias?'
}

# Every layout that has a name, on both kernels: built, and asked against got by the guest itself.
test_steps_shipped()
{
	local layout kernel name
	for layout in "$here"/../workloads/layouts/*.yaml; do
		name=$(basename "$layout" .yaml)
		cat >"$T/$name.yaml" <<-END
			name: $name
			vm: {memory: 1G, cpus: 2}
			layout: $name
			workload: {tmpfs-files: {files: 100}}
		END
		for kernel in "$KERNEL" "$OLD_KERNEL"; do
			# The older one has no such areas: steps_cma.
			[ "$name $kernel" != "cma $OLD_KERNEL" ] || continue
			expect 0 layout check "$T/$name.yaml" --kernel "$kernel" --accel "$ACCEL" -o "$T/$name.svg"
			grep -qE "^$name, .*: ok" "$T/out" || die "$name on $kernel: $(head -n 1 "$T/out")"
			grep -qE '^ +[0-9]+  [.mMuUpP ]{8}' "$T/out" || die "$name: no map of pageblocks"
			grep -q '</svg>' "$T/$name.svg" || die "$name: no picture"
		done
	done
	expect 2 layout check "$SMALL" --set layout.0.fill.kind=nothing
}

# What is free stands in the area, by zoneinfo and by the map of the pageblocks; the area is as large as
# asked, by meminfo. Of 1 GiB: spare 72 MiB, area (36 + 1) * 4 MiB = 148 MiB = 37888 pages.
test_steps_cma()
{
	local folder
	cat >"$T/cma.yaml" <<-'END'
		name: cma
		vm: {memory: 1G, cpus: 2}
		layout: cma
		workload: {tmpfs-files: {files: 100}}
		runs: 1
	END
	expect 0 run "$T/cma.yaml" --kernel "$KERNEL" --accel "$ACCEL" --json
	folder=$(run_folder 0001)
	holds "$folder/run.json" 'all(.layout[]; .ok == true) and
		(.layout[1] | .step == "free" and .got.cma_pages == 37888 and .got.cma_free_pages > 37000 and
		(.got.cma_free_pages - .asked.cma_free_pages | fabs) <= 37888 / 50)'
	samples "$folder/samples.zst" layout end meminfo |
		awk '$1 == "CmaTotal:" { total = $2 } $1 == "CmaFree:" { free = $2 }
			END { exit !(total == 148 * 1024 && free > 144 * 1024) }' || die "CmaTotal or CmaFree"
	# Beside the area no more than the watermarks take, and the layout asked for.
	samples "$folder/samples.zst" layout end zoneinfo |
		awk '$1 == "nr_free_cma" { cma += $2 } $1 == "pages" && $2 == "free" { free += $3 }
			END { exit !(cma > 37000 && cma < 37889 && free - cma < 80 * 256) }' || die "nr_free_cma"
	# What is unmovable has no place there, so that the area is whole: 74 blocks.
	expect 0 layout check cma --set area=128M --memory 1G --kernel "$KERNEL" --accel "$ACCEL" --quiet --json
	holds "$T/out" '.cells[0].runs[0] | .verdict == "ok" and .layout[1].got.cma_pages == 32768 and
		.pageblocks.blocks["wholly free"] > 40'
	expect 2 layout check sparse --set layout.1.free.where=cma --kernel "$KERNEL"
	err_has "cma is never true: cma is 0 in a guest without vm: {cma: SIZE}"
	expect 4 layout check cma --memory 1G --kernel "$OLD_KERNEL" --accel "$ACCEL" --quiet --json
	holds "$T/out" '.cells[0].runs[0] | .verdict == "unsupported" and
		(.why | contains("a CMA area of 148M (CONFIG_DMA_CMA)"))'
}

# As many as asked for, and still there when all else is full, by the kernel's own table.
test_steps_reserve()
{
	local folder
	with_layout 'layout: {use: highatomic, with: {blocks: 4}}'
	for folder in "${folders[@]}"; do
		holds "$folder/run.json" 'all(.layout[]; .ok == true) and
			(.layout[0] | .step == "reserve" and .got.blocks == 4 and .got.before == 0)'
		samples "$folder/samples.zst" layout end pagetypeinfo | awk '
			/^Number of blocks type/ { for (i = 5; i <= NF; i++) if ($i == "HighAtomic") at = i; next }
			at && /^Node/ { n += $at }
			END { exit n != 4 }' || die "$folder: not 4 blocks of type HighAtomic"
		# The watermarks are what they were, but for what is worked out again: memory that came after
		# the boot counts then.
		holds "$folder/run.json" '($before - $after | fabs) <= 64 and $before > 5000' \
			--argjson before "$(marks "$folder" begin)" --argjson after "$(marks "$folder" end)"
	done
	expect 2 layout check highatomic --set blocks=7 --memory 1G --kernel "$KERNEL"
	err_has "blocks is 7: reserve: blocks is 7, and the kernel keeps no more than 1% of a zone, 6 pageblocks of 1G"
}

# marks FOLDER EDGE: low watermarks and lowmem_reserve of all zones at an edge of the layout.
marks()
{
	samples "$1/samples.zst" layout "$2" zoneinfo | awk '$1 == "low" { n += $2 }
		$1 == "protection:" { sub(/\)/, "", $NF); n += $NF } END { print n }'
}

# In so small a guest the kernel switches huge pages off by itself, and a fill with them needs them.
test_steps_small()
{
	local layout
	for layout in sparse checkerboard; do
		cat >"$T/$layout.yaml" <<-END
			name: $layout
			vm: {memory: 512M, cpus: 2}
			layout: $layout
			workload: {tmpfs-files: {files: 100}}
			runs: 1
		END
		expect 0 run "$T/$layout.yaml" --kernel "$KERNEL" --accel "$ACCEL" --json
		# Whole blocks to the block, and the watermarks are those from before.
		holds "$(run_folder 0001)/run.json" 'all(.layout[]; .ok == true) and
			([.layout[] | select(.step == "fill")] | last.got.leave_blocks == 4 and
			(last.got.low_watermark_pages - first.got.low_watermark_pages | fabs) <= 64)'
		rm -r "$MMRIG_RESULTS"
	done
}

# A layout by its name alone: its constants, its map, and one document.
test_steps_check()
{
	expect 0 layout check sparse --set step=8 --memory 512M --kernel "$KERNEL" --accel "$ACCEL" --quiet \
		-o "$T/map.svg" --json
	holds "$T/out" '.scenario == "sparse" and ([.cells[].runs[]] | length) == 1'
	holds "$T/out" '.cells[0].runs[0] | .verdict == "ok" and (.picture | endswith("/map.svg")) and
		.pageblocks.blocks["movable, partly free"] > 100 and all(.layout[]; .ok and .error <= 0.02) and
		[.layout[].step] == ["fill", "free", "fill", "proof"] and all(.layout[]; .tolerance == 0.02)'
	# One page in eight of some 200 blocks of 512.
	holds "$T/out" '.cells[0].runs[0].layout[1].got.pages | . > 10000 and . < 14000'
	grep -q '>sparse, ' "$T/map.svg" || die "the picture has no caption"
	! grep -q 'class="trouble"' "$T/map.svg" || die "the picture speaks of trouble"
	holds "$T/out" '.cells[0].runs[0].reproduce | startswith("mmrig layout check sparse ") and
		contains(" --set step=8 ") and (contains("--runs") | not)'
}

# A layout that stops: what was not reached, the picture that says so, and one that is not overwritten.
test_steps_check_off()
{
	cat >"$T/off.yaml" <<-'END'
		vm: {memory: 512M, cpus: 2}
		tolerance: 0.01%
		layout:
		  - shape: {order0: 6000, order2: 1500, order5: 100, order9: 20, order10: 4}
		  - free: {where: pfn % 8 == 4}
	END
	expect 4 layout check "$T/off.yaml" --kernel "$KERNEL" --accel "$ACCEL" --quiet -o "$T/map.svg"
	out_has ": infra: layout step 1 (shape): "
	out_has "1 shape: in all"
	out_has " 0.01%"
	out_has "2 free: not reached"
	out_has "3 proof: not reached"
	grep -qE '^ +[0-9]+  [.mMuUpP ]{8}' "$T/out" || die "no map of where it stopped"
	grep -q 'class="trouble".*Does not hold: infra: layout step 1' "$T/map.svg" || die "the picture says nothing of it"
	holds "$(run_folder 0001)/run.json" '.layout[0].ok == false and .layout[0].tolerance == 0.0001 and
		.layout[0].error > 0.0001 and [.layout[1, 2] | [.step, .state]] ==
		[["free", "not reached"], ["proof", "not reached"]]'
	# The guest ends before it has a layout, and so a map.
	echo "a good one" >"$T/map.svg"
	expect 4 layout check "$T/off.yaml" --kernel "$KERNEL" --accel "$ACCEL" --quiet --json -o "$T/map.svg" \
		--set sysctl.boot.vm.overcommit_memory=77
	err_has "map.svg: not written: "
	grep -qx "a good one" "$T/map.svg" || die "the picture was overwritten"
	holds "$T/out" '.cells[0].runs[0] | .verdict == "infra" and (has("picture") or has("pageblocks") | not) and
		[.layout[].state] == ["not reached", "not reached", "not reached"]'
}

# From what somebody pasted to free lists in a guest, and the request that failed on them.
test_steps_import()
{
	local report=$here/../harness/report/testdata/36-hns3-arm64-5.10-4node-quoted-printable.txt
	expect 0 layout import "$report" --memory 2G -o "$T/imported.yaml"
	out_has "order 4"
	expect 0 run "$T/imported.yaml" --kernel "$KERNEL" --accel "$ACCEL" --runs 1 --json
	holds "$T/out" '.cells[0].runs[0] | .verdict == "ok" and .metrics.alloc_attempts > 0'
	holds "$T/out" '.cells[0].runs[0].layout[0] | .step == "shape" and .got.distance <= 0.05'
	import_mix
}

# Shares of pageblocks: in the end as many as the report has, and the free lists as well.
import_mix()
{
	local report=$here/../harness/report/testdata/60-centos9-stream-5.14-zoneinfo-boost.pagetypeinfo.txt
	local kernel folder
	expect 0 layout import "$report" --memory 1G -o "$T/mixed.yaml"
	for kernel in "$KERNEL" "$OLD_KERNEL"; do
		expect 0 run "$T/mixed.yaml" --kernel "$kernel" --accel "$ACCEL" --runs 1 --json
		folder=$MMRIG_RESULTS/$(jq -r .runset "$T/out")/0001
		holds "$folder/run.json" '.layout[] | select(.step == "shape") | .got.distance <= 0.05'
		holds "$folder/run.json" '.layout[-1].asked | .unmovable_blocks == 166 and .reclaimable_blocks == 23 and
			.type_unmovable >= 171 and .type_unmovable <= 173'
		ends_mixed "$folder"
	done
}
