# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2016,SC2034,SC2154 # dollars of jq; names of the other files
#
# Part of ci/e2e.sh: real boots, and what is said and kept of them.

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

# map FOLDER PHASE: "FREE PINNED MOVABLE UNMOVABLE HOLE", the pages of all blocks of the map. Its
# chunks must follow one another, and each line tell of a whole block.
map()
{
	samples "$1/samples.zst" "$2" end pageblocks | awk '
		$1 == "pageblocks" {
			bad += NF != 8 || $2 != 1 || $6 != blocks
			pages = 2 ^ $4
			blocks += $8
			next
		}
		{
			bad += NF != 6 || $1 >= blocks || lines && $1 <= last
			bad += $2 + $3 + $4 + $5 + $6 != pages || $6 == pages
			last = $1
			lines++
			for (i = 2; i <= 6; i++)
				sum[i] += $i
		}
		END {
			if (bad || !lines)
				exit 1
			print sum[2], sum[3], sum[4], sum[5], sum[6]
		}' || die "the map at the end of $2 is damaged"
}

within()
{
	[ "$1" -le $(($2 + $3)) ] && [ "$1" -ge $(($2 - $3)) ]
}

# check_map FOLDER PHASE SLACK: against what the kernel itself counts and the pin step reported. The
# pages of the per-CPU lists are free in the map, and zoneinfo counts them apart.
check_map()
{
	local free pinned movable unmovable hole counted present
	read -r free pinned movable unmovable hole < <(map "$1" "$2")
	[ -n "$hole" ] || exit 1 # map() has said why
	holds "$1/run.json" '([.layout[]? | select(.step == "pin") | .got.pins] | add // 0) == $n' --argjson n "$pinned"
	counted=$({
		samples "$1/samples.zst" "$2" end vmstat
		samples "$1/samples.zst" "$2" end zoneinfo
	} | awk '$1 == "nr_free_pages" && !n { n = $2 } $1 == "count:" { n += $2 } END { print n + 0 }')
	within "$free" "$counted" "$3" ||
		die "$2: $free pages are free in the map, the kernel counts $counted"
	counted=$(samples "$1/samples.zst" "$2" end vmstat |
		awk '/^nr_zone_(in)?active_(anon|file) |^nr_zone_unevictable / { n += $2 } END { print n }')
	within $((movable + pinned)) "$counted" "$3" ||
		die "$2: $movable pages are movable and $pinned pinned, on the lists are $counted"
	present=$(samples "$1/samples.zst" workload end zoneinfo |
		awk '$1 == "present" { n += $2 } END { print n }')
	[ $((free + pinned + movable + unmovable)) -eq "$present" ] ||
		die "$2: the map has $free $pinned $movable $unmovable pages, $present are present"
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
	# run.json keeps every digit, --json the 15 that a reader wants.
	holds "$folder/run.json" '.metrics as $a | $doc[0].cells[0].runs[0].metrics as $b |
		($a | keys) == ($b | keys) and all($a | keys[]; . as $k |
		(($a[$k] - $b[$k]) | fabs) <= 1e-12 * ([($a[$k] | fabs), 1] | max))' \
		--slurpfile doc "$T/first.json"
	check_layout "$folder"
	check_metrics "$folder"
	check_samples "$folder" layout workload
	check_map "$folder" layout 1000
	check_map "$folder" collect 5000
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
	cd "$T/elsewhere" || exit
	reproduce "$line"
	holds "$T/out" '.cells[0].runs[0] | .verdict == "ok" and .seed == 1 and .metrics.files == 2000'
	holds "$T/out" '.cells[0].kernel == $doc[0].cells[0].kernel' --slurpfile doc "$T/first.json"
	no_leftovers "$T/again"
}

test_old_unsupported()
{
	expect 4 run alias-tmpfs --kernel "$OLD_KERNEL" --accel "$ACCEL" --memory 2G --runs 1 \
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
	check_map "$folder" layout 1000
	check_map "$folder" collect 5000
}

# What no layout has touched is mapped too; forks get the map of their template, and make their own.
test_map_no_layout()
{
	local none free pinned rest
	shape "{memory: 256M, cpus: 1}"
	boot_shape 0
	none=$(run_folder 0001)
	holds "$none/run.json" '.layout == null'
	read -r free pinned rest < <(map "$none" layout)
	if [ "$pinned" -ne 0 ] || [ "$free" -le 20000 ]; then
		die "map: $free free, $pinned pinned, $rest"
	fi
	check_map "$none" collect 5000
}

test_map_forks()
{
	local k
	small 0 --runs 2 --fork --json
	for k in 0001 0002; do
		check_map "$(run_folder $k)" layout 1000
		check_map "$(run_folder $k)" collect 5000
		samples "$(run_folder $k)/samples.zst" layout end pageblocks >"$T/map.$k"
	done
	cmp "$T/map.0001" "$T/map.0002" || die "two forks of one layout have two maps of it"
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
	small 4 --json --set layout.0.leave=1M
	holds "$T/out" '.cells[0].runs[0] | .verdict == "infra" and
		(.why | contains("fill")) and (.metrics.allocstall == null)'
	! grep -qa 'Kernel panic' "$(run_folder 0001)/console.log" || die "the guest panicked"
}

# What ends it is the OOM killer, as a rule within a second; but a kernel was seen to reclaim slab
# for 134 s, a few pages at a time, before it called it: then mmrig's own limit does.
test_workload_too_big()
{
	local folder
	small 1 --json --memory 256M --set files=100000000 --set spare=10 --set limits.workload=20s
	holds "$T/out" '.cells[0].runs[0] |
		((.verdict == "workload-failed" or .verdict == "splat") and
		 (.why | test("OOM|memory|signal 9|No space"))) or
		(.verdict == "stall" and (.why | startswith("workload not done within 80 s")))'
	folder=$(run_folder 0001)
	holds "$folder/run.json" '.ended - .started < 240'
	verify_store
}

test_division_in_guest()
{
	small 4 --json --set 'layout.2.where=8 / (block - block) == 1'
	holds "$T/out" '.cells[0].runs[0] | .verdict == "unsupported" and
		(.why | contains("division by zero"))'
}

test_where_selects_nothing()
{
	# What can be proved to select nothing is refused before the boot.
	small 4 --json --set 'layout.2.where=(pfn ^ 1) == pfn'
	holds "$T/out" '.cells[0].runs[0] | .verdict == "unsupported" and
		(.why | contains("(free)") and test(
			"selects no page of the fill that is not pinned: .*[0-9]+ pages in DMA32 .pfn [0-9]+ to [0-9]+.$"))'
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
	grep -qaE 'initcall|reboot: Power down' < <(tail -c 65536 "$log") || die "the last lines are lost"
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
	cd "$odd" || exit
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
