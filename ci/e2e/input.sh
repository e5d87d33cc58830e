# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2016,SC2034,SC2154 # dollars of jq; names of the other files
#
# Part of ci/e2e.sh: input that is refused before anything starts.

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
	# More than any guest, more than this host: the same words everywhere, before a kernel is looked for.
	local command
	for command in run "layout check"; do
		# shellcheck disable=SC2086 # two words
		refused "--memory: memory is 900T; it must be 256M to 4092G" $command "$SMALL" --kernel debian:0.0 --memory 900T
		# shellcheck disable=SC2086
		refused "or less" $command "$SMALL" --kernel debian:0.0 --memory "${much}M"
		# shellcheck disable=SC2086
		refused "more than any machine" $command "$SMALL" --kernel debian:0.0 --memory 99999999T
	done
	refused "--kernel" run "$SMALL" --kernal "$KERNEL"
	refused "run" rnu "$SMALL"
	refused "SCENARIO" run
	refused "tcg" run "$SMALL" --kernel "$KERNEL" --accel xen
	expect 2 run "$SMALL" --kernel "$KERNEL" --accel tcg --resume 20990101-000000-none-0000
	err_has 20990101-000000-none-0000
	no_start
}

# Where the result is to go is looked at before there is one.
test_bad_outputs()
{
	local command
	printf 'layout:\n  - fill: {leave: 30%%}\n' >"$T/only.yaml"
	mkdir "$T/folder"
	ln -s only.yaml "$T/link"
	for command in "layout check $T/only.yaml --kernel $KERNEL" "report last" "results export last"; do
		# shellcheck disable=SC2086 # words of a command
		refused "--output $T/no/x: there is no folder $T/no" $command -o "$T/no/x"
		# shellcheck disable=SC2086
		refused "--output $T/folder: is a folder" $command -o "$T/folder"
		# shellcheck disable=SC2086
		refused "--output $T/only.yaml/x: $T/only.yaml is no folder" $command -o "$T/only.yaml/x"
		# shellcheck disable=SC2086
		refused "--output /dev/null: is no regular file" $command -o /dev/null
		# shellcheck disable=SC2086
		refused "--output /proc/x: cannot be made" $command -o /proc/x
	done
	for command in only.yaml ./only.yaml link; do
		refused "--output $command: is read by this command" layout check only.yaml --kernel "$KERNEL" -o $command
	done
	refused "is read by this command" layout check "$T/only.yaml" --set layout=sparse --kernel "$KERNEL" \
		-o "$here/../workloads/layouts/sparse.yaml"
	# The picture of a second cell.
	mkdir "$T/map-2.svg"
	refused "map-2.svg: is a folder" layout check "$T/only.yaml" --kernel "$KERNEL" --kernel "$OLD_KERNEL" -o "$T/map.svg"
	refused "--output -: " layout check "$T/only.yaml" -o -
	refused "--output $T/map.PNG: the picture is SVG; give a name that ends in .svg" \
		layout check "$T/only.yaml" --kernel "$KERNEL" -o "$T/map.PNG"
	refused "--output $T/page.pdf: the page is HTML" report last -o "$T/page.pdf"
	mkdir -p "$T/results/a-set/0001"
	touch "$T/results/a-set/0001/run.json"
	expect 2 report last -o "$T/results/a-set/0001/run.json"
	err_has "is a place of the recorded runs"
	rm -r "$T/results"
	[ -z "$(find "$T" -newer "$T/map-2.svg" -name '*.svg')" ] || die "something was written"
}

# A layout without a workload, and by its name: what is missing, and what to write.
test_bad_layout_names()
{
	printf 'layout:\n  - fill: {leave: 30%%}\n' >"$T/only.yaml"
	refused "only.yaml:1:1: name: and workload: are missing; " run "$T/only.yaml" --kernel "$KERNEL"
	err_has "mmrig layout check"
	refused '"sparse" is a layout and no scenario; mmrig layout check sparse' run sparse --kernel "$KERNEL"
	refused 'unknown scenario or layout "sprase"; did you mean sparse?' layout check sprase --kernel "$KERNEL"
	refused '--set layout=alais:1:8: unknown layout "alais"; did you mean alias?' layout check sparse \
		--kernel "$KERNEL" --set layout=alais
	refused "--set step=0:1:6: step is 0: modulo by zero" layout check sparse --kernel "$KERNEL" --set step=0
	refused '"stepp"; did you mean step?' layout check sparse --kernel "$KERNEL" --set stepp=3
	printf 'workload: {tmpfs-files: {files: 10}}\n' >"$T/none.yaml"
	refused "none.yaml:1:1: layout: is missing" layout check "$T/none.yaml" --kernel "$KERNEL"
	expect 0 layout list
	out_has "sparse "
}

