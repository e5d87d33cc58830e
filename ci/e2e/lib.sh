# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2016,SC2034,SC2154 # dollars of jq; names of the other files
#
# Part of ci/e2e.sh: what the tests are made of. Each runs in a subshell of its own, in the folder $T.

die()
{
	printf '%s\n' "$*" >"$T/why"
	exit 1
}

skip()
{
	printf '%s\n' "$*" >"$T/why"
	exit 77
}

# try ARGUMENT...: mmrig; its status goes to $rc, its output to the files out and err.
try()
{
	rc=0
	timeout -k 5 "$LIMIT" "$MMRIG" "$@" >"$T/out" 2>"$T/err" </dev/null || rc=$?
}

# expect STATUS ARGUMENT...
expect()
{
	local want=$1
	shift
	try "$@"
	[ "$rc" -eq "$want" ] || die "mmrig $*: exit status $rc, not $want: $(head -n 3 "$T/err")"
}

# A run of the small scenario on the main kernel, with the accelerator that was chosen.
small()
{
	expect "$1" run "$SMALL" --kernel "$KERNEL" --accel "$ACCEL" "${@:2}"
}

err_has()
{
	grep -qF -- "$1" "$T/err" || die "stderr lacks \"$1\": $(head -n 3 "$T/err")"
}

out_has()
{
	grep -qF -- "$1" "$T/out" || die "stdout lacks \"$1\": $(head -n 3 "$T/out")"
}

# The attempts that met QEMU's known race and were made again are no part of what a test asks about.
SETTLED='def of_run: .id | split(".")[0];
	def again($all): of_run as $run | .id as $id | any($all[]; of_run == $run and .id != $id and
		(.id | length) >= ($id | length) and .id > $id);
	def settled: if (type == "object") and (.cells | type) == "array" then
		.cells |= map(if (.runs | type) == "array" then .runs as $all | .runs |= map(select(
			((.why // "") | contains("a known race of QEMU")) and again($all) | not)) else . end)
		else . end;'

# holds FILE JQ-EXPRESSION [JQ-ARGUMENT...]
holds()
{
	jq -e "${@:3}" "$SETTLED settled | $2" "$1" >/dev/null ||
		die "${1##*/}: does not hold: $2 ${*:3}"
}

# await SECONDS WHAT COMMAND...: until the command succeeds.
await()
{
	local end=$((SECONDS + $1)) what=$2
	shift 2
	until "$@"; do
		[ "$SECONDS" -lt "$end" ] || die "waited in vain for $what"
		sleep 0.05
	done
}

is_gone()
{
	[ ! -d "/proc/$1" ] || grep -q '^State:[[:space:]]*Z' "/proc/$1/status" 2>/dev/null
}

is_qemu()
{
	[ "$(readlink "/proc/$1/exe")" = "$REAL_QEMU" ]
}

has_starts()
{
	[ "$(wc -l <"$E2E_STARTS")" -ge "$1" ]
}

no_start()
{
	[ ! -s "$E2E_STARTS" ] || die "a VM was started"
}

# settled_folder FOLDER: that of the attempt which counts.
settled_folder()
{
	local k folder=$1
	for k in 2 3; do
		if [ -d "$1.$k" ] && grep -qsF "a known race of QEMU" "$folder/run.json"; then
			folder=$1.$k
		fi
	done
	echo "$folder"
}

# The folder of a run, by its number; there is one run set.
run_folder()
{
	local found=("$MMRIG_RESULTS"/*-*/"$1")
	[ ${#found[@]} -eq 1 ] || die "${#found[@]} folders of run $1 in $MMRIG_RESULTS"
	settled_folder "${found[0]}"
}

verify_store()
{
	"$MMRIG" results verify >"$T/verify" 2>&1 || die "results verify: $(head -n 3 "$T/verify")"
}

no_leftovers()
{
	local found
	[ -d "$1" ] || return 0
	found=$(find "$1" \( -name '*.tmp' -o -name scratch -o -name 'initrd*' \) -print -quit)
	[ -z "$found" ] || die "left behind: $found"
}

# samples FILE: "PHASE EDGE FILE BYTES" of every sample.
# samples FILE PHASE EDGE NAME: the bytes of that one.
samples()
{
	zstd -dcq "$1" | perl -e '
		use strict;
		binmode STDIN;
		binmode STDOUT;
		my ($phase, $edge, $name) = @ARGV;
		my @phases = qw(boot layout settle workload collect);
		my @edges = qw(none begin end);
		local $/;
		my $all = <STDIN>;
		my $at = 0;
		my $last = 0;
		while ($at < length $all) {
			die "cut off\n" if $at + 4 > length $all;
			my $n = unpack "V", substr $all, $at, 4;
			my $p = substr $all, $at + 4, $n;
			die "cut off\n" if length $p != $n || $n < 11;
			$at += 4 + $n;
			my ($ns, $e, $f, $len) = unpack "Q< C C C", $p;
			die "the clock goes backwards\n" if $ns < $last;
			$last = $ns;
			die "edge $e, phase $f\n" if $e > 2 || $f > 4;
			my $who = substr $p, 11, $len;
			my $data = substr $p, 11 + $len;
			if (!defined $phase) {
				print "$phases[$f] $edges[$e] $who ", length $data, "\n";
			} elsif ($phases[$f] eq $phase && $edges[$e] eq $edge && $who eq $name) {
				print $data;
			}
		}' "${@:2}"
}

# The image file of the main kernel.
kernel_image()
{
	case $KERNEL in
	debian:*) jq -er .kernel.image "$WORK/kernel.json" ;;
	*) echo "$KERNEL" ;;
	esac
}

# reproduce LINE: into results of its own.
reproduce()
{
	export MMRIG_RESULTS=$T/again
	shell_line 0 "$1 --json"
}

# shell_line STATUS LINE: as pasted into a shell.
shell_line()
{
	local PATH="${MMRIG%/*}:$PATH"
	rc=0
	eval "$2" >"$T/out" 2>"$T/err" </dev/null || rc=$?
	[ "$rc" -eq "$1" ] || die "$2: exit status $rc, not $1: $(head -n 3 "$T/err")"
}
