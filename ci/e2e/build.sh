# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2016,SC2034,SC2154 # dollars of jq; names of the other files
#
# Part of ci/e2e.sh: kernels from source. One is built of Debian's source with mmrig's base config, in
# the cache of the other kernels: where that is kept, so is this one.

build_tests=(build_plain build_patched build_again build_fails build_two_at_once
	build_refusals)
PATCH=$here/../workloads/alias-tmpfs/resample.patch

# The folder of the source that the kernel was built from, and of its repository.
source_folder()
{
	local folder
	folder=$(dirname "$(jq -er .kernel.image "$T/out")")
	echo "${XDG_CACHE_HOME:-$HOME/.cache}/mmrig/sources/$(jq -er .build.source "$folder/kernel.json")"
}

# The files that it was built from: in the source folder stand those of the last build.
source_tree()
{
	jq -er .build.object "$(dirname "$(jq -er .kernel.image "$T/out")")/kernel.json"
}

# From nothing it takes some minutes.
built()
{
	local LIMIT=1500
	expect 0 kernel build --json "$@"
	holds "$T/out" '.kernel.image_hash | startswith("sha256:")'
}

# Boots, and does what the fetched ones do.
test_build_plain()
{
	built --source debian:7.3 --name e2e-plain
	holds "$T/out" '.kernel.release == "7.3.4-mmrig" or (.kernel.release | endswith("-mmrig"))'
	cp "$T/out" "$T/first"
	built --source debian:7.3 --name e2e-plain
	[ "$(jq -S .kernel "$T/first")" = "$(jq -S .kernel "$T/out")" ] || die "another kernel the second time"
	expect 0 run "$SMALL" --kernel e2e-plain --accel "$ACCEL" --json
	holds "$T/out" '.cells[0].runs[0].verdict == "ok" and (.cells[0].kernel.release | endswith("-mmrig"))'
	expect 0 kernel list
	grep -q 'e2e-plain.*linux-source-7.3' "$T/out" || die "the list does not say what it is built of"
}

# The same but for the patch, and so it says.
test_build_patched()
{
	built --source debian:7.3 --name e2e-plain
	cp "$T/out" "$T/plain"
	built --source debian:7.3 --patch "$PATCH" --name e2e-patched
	[ "$(jq -r .kernel.image_hash "$T/out")" != "$(jq -r .kernel.image_hash "$T/plain")" ] ||
		die "the patch changes nothing"
	[ "$(jq -r .kernel.config_hash "$T/out")" = "$(jq -r .kernel.config_hash "$T/plain")" ] ||
		die "the patch changes the config"
	expect 0 kernel diff e2e-plain e2e-patched
	grep -q 'mm/compaction.c' "$T/out" || die "the difference does not name mm/compaction.c"
	! grep -q 'CONFIG_.*->' "$T/out" || die "a config symbol differs"
}

# What the compiler says, and where all of it is.
test_build_fails()
{
	built --source debian:7.3 --name e2e-plain
	{
		echo '--- a/mm/compaction.c'
		echo '+++ b/mm/compaction.c'
		echo '@@ -1,1 +1,2 @@'
		echo '+#error planted'
		echo " $(git --git-dir="$(source_folder)/git" show "$(source_tree):mm/compaction.c" | sed -n 1p)"
	} >"$T/bad.patch"
	expect 4 kernel build --source debian:7.3 --patch "$T/bad.patch" --name e2e-bad
	grep -q 'mm/compaction.c:1:2: error: #error planted' "$T/err" || die "the error is not named: $(cat "$T/err")"
	expect 2 run "$SMALL" --kernel e2e-bad
}

# Whether a compiler is at work on a source of the cache.
compiles()
{
	local pid
	for pid in $(pgrep -x cc1); do
		case $(readlink "/proc/$pid/cwd") in
		"$XDG_CACHE_HOME/mmrig/sources/"*) return 0 ;;
		esac
	done
	return 1
}

# From other folders, with nothing in any cache, and ended once in the middle: nothing is there then and
# nothing is left running, and the next call goes on to the same image, bit for bit.
test_build_again()
{
	local hash pid rc=0
	built --source debian:7.3 --name e2e-plain
	hash=$(jq -er .kernel.image_hash "$T/out")
	mkdir "$T/tree"
	git --git-dir="$(source_folder)/git" archive "$(source_tree)" | tar -xf - -C "$T/tree"
	export XDG_CACHE_HOME=$T/cache
	"$MMRIG" kernel build --tree "$T/tree" --name again >"$T/cut.out" 2>"$T/cut.err" &
	pid=$!
	until { grep -q 'building again' "$T/cut.err" && compiles; } || ! kill -0 "$pid" 2>/dev/null; do
		sleep 0.2
	done
	kill -TERM "$pid"
	wait "$pid" || rc=$?
	[ "$rc" -eq 130 ] || die "an interrupted build ended with $rc: $(tail -n 3 "$T/cut.err")"
	! compiles || die "a compiler is left"
	expect 2 run "$SMALL" --kernel again
	built --tree "$T/tree" --name again
	[ "$(jq -er .kernel.image_hash "$T/out")" = "$hash" ] || die "$(jq -r .kernel.image_hash "$T/out"), not $hash"
	rm -rf "$T/cache" "$T/tree"
}

test_build_two_at_once()
{
	local pid
	"$MMRIG" kernel build --source debian:7.3 --patch "$PATCH" --name e2e-patched >"$T/one" 2>&1 &
	pid=$!
	built --source debian:7.3 --name e2e-plain
	wait "$pid" || die "the other one failed: $(cat "$T/one")"
}

# Before anything is built.
test_build_refusals()
{
	expect 2 kernel build --tree "$T"
	grep -q 'no kernel tree' "$T/err" || die "$(cat "$T/err")"
	expect 2 kernel build --tree "$T/none"
	expect 2 kernel build
	expect 2 kernel build --source debian:7.3 --tree "$T"
	expect 2 kernel build --source debian:0.1
	expect 2 kernel build --source debian:7.3 --patch "$T/none.patch"
	expect 2 kernel build --source debian:7.3 --config nosuch
	expect 2 kernel build --source debian:7.3 --cc nosuch-cc
	echo 'CONFIG_NO_SUCH_SYMBOL=y' >"$T/x.config"
	expect 2 kernel build --source debian:7.3 --config "$T/x.config"
	grep -q 'NO_SUCH_SYMBOL' "$T/err" || die "$(cat "$T/err")"
	expect 2 kernel diff e2e-plain nosuch
}
