# SPDX-License-Identifier: GPL-2.0-only
#
#   make            build/mmrig and the static guest agent
#   make deps       the Debian packages (sudo when not root); check-deps: those of the tests too
#   make demo       all set-up, then the main job: a table
#   make demo-patch two kernels built from source, one patched: a table of both
#   make check      all set-up, then every test
#   make suite-seeds  the experiments of the posts, made smaller: each one's table; SUITE_ARGS= of mmrig run
#   make bench      speed, as ratios within one run
#   make asan       build-asan/ with sanitizers, and the unit tests there
#   make fuzz       build-fuzz/ with clang, and every parser fuzzed for FUZZ_SECONDS in all
#   make man        build/mmrig.1, the manual page: man -l build/mmrig.1
#   make help       this text
#   make install    DESTDIR= PREFIX=/usr/local; uninstall takes back what it put there
#
# WERROR=0 turns warnings back into warnings; V=1 shows the commands; O=DIR builds elsewhere.

O ?= build
PREFIX ?= /usr/local
CC ?= gcc
WERROR ?= 1
V ?= 0

PKGS := libuv jansson yaml-0.1 libarchive libkmod libelf sqlite3 gsl libzstd libgcrypt

WARN := -Wall -Wextra -Wformat=2 -Wmissing-prototypes -Wstrict-prototypes -Wold-style-definition \
	-Wundef -Wwrite-strings -Wredundant-decls -Wno-unused-parameter -Wno-missing-field-initializers
ifneq ($(WERROR),0)
WARN += -Werror
endif
OPT ?= -O2 -g
CFLAGS += -std=gnu11 $(OPT) $(WARN) -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -I.
VERSION := 0.1
CFLAGS += -DMMRIG_VERSION='"$(VERSION)"'

ifeq ($(V),0)
Q := @
say = @echo "  $(1)"
else
Q :=
say = @:
endif

# pkg-config runs at build time only, so that `make deps` works on a bare machine.
host_cflags = $(shell pkg-config --cflags $(PKGS) 2>/dev/null)
host_libs = $(shell pkg-config --libs $(PKGS) 2>/dev/null) -lm

not_tests = $(filter-out %_test.c,$(1))

