# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2016,SC2034,SC2154 # dollars of jq; names of the other files
#
# Part of ci/e2e.sh: NUMA nodes, ZONE_MOVABLE and swap. What is checked is what the guest's own
# files say (zoneinfo, meminfo), not the arguments that it was started with.

numa_tests=(numa_two_nodes numa_memory_less numa_distances numa_scaled numa_fork numa_off movablecore
	swap_zram swap_ramdisk swap_lacking swap_fork numa_bad)

# shape VM [LINE]...: a scenario with these keys of vm, and further lines; in $T/shape.yaml.
shape()
{
	{
		echo "name: shape"
		echo "vm: $1"
		printf '%s\n' "${@:2}"
		[[ "$*" == *workload:* ]] || echo "workload: {tmpfs-files: {files: 500}}"
	} >"$T/shape.yaml"
}

# boot_shape STATUS [ARGUMENT...]
boot_shape()
{
	expect "$1" run "$T/shape.yaml" --runs 1 --kernel "$KERNEL" --accel "$ACCEL" --json "${@:2}"
	[ "$1" -ne 0 ] || holds "$T/out" 'all(.cells[].runs[]; .verdict == "ok")'
}

# sample NAME [RUN]: a file of the guest as the workload began.
sample()
{
	samples "$(run_folder "${2:-0001}")/samples.zst" workload begin "$1"
}

# present: "NODE ZONE MIB" of every zone that has memory.
present()
{
	sample zoneinfo | awk '
		/^Node/ { node = $2 + 0; zone = $4 }
		$1 == "present" && $2 > 0 { printf "%d %s %d\n", node, zone, $2 / 256 }'
}

# node_mib NODE [ZONE]
node_mib()
{
	present | awk -v node="$1" -v zone="${2:-}" \
		'$1 == node && (zone == "" || $2 == zone) { sum += $3 } END { print sum + 0 }'
}

# near WHAT GOT WANT: no more than 2 MiB less: the first MiB belongs to the firmware.
near()
{
	if [ "$2" -gt "$3" ] || [ "$2" -lt $(($3 - 2)) ]; then
		die "$1: $2 MiB, not $3"
	fi
}

swap_total_kib()
{
	sample meminfo | awk '$1 == "SwapTotal:" { print $2 }'
}

test_numa_two_nodes()
{
	shape "{memory: 1G, cpus: 2, numa: [768M, 256M]}"
	boot_shape 0
	near "node 0" "$(node_mib 0)" 768
	near "node 1" "$(node_mib 1)" 256
	# Nodes apart in the tables; together they make the sum.
	holds "$T/out" '.cells[0].runs[0].metrics |
		has("free_order0_node0_DMA32") and has("free_order0_node1_DMA32") and
		.free_order0_DMA32 == .free_order0_node0_DMA32 + .free_order0_node1_DMA32'
	grep -q '^Node 1, zone' < <(sample buddyinfo) || die "buddyinfo shows no node 1"
}

# Nodes with CPUs and no memory, and one with memory and no CPUs; nobody warns of them.
test_numa_memory_less()
{
	shape "{memory: 1G, cpus: 3, numa: [512M, {size: 0, cpus: 1}, {size: 512M, cpus: 0}]}"
	boot_shape 0
	near "node 0" "$(node_mib 0)" 512
	[ "$(node_mib 1)" -eq 0 ] || die "node 1 has memory"
	near "node 2" "$(node_mib 2)" 512
	grep -q '^Node 1, ' < <(sample zoneinfo) || die "there is no node 1"
	holds "$T/out" '.cells[0].runs[0].metrics | has("free_order0_node2_DMA32") and
		(has("free_order0_node1_DMA32") | not)'
}

# The kernel's order of fallback follows the distances; by its own ones it would be 0, 1, 2.
test_numa_distances()
{
	export E2E_APPEND=loglevel=7
	shape "{memory: 768M, cpus: 3, numa: [256M, 256M, 256M],
  distances: [[10, 40, 20], [40, 10, 30], [20, 30, 10]]}"
	boot_shape 0
	grep -q 'Fallback order for Node 0: 0 2 1' "$(run_folder 0001)/console.log" ||
		die "$(grep -a 'Fallback order' "$(run_folder 0001)/console.log")"
	grep -q 'Fallback order for Node 1: 1 2 0' "$(run_folder 0001)/console.log" || die "node 1"
}

test_numa_scaled()
{
	shape "{memory: 2G, cpus: 2, numa: [1536M, 512M]}"
	boot_shape 0 --memory 512M
	near "node 0" "$(node_mib 0)" 384
	near "node 1" "$(node_mib 1)" 128
}