# bad_scenario TEXT <<YAML: the file is $T/bad.yaml.
bad_scenario()
{
	cat >"$T/bad.yaml"
	refused "$1" run "$T/bad.yaml" --kernel "$KERNEL" --accel tcg
}

# bad_layout PLACE TEXT [ARGUMENT...] <<YAML: behind "name:", from line 2 on.
bad_layout()
{
	{
		echo "name: bad"
		cat
		echo "workload: {tmpfs-files: {files: 10}}"
	} >"$T/bad.yaml"
	refused "$1: $2" run "$T/bad.yaml" --kernel "$KERNEL" "${@:3}"
}

# What the guest has not, by the scenario itself, by what it hands to a named layout, and by options.
test_layouts_beyond_guest()
{
	bad_layout "bad.yaml:4:28" "fill: leave is 257 pageblocks of 2M, and the guest has 256" <<-'YAML'
		vm: {memory: 512M}
		layout:
		  - fill: {leave: {blocks: 257}}
	YAML
	bad_layout "bad.yaml:5:19" "fill: leave is 1G, and the guest has 512M" <<-'YAML'
		vm: {memory: size}
		vary: {size: [2G, 512M]}
		layout:
		  - fill: {leave: 1G}
	YAML
	err_has "(where size is 512M)"
	bad_layout "bad.yaml:4:29" "fill: there is no node 1" <<-'YAML'
		vm: {memory: 512M}
		layout:
		  - fill: {leave: 5%, node: 1}
	YAML
	bad_layout "bad.yaml:4:35" "shape: the orders add up to 205000 free pages" <<-'YAML'
		vm: {memory: 512M}
		layout:
		  - shape: {order0: 200, order10: 200}
	YAML
	bad_layout "bad.yaml:4:5" "pin: no step before it takes pages" <<-'YAML'
		vm: {memory: 512M}
		layout:
		  - pin: {}
		  - fill: {leave: 5%}
	YAML
	bad_layout "bad.yaml:2:36" "step is 0: modulo by zero" <<-'YAML'
		layout: {use: sparse, with: {step: 0}}
	YAML
	err_has "layouts/sparse.yaml:"
	bad_layout "--set spare=1000:1:7" "spare is 1000: fill: leave is" --set spare=1000 --memory 1G <<-'YAML'
		layout: {use: sparse, with: {spare: 5}}
	YAML
	bad_layout "--memory" "memory is 256M: fill: leave is 300M, and the guest has 256M" --memory 256M <<-'YAML'
		layout:
		  - fill: {leave: 300M}
	YAML
	err_has "bad.yaml:3:19)"
	bad_layout "--memory" "memory is 512M: free: zone == Normal is never true" --memory 512M <<-'YAML'
		layout:
		  - fill: {leave: 64M}
		  - free: {where: zone == Normal}
	YAML
	bad_layout "bad.yaml:4:19" "free: pfn % 8 == 9 is never true" --memory 512M <<-'YAML'
		layout:
		  - fill: {leave: 64M}
		  - free: {where: pfn % 8 == 9}
	YAML
}