# The guest's code is libc only. The host links it too, for the tables that describe it.
GUEST_MAIN := guest/agent.c
# workloads/template is there to be copied.
WORKLOAD_SRC := $(filter-out workloads/template/%,$(call not_tests,$(wildcard workloads/*/*.c)))
GUEST_SRC := $(filter-out $(GUEST_MAIN),$(call not_tests,$(wildcard guest/*.c))) $(WORKLOAD_SRC)
HOST_MAIN := harness/main.c
HOST_SRC := $(call not_tests,$(wildcard results/*.c results/*/*.c harness/*/*.c))
FUZZ_MAIN := ci/fuzz/main.c
FUZZ_SRC := $(filter-out $(FUZZ_MAIN),$(call not_tests,$(wildcard ci/fuzz/*.c)))
TEST_SRC := $(wildcard guest/*_test.c workloads/*/*_test.c results/*_test.c results/*/*_test.c \
	harness/*/*_test.c ci/fuzz/*_test.c)

GUEST_OBJ := $(GUEST_SRC:%.c=$(O)/guest-obj/%.o)
LIB_OBJ := $(HOST_SRC:%.c=$(O)/obj/%.o) $(GUEST_SRC:%.c=$(O)/obj/%.o)
FUZZ_OBJ := $(FUZZ_SRC:%.c=$(O)/obj/%.o)
TESTS := $(TEST_SRC:%.c=$(O)/tests/%)

all: $(O)/mmrig $(O)/agent

# Each `const struct workload workload_NAME` that there is, for guest/registry.c.
$(O)/gen/workloads.h: FORCE
	@mkdir -p $(@D)
	@sed -n 's/^const struct workload \(workload_[a-z0-9_]*\) = {$$/WORKLOAD(\1)/p' $(WORKLOAD_SRC) | LC_ALL=C sort >$@.tmp
	@cmp -s $@.tmp $@ && rm $@.tmp || mv $@.tmp $@
FORCE:

$(O)/obj/guest/registry.o $(O)/guest-obj/guest/registry.o: $(O)/gen/workloads.h
$(O)/obj/guest/registry.o $(O)/guest-obj/guest/registry.o: CFLAGS += -I$(O)/gen

$(O)/mmrig: $(O)/obj/$(HOST_MAIN:.c=.o) $(O)/libmmrig.a
	$(call say,LINK $@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(host_libs)

$(O)/agent: $(O)/guest-obj/$(GUEST_MAIN:.c=.o) $(GUEST_OBJ)
	$(call say,LINK $@)
	$(Q)$(CC) -static $(GUEST_LDFLAGS) -o $@ $^ -lm
	$(Q)strip -o $@.tmp $@ && mv $@.tmp $@

$(O)/libmmrig.a: $(LIB_OBJ)
	$(call say,AR   $@)
	$(Q)rm -f $@ && ar rcs $@ $^

$(O)/obj/%.o: %.c $(O)/deps-ok
	@mkdir -p $(@D)
	$(call say,CC   $<)
	$(Q)$(CC) $(CFLAGS) $(host_cflags) -MMD -MP -c -o $@ $<

# The agent never carries sanitizers: it is static and is PID 1.
$(O)/guest-obj/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC   $< (guest))
	$(Q)$(CC) $(filter-out -fsanitize%,$(CFLAGS)) -MMD -MP -c -o $@ $<

$(O)/tests/%: $(O)/obj/%.o $(O)/libmmrig.a
	@mkdir -p $(@D)
	$(call say,LINK $@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(O)/libmmrig.a -lcmocka $(host_libs)

$(O)/tests/ci/fuzz/replay_test: $(FUZZ_OBJ)

$(O)/fuzz: $(FUZZ_MAIN:%.c=$(O)/obj/%.o) $(FUZZ_OBJ) $(O)/libmmrig.a
	$(call say,LINK $@)
	$(Q)$(CC) $(CFLAGS) -fsanitize=fuzzer $(LDFLAGS) -o $@ $^ $(host_libs)

$(O)/deps-ok:
	@mkdir -p $(O)
	@pkg-config --exists --print-errors $(PKGS) cmocka || \
		{ echo "mmrig: libraries are missing; run: make deps" >&2; exit 1; }
	@touch $@

.SECONDARY:

-include $(shell find $(O) -name '*.d' 2>/dev/null)

# ---- set-up ----

# What building and running take; then what only tests take. Names that Debian 12 and 13 both have.
DEPS := gcc libc6-dev make pkg-config \
	libuv1-dev libjansson-dev libyaml-dev libarchive-dev libkmod-dev libelf-dev libsqlite3-dev \
	libgsl-dev libzstd-dev libgcrypt20-dev libcmocka-dev \
	qemu-system-x86 seabios kmod apt debian-archive-keyring gnuplot-nox erofs-utils e2fsprogs
TEST_DEPS := clang libclang-rt-dev python3 python3-scipy perl jq zstd sqlite3 mandoc chromium
# What kernels from source take (mmrig kernel build), and the kernel's selftests (the last three), beside DEPS.
BUILD_DEPS := git patch xz-utils zstd bc bison flex libssl-dev ccache python3 python3-kconfiglib \
	libcap-dev libnuma-dev liburing-dev
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)

# Those that are missing, and apt-get only when some are.
install_missing = missing=; for p in $(1); do \
		dpkg-query -W -f '$${Status}' $$p 2>/dev/null | grep -q 'ok installed' || missing="$$missing $$p"; \
	done; \
	if [ -n "$$missing" ]; then \
		echo "installing:$$missing"; \
		$(SUDO) apt-get update -qq && \
		$(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing; \
	fi

deps:
	@$(call install_missing,$(DEPS))

build-deps:
	@$(call install_missing,$(DEPS) $(BUILD_DEPS))

check-deps:
	@$(call install_missing,$(DEPS) $(BUILD_DEPS) $(TEST_DEPS))

# Set-up and the job proper are apart, so that "-include" sees the libraries when it builds.
DEMO_ARGS ?= --memory 4G --runs 5
demo: deps
	$(Q)$(MAKE) --no-print-directory all
	$(O)/mmrig run alias-tmpfs --kernel debian:7.3 $(DEMO_ARGS)

# The same with a kernel built twice from source, with a patch and without: the post's three rows.
demo-patch: build-deps
	$(Q)$(MAKE) --no-print-directory all
	$(O)/mmrig run alias-patched $(DEMO_ARGS)

# ---- tests ----

unit: all $(TESTS)
	$(Q)sh ci/unit.sh $(TESTS)

check: check-deps
	$(Q)$(MAKE) --no-print-directory all $(TESTS)
	$(Q)$(MAKE) --no-print-directory fuzz-build
	$(Q)O=$(O) bash ci/check.sh $(TESTS)

# The experiments of the posts, in under an hour: ci/suites/seeds.
suite-seeds: all
	$(Q)MMRIG=$(O)/mmrig bash ci/suite.sh ci/suites/seeds $(SUITE_ARGS)

$(O)/bench: $(O)/obj/ci/bench.o $(O)/libmmrig.a
	$(call say,LINK $@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(host_libs)

$(O)/bench-results: $(O)/obj/ci/bench-results.o $(O)/libmmrig.a
	$(call say,LINK $@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(host_libs)

$(O)/bench-init: $(O)/guest-obj/ci/bench-init.o
	$(call say,LINK $@)
	$(Q)$(CC) -static $(GUEST_LDFLAGS) -o $@ $^ && strip $@

BENCH_KERNEL ?= debian:7.3
BENCH_ROUNDS ?= 3
bench: all $(O)/bench $(O)/bench-init $(O)/bench-results
	$(Q)$(O)/mmrig kernel fetch $(BENCH_KERNEL) >/dev/null
	$(Q)$(O)/mmrig run alias-tmpfs --kernel $(BENCH_KERNEL) --memory 2G --set residue=4,0 --set sample_ms=10 --fork --runs 10 \
		--allow-starved --quiet >/dev/null
	$(Q)$(O)/bench-results $(O)/mmrig results/testdata/vmstat-7.3-end.txt
	$(Q)$(O)/bench $(O)/mmrig $(O)/bench-init $(BENCH_KERNEL) $(BENCH_ROUNDS)

asan:
	$(Q)$(MAKE) --no-print-directory O=build-asan \
		OPT="-O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined" unit

# One program of all targets, which is told by its name which it is; ci/fuzz.sh makes the names.
FUZZ_OPT := -O1 -g -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined \
	-fno-sanitize-recover=undefined
fuzz-build:
	@command -v clang >/dev/null || { echo "mmrig: clang is missing; run: make check-deps" >&2; exit 1; }
	$(Q)$(MAKE) --no-print-directory O=build-fuzz CC=clang OPT="$(FUZZ_OPT)" build-fuzz/fuzz

FUZZ_SECONDS ?= 60
fuzz: fuzz-build
	$(Q)FUZZ_SECONDS=$(FUZZ_SECONDS) bash ci/fuzz.sh build-fuzz/fuzz $(FUZZ_TARGETS)

# ---- installation ----

$(O)/mmrig.1: $(O)/mmrig
	$(call say,MAN  $@)
	$(Q)$(O)/mmrig help --man > $@.tmp && mv $@.tmp $@

man: $(O)/mmrig.1
	@echo "to read it: man -l $<"

install: all $(O)/mmrig.1
	install -D -m 755 $(O)/mmrig $(DESTDIR)$(PREFIX)/bin/mmrig
	install -D -m 755 $(O)/agent $(DESTDIR)$(PREFIX)/libexec/mmrig/agent
	install -D -m 644 $(O)/mmrig.1 $(DESTDIR)$(PREFIX)/share/man/man1/mmrig.1
	install -d $(DESTDIR)$(PREFIX)/share/bash-completion/completions
	$(O)/mmrig help --completion > $(DESTDIR)$(PREFIX)/share/bash-completion/completions/mmrig
	for f in workloads/*/*.yaml workloads/*/*.patch workloads/*/README.md harness/build/config/* \
			harness/build/*.py; do [ -f $$f ] || continue; \
		install -D -m 644 $$f $(DESTDIR)$(PREFIX)/share/mmrig/$$f || exit 1; done

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/mmrig $(DESTDIR)$(PREFIX)/share/man/man1/mmrig.1 \
		$(DESTDIR)$(PREFIX)/share/bash-completion/completions/mmrig
	rm -rf $(DESTDIR)$(PREFIX)/libexec/mmrig $(DESTDIR)$(PREFIX)/share/mmrig

help:
	@sed -n '3,/^$$/s/^# \{0,1\}//p' Makefile

clean:
	rm -rf build build-asan build-fuzz

.PHONY: all deps build-deps check-deps demo demo-patch unit check suite-seeds bench asan fuzz fuzz-build man install uninstall help clean FORCE