test_numa_fork()
{
	shape "{memory: 512M, cpus: 2, numa: [256M, 256M]}" "layout:" \
		"  - fill: {kind: anon, leave: {blocks: 40}}" "  - free: {where: pfn % 8 == 4}"
	expect 0 run "$T/shape.yaml" --runs 3 --fork --kernel "$KERNEL" --accel "$ACCEL" --json
	holds "$T/out" '.cells[0].runs | length == 3 and all(.[]; .verdict == "ok" and
		.metrics.free_order0_node0_DMA32 > 1000 and .metrics.free_order0_node1_DMA32 > 1000)'
	near "node 1" "$(node_mib 1)" 256
	[ "$(wc -l <"$E2E_STARTS")" -eq 4 ] || die "$(wc -l <"$E2E_STARTS") VMs for a template and 3 forks"
}

# A kernel that puts all memory into one node.
test_numa_off()
{
	export E2E_APPEND=numa=off
	shape "{memory: 512M, cpus: 2, numa: [256M, 256M]}"
	boot_shape 4
	holds "$T/out" '.cells[0].runs[0] | .verdict == "unsupported" and (.why | contains("node/node1"))'
}

test_movablecore()
{
	shape "{memory: 1G, cpus: 2, movablecore: 256M, numa: [512M, 512M]}"
	boot_shape 0
	# Dealt out to the nodes by the kernel, which rounds to its largest blocks.
	local node mib sum=0
	for node in 0 1; do
		mib=$(node_mib "$node" Movable)
		[ "$mib" -ge 100 ] || die "Movable of node $node: $mib MiB"
		sum=$((sum + mib))
	done
	[ "$sum" -ge 240 ] || die "Movable: $sum MiB, not 256"
	[ "$sum" -le 264 ] || die "Movable: $sum MiB, not 256"
	holds "$T/out" '.cells[0].runs[0].metrics | has("free_order0_node1_Movable")'
}

# Anonymous memory fills the guest, and the files need more than was left: some of it must go.
swapping()
{
	shape "{memory: 512M, cpus: 2, swap: {kind: $1, size: 128M}}" "layout:" \
		"  - fill: {kind: anon, leave: {blocks: 12}}" "tolerance: 100%" \
		"workload: {tmpfs-files: {files: 60000}}"
	boot_shape 0
	# All but the page that holds the header.
	[ "$(swap_total_kib)" -eq $((128 * 1024 - 4)) ] || die "SwapTotal is $(swap_total_kib) KiB"
	holds "$T/out" '.cells[0].runs[0].metrics.pswpout > 0'
}

test_swap_zram()
{
	swapping zram
}

test_swap_ramdisk()
{
	swapping ramdisk
}

# A bare image brings no modules, and neither device is built into it.
test_swap_lacking()
{
	local kind
	cp "$(kernel_image)" "$T/vmlinuz"
	for kind in zram:CONFIG_ZRAM ramdisk:CONFIG_BLK_DEV_RAM; do
		shape "{memory: 256M, cpus: 1, swap: {kind: ${kind%:*}, size: 32M}}"
		expect 4 run "$T/shape.yaml" --runs 1 --kernel "$T/vmlinuz" --accel "$ACCEL" --json
		holds "$T/out" '.cells[0].runs[0] | .verdict == "unsupported" and
			(.why | contains("lacks swap on") and contains($option))' --arg option "${kind#*:}"
	done
}

test_swap_fork()
{
	shape "{memory: 512M, cpus: 2, swap: {kind: zram, size: 64M}}" "layout:" \
		"  - fill: {kind: anon, leave: {blocks: 40}}"
	expect 0 run "$T/shape.yaml" --runs 2 --fork --kernel "$KERNEL" --accel "$ACCEL" --json
	holds "$T/out" '.cells[0].runs | length == 2 and all(.[]; .verdict == "ok")'
	[ "$(swap_total_kib)" -eq $((64 * 1024 - 4)) ] || die "SwapTotal is $(swap_total_kib) KiB"
}

test_numa_bad()
{
	local vm
	for vm in "{memory: 1G, numa: [512M, 256M]}|the nodes add up to 768M, but memory is 1G" \
		"{memory: 1G, numa: [1G, 0], cpus: 1}|node 1 has neither memory nor CPUs" \
		"{memory: 1G, distances: [[10]]}|distances need nodes" \
		"{swap: {kind: floppy, size: 64M}}|unknown kind of swap" \
		"{movablecore: 4G}|movablecore is 4G; allowed are 2M to 2046M"; do
		shape "${vm%|*}"
		boot_shape 2
		err_has "shape.yaml:2:"
		err_has "${vm#*|}"
	done
	no_start
}