# Parameters that are each in their range, and do not go together: seen before anything is started.
test_bad_layouts()
{
	local column step text
	# The column of what is to blame, the step, what is said of it.
	while IFS='|' read -r column step text; do
		cat >"$T/bad.yaml" <<-END
			name: bad
			vm: {memory: 512M, cpus: 1}
			layout:
			  - fill: {leave: 64M}
			  - $step
			workload: {tmpfs-files: {files: 10}}
		END
		refused "bad.yaml:5:$column: $text" run "$T/bad.yaml" --kernel "$KERNEL"
	done <<-'END'
		5|pin: {share: 10%, count: 5}|pin: count and share: give one of them
		5|free: {where: pfn % 2 == 0, share: 10%, count: 5}|free: count and share
		5|free: {}|free: which pages?
		5|fill: {kind: slab, leave: 64M, zone: dma32}|fill: zone goes with anon and thp alone
		5|reclaim: {bytes: 16M}|reclaim: there is nothing to reclaim
		18|mix: {share: 0%}|mix: share is 0
		45|mix: {share: 10%, kind: unmovable, how: dentries}|mix: how is dentries, and kind unmovable
		47|mix: {share: 10%, how: pagetables, order: 4}|mix: order goes with packet alone
		5|shape: {order0: 100}|shape: fewer than 2048
		5|shape: {}|shape: fewer than 2048
		13|shape: {order11: 1}|unknown parameter of shape "order11"; there are order0 to order10
		19|free: {where: node == 7}|free: node == 7 is never true: node is 0
		19|free: {where: pfn % 8 == 9}|free: pfn % 8 == 9 is never true: pfn % 8 is 0 to 7
		19|free: {where: pfn in 5..1}|free: pfn in 5..1 is never true
		19|free: {where: offset == 5000}|free: offset == 5000 is never true: offset is 0 to 511
		35|free: {where: pfn % 8 == 4 && zone == HighMem}|free: zone == HighMem is never true: zone is dma
		19|free: {where: zone == Movable}|free: zone == Movable is never true
		19|free: {where: zone == Normal}|free: zone == Normal is never true: zone is dma or dma32; normal takes 2816M
		27|free: {where: zone == DMA33}|unknown name "DMA33"; the zones are DMA, DMA32, Normal
		26|free: {where: min(pfn) == 3}|min takes two values
		19|free: {where: 5}|free: where is 5, which is so for every page; leave where out
		26|pin: {per: page, at: last}|pin: at goes with per: pageblock
		19|fill: {leave: 0}|fill: leave is 0, and a guest cannot go on
		19|fill: {leave: 100%}|fill: leave is 100%, which is all that the guest has
		19|fill: {leave: 65M}|fill: leave is 65M, and a fill before has left 64M
		19|fill: {leave: 120%}|leave is 120; allowed are 1 to 99 per cent
		29|fill: {leave: 0%, zone: normal}|fill: this guest of 512M has no zone normal, which begins at 4G
		19|fill: {leave: -5M}|leave is -5M; allowed are 0 bytes and more
		5|compact|a step of the layout has parameters, or none: write "compact: {}"
		5|sprase|unknown layout "sprase"; did you mean sparse?
		32|{use: sparse, with: {step: 99999999}}|step is 99999999: free: pfn % step == 0 is never true
	END
	printf 'Node 0, zone   Normal   1000 1 1 1 1 1 1 1 1 1 1\n' >"$T/pasted"
	expect 2 layout import "$T/pasted" -o "$T/pasted"
	err_has "is read by this command"
	grep -q '^Node 0' "$T/pasted" || die "the report was overwritten"
	for bad in "$T/none/x.yaml" "$T" /dev/null; do
		expect 2 layout import "$T/pasted" -o "$bad"
		err_has "--output $bad: "
	done
	printf 'Node 0, zone   Normal   1000 1,000 1 1 1 1 1 1 1 1 1\n' >"$T/bad-count"
	expect 2 layout import "$T/bad-count"
	err_has '"1,000" in column 2 is no count'
	expect 2 layout import "$T/pasted" --memory 10M
	err_has "--memory: memory is 10M; it must be 256M to 4092G"
	expect 2 layout import "$T/pasted" --memory 900T
	err_has "--memory: memory is 900T; it must be 256M to 4092G"
	expect 0 layout import "$T/pasted" --memory 4092G
	err_has "cannot be run here"
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
	bad_scenario "bad.yaml:4:12: " <<-'YAML'
		name: bad
		kernels:
		  - debian:7.3
		  - {tree: nowhere, rev: v7.3}
		workload: {tmpfs-files: {files: 1}}
	YAML
	bad_scenario "bad.yaml:4:5: " <<-'YAML'
		name: bad
		kernels:
		  - debian:7.3
		  - {patch: x.patch}
		workload: {tmpfs-files: {files: 1}}
	YAML
	err_has "neither source nor tree"
	bad_scenario "bad.yaml:1:1: workload: is missing; write one, as in workload: {tmpfs-files: {files: 1000}}" <<-'YAML'
		name: bad
		layout: [fill: {leave: 100M}]
	YAML
	err_has "\`mmrig layout check $T/bad.yaml\` builds the layout alone"
	bad_scenario "bad.yaml:2:9: layout has no steps" <<-'YAML'
		name: bad
		layout: []
		workload: {tmpfs-files: {files: 1}}
	YAML
	bad_scenario "bad.yaml:2:8: \"x\" is varied, and nothing uses it" <<-'YAML'
		name: bad
		vary: {x: [0, 4]}
		workload: {tmpfs-files: {files: 1}}
	YAML
	bad_scenario "bad.yaml:4:22: " <<-'YAML'
		name: bad
		kernels: [a, b]
		vary: {x: [0, 4]}
		leave_out: [{kernel: cc}]
		workload: {tmpfs-files: {files: 1}}
	YAML
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
