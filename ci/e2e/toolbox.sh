# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2016,SC2034,SC2154 # dollars of jq; names of the other files
#
# Part of ci/e2e.sh: what programs of the toolbox need and do not get.

toolbox_tests=(toolbox_unknown_package toolbox_no_mkfs toolbox_unsupported scratch_too_big scratch_disk_full
	program_too_big stress_bad)

# with_program STATUS WORKLOAD [ARGUMENT]...: one run of it.
with_program()
{
	printf '%s\n' "name: program" "vm: {memory: 512M, cpus: 2}" "workload: {$2}" "runs: 1" >"$T/program.yaml"
	expect "$1" run "$T/program.yaml" --kernel "$KERNEL" --accel "$ACCEL" --json "${@:3}"
}

# The cache without its images: what Debian has is not asked for again.
cache_without_images()
{
	local part cache=${XDG_CACHE_HOME:-$HOME/.cache}/mmrig
	mkdir -p "$T/cache/mmrig"
	for part in apt kernels images accel qemu; do
		[ ! -e "$cache/$part" ] || ln -s "$cache/$part" "$T/cache/mmrig/$part"
	done
	export XDG_CACHE_HOME=$T/cache
}

no_image_left()
{
	[ -z "$(find "$T/cache/mmrig/toolbox" -mindepth 1 ! -name .lock)" ] || die "something half made was left"
	no_start
}

# A workload that asks for a program which Debian does not have.
test_toolbox_unknown_package()
{
	local top=$here/.. name=lacking
	mkdir "$T/tree"
	cp -a "$top"/{Makefile,guest,harness,results,workloads,ci,build} "$T/tree"
	cp -r "$T/tree/workloads/template" "$T/tree/workloads/$name"
	(
		cd "$T/tree/workloads/$name"
		mv template.c $name.c
		mv template.yaml.in $name.yaml
		sed -i "s/template/$name/g" $name.c $name.yaml
		sed -i "/^const struct workload/i static const char *const packages[] = { \"no-such-program\", NULL };" $name.c
		sed -i "/^const struct workload/i static const struct toolbox_spec box = { packages, NULL, NULL };" $name.c
		sed -i "s/^\t\.moves/\t.toolbox = \&box,\n&/" $name.c
		cd ../..
		make build/mmrig build/agent
	) >"$T/make" 2>&1 || die "it does not build: $(tail -n 3 "$T/make")"
	cache_without_images
	MMRIG=$T/tree/build/mmrig expect 4 run $name --kernel "$KERNEL" --accel "$ACCEL" --json
	err_has 'toolbox of no-such-program: apt: Unable to locate package no-such-program; '
	err_has "Debian's stable does not have it; correct the workload's list of packages"
	no_image_left
}

# The host lacks what makes images. It is hidden in a mount namespace of mmrig's own.
test_toolbox_no_mkfs()
{
	local mkfs
	mkfs=$(command -v mkfs.erofs) || skip "there is no mkfs.erofs to hide"
	unshare -m true 2>/dev/null || skip "cannot make a mount namespace"
	printf '%s\n' '#!/bin/bash' 'set -e' "mount --bind /dev/null '$mkfs'" "exec '$MMRIG' \"\$@\"" >"$T/mmrig"
	printf '%s\n' '#!/bin/bash' "exec unshare -m '$T/mmrig' \"\$@\"" >"$T/without"
	chmod +x "$T/mmrig" "$T/without"
	cache_without_images
	MMRIG=$T/without with_program 4 'fio: {args: "--name=a --size=1M"}'
	err_has 'toolbox of fio: '
	err_has 'mkfs.erofs'
	err_has "it is in Debian's package erofs-utils: run make deps"
	no_image_left
}

# An image without modules beside it has none of the filesystems.
test_toolbox_unsupported()
{
	cp "$(jq -er .kernel.image "$WORK/generic.json")" "$T/vmlinuz" || skip "the kernel is not one of Debian's"
	KERNEL=$T/vmlinuz with_program 4 'fio: {args: "--name=a --size=1M", scratch: 64M}'
	holds "$T/out" '.cells[0].runs[0] | .verdict == "unsupported" and
		(.why | startswith("this kernel lacks ") and contains("fs:erofs") and contains("fs:ext4"))'
}

test_scratch_too_big()
{
	mount_small "$T/disk" 48M
	MMRIG_RESULTS=$T/disk with_program 4 'fio: {args: "--name=a --size=1M", scratch: 64M}'
	err_has "$T/disk: "
	err_has 'can need 80 MiB with a scratch disk; make room'
	no_start
	with_program 2 'fio: {args: "--name=a --size=1M", scratch: 1M}'
	err_has 'scratch must be 0 or at least 32M'
}

# The guest writes more than the host has room for by then.
test_scratch_disk_full()
{
	mount_small "$T/disk" 160M
	printf '%s\n' "name: full" "vm: {memory: 512M, cpus: 2}" "runs: 1" "limits: {silence: 4s}" \
		'workload: {fio: {args: "--name=a --rw=write --size=96M --end_fsync=1", scratch: 128M}}' >"$T/full.yaml"
	export MMRIG_RESULTS=$T/disk/results
	begin run "$T/full.yaml" --kernel "$KERNEL" --accel "$ACCEL" --json
	await 120 "the run" is_up 0001
	# Enough for what is recorded of it, too little for its disk.
	fallocate -l 120M "$T/disk/fill"
	finish 120
	rm "$T/disk/fill"
	[ "$rc" -eq 4 ] || die "exit status $rc, not 4"
	grep -qE 'No space left|its own disk is full' "$T/err" || die "the disk is not named: $(head -n 3 "$T/err")"
	is_gone "$(tail -n 1 "$E2E_STARTS")" || die "QEMU is still there"
	no_leftovers "$T/disk/results"
}

# Limits that the guest cannot have are refused; what only the program knows is its own failure.
test_program_too_big()
{
	with_program 2 'fio: {args: "--name=a", memory: 2G}'
	err_has 'program.yaml:3:'
	err_has 'fio: memory is 2G, and the guest has 512M'
	with_program 2 'stress-ng: {args: "--vm 1", memory: 300M}' --memory 256M
	err_has 'stress-ng: memory is 300M, and the guest has 256M'
	no_start
	with_program 1 'fio: {args: "--name=a --rw=write --size=4G --bs=1M"}'
	holds "$T/out" '.cells[0].runs[0] | .verdict == "workload-failed" and
		(.why | startswith("fio ended with status 1: ") and contains("No space left on device"))'
}

# A job file with an error.
test_stress_bad()
{
	printf '%s\n' "run sequential" "vm 1" "vm-bites 32M" >"$T/mine.job"
	with_program 1 'stress-ng: {job: mine.job}'
	holds "$T/out" '.cells[0].runs[0] | .verdict == "workload-failed" and
		(.why | startswith("stress-ng ") and contains("vm-bites"))'
	with_program 2 'stress-ng: {job: yours.job}'
	err_has 'yours.job'
}
