// SPDX-License-Identifier: GPL-2.0-only
#include "harness/vm/args.h"

#include <ctype.h>
#include <string.h>

#include "results/util/cleanup.h"

struct args {
	char **argv;
	size_t n;
};

/* Takes over `word`. */
static void add(struct args *a, char *word)
{
	a->argv = xreallocarray(a->argv, a->n + 2, sizeof(*a->argv));
	a->argv[a->n++] = word;
	a->argv[a->n] = NULL;
}

static void add2(struct args *a, const char *option, char *value)
{
	add(a, xstrdup(option));
	add(a, value);
}

char *qemu_escape(const char *value)
{
	struct strbuf sb = STRBUF_INIT;

	for (; *value; value++)
		strbuf_adds(&sb, *value == ',' ? ",," : (char[]){ *value, '\0' });
	return strbuf_steal(&sb);
}

/* A bare number would be MiB to QEMU. */
static char *memory_size(uint64_t bytes)
{
	cleanup_free char *text = str_format_bytes(bytes);

	return str_printf("%s%s", text, isdigit((unsigned char)text[strlen(text) - 1]) ? "B" : "");
}

/*
 * Guest time counts instructions (2 ns each) on one host thread; the clock of the day starts at a
 * fixed second and follows guest time; RDRAND and RDSEED are hidden, and what QEMU itself hands the
 * guest as entropy comes from -seed.
 */
static void add_deterministic(struct args *a, const struct vm_config *c)
{
	add2(a, "-accel", xstrdup("tcg,thread=single"));
	add2(a, "-icount", xstrdup("shift=1,sleep=off"));
	add2(a, "-cpu", xstrdup("max,rdrand=off,rdseed=off"));
	add2(a, "-rtc", xstrdup("base=2026-01-01T00:00:00,clock=vm"));
	add2(a, "-seed", str_printf("%llu", (unsigned long long)c->seed));
}

/*
 * Memory named ram, ram0, ram1 ... Of a template it is the i'th inherited memfd, opened by its
 * number: mapped shared by its maker, copy-on-write by forks.
 */
static void add_memory(struct args *a, const struct vm_config *c, const char *id, uint64_t bytes, size_t i)
{
	cleanup_free char *size = memory_size(bytes);

	if (c->role == VM_ALONE)
		add2(a, "-object", str_printf("memory-backend-ram,id=%s,size=%s", id, size));
	else
		add2(a, "-object",
		     str_printf("memory-backend-file,id=%s,size=%s,mem-path=/proc/self/fd/%zu,share=%s", id,
				size, QEMU_FD_MEMORY + i, c->role == VM_FORKS ? "off" : "on"));
}

static void add_node(struct args *a, const struct vm_config *c, size_t i, unsigned int first_cpu)
{
	const struct vm_node *node = &c->node[i];
	cleanup_free char *id = str_printf("ram%zu", i);
	struct strbuf sb = STRBUF_INIT;

	strbuf_addf(&sb, "node,nodeid=%zu", i);
	if (node->cpus)
		strbuf_addf(&sb, ",cpus=%u-%u", first_cpu, first_cpu + node->cpus - 1);
	if (node->memory_bytes) {
		add_memory(a, c, id, node->memory_bytes, i);
		strbuf_addf(&sb, ",memdev=%s", id);
	}
	add2(a, "-numa", strbuf_steal(&sb));
}

static void add_distances(struct args *a, const struct vm_config *c)
{
	for (size_t from = 0; c->distance && from < c->nnodes; from++)
		for (size_t to = 0; to < c->nnodes; to++)
			add2(a, "-numa",
			     str_printf("dist,src=%zu,dst=%zu,val=%u", from, to,
					c->distance[from * c->nnodes + to]));
}

/* Guest memory where QEMU is to take it from an object: that of a template, and that of nodes. */
static void add_memories(struct args *a, const struct vm_config *c)
{
	unsigned int cpu = 0;

	if (!c->nnodes && c->role != VM_ALONE)
		add_memory(a, c, "ram", c->memory_bytes, 0);
	for (size_t i = 0; i < c->nnodes; i++) {
		add_node(a, c, i, cpu);
		cpu += c->node[i].cpus;
	}
	add_distances(a, c);
	if (c->role == VM_FORKS)
		add2(a, "-incoming", xstrdup("defer"));
}

/* The scheduler warns (once, which would be a splat) where CPUs of one socket sit on two nodes. */
static char *smp(const struct vm_config *c)
{
	return c->nnodes ? str_printf("%u,sockets=%u,cores=1,threads=1", c->cpus, c->cpus) :
			   str_printf("%u", c->cpus);
}

/*
 * Exec to PID 1 with Debian's 7.3.4 cloud kernel (bzImage), 2 vCPUs, 2 GiB, TCG, QEMU 7.2, as
 * ratios to q35 + SeaBIOS (2.3 s): pc 1.04, qboot 0.97, microvm 0.94, hpet=off 0.98, one vCPU
 * 1.27, thread=single 1.11, named CPU models and la57=off 1.0: nothing that would pay for being
 * special. An uncompressed vmlinux (PVH) is the one large gain: 0.72.
 */
static void add_machine(struct args *a, const struct vm_config *c, const struct qemu_features *f)
{
	bool kvm = c->accel == VM_ACCEL_KVM;

	add(a, xstrdup("-nodefaults"));
	add(a, xstrdup("-no-user-config"));
	if (f->sandbox)
		add2(a, "-sandbox", xstrdup(QEMU_SANDBOX));
	add2(a, "-machine",
	     str_printf("%s%s", f->q35 ? "q35" : "pc", c->role == VM_ALONE || c->nnodes ? "" : ",memory-backend=ram"));
	if (c->deterministic) {
		add_deterministic(a, c);
	} else {
		add2(a, "-accel", xstrdup(kvm ? "kvm" : "tcg,thread=multi"));
		add2(a, "-cpu", xstrdup(kvm ? "host" : "max"));
	}
	add2(a, "-smp", smp(c));
	add2(a, "-m", memory_size(c->memory_bytes));
	add_memories(a, c);
	add2(a, "-display", xstrdup("none"));
	add2(a, "-vga", xstrdup("none"));
	add(a, xstrdup("-no-reboot"));
}

static void add_socket(struct args *a, const char *id, int fd)
{
	add2(a, "-chardev", str_printf("socket,id=%s,fd=%d", id, fd));
}

static void add_files(struct args *a)
{
	add2(a, "-chardev", str_printf("file,id=console,path=/proc/self/fd/%d", QEMU_FD_CONSOLE));
	add2(a, "-serial", xstrdup("chardev:console"));
	add2(a, "-chardev", str_printf("file,id=wire,path=/proc/self/fd/%d", QEMU_FD_WIRE));
	add2(a, "-serial", xstrdup("chardev:wire"));
}

static void add_serial_and_wire(struct args *a, const struct vm_config *c)
{
	add_socket(a, "console", QEMU_FD_CONSOLE);
	add2(a, "-serial", xstrdup("chardev:console"));
	add_socket(a, "wire", QEMU_FD_WIRE);
	if (c->channel == VM_CHANNEL_VIRTIO) {
		add2(a, "-device", xstrdup("virtio-serial-pci"));
		add2(a, "-device", xstrdup("virtserialport,chardev=wire,name=mmrig.0"));
	} else {
		add2(a, "-serial", xstrdup("chardev:wire"));
	}
}

static void add_channels(struct args *a, const struct vm_config *c)
{
	if (c->channel == VM_CHANNEL_FILES)
		add_files(a);
	else
		add_serial_and_wire(a, c);
	add_socket(a, "qmp", QEMU_FD_QMP);
	add2(a, "-mon", xstrdup("chardev=qmp,mode=control"));
}

/*
 * What is written dies with the VM, so nothing is ever flushed to the host's disk. A full host disk stops
 * the guest (werror=stop) rather than showing it an error that is not its own.
 */
static void add_disk(struct args *a, const struct vm_disk *d, size_t i)
{
	cleanup_free char *path = qemu_escape(d->path);

	add2(a, "-blockdev",
	     str_printf("driver=raw,node-name=disk%zu,file.driver=file,file.filename=%s,read-only=%s,"
			"cache.no-flush=on%s",
			i, path, d->writable ? "off" : "on", d->writable ? ",discard=unmap" : ""));
	add2(a, "-device",
	     str_printf("virtio-blk-pci,drive=disk%zu,serial=%s%s", i, d->serial,
			d->writable ? ",werror=stop" : ""));
}

char **args_build(const char *program, const struct vm_config *c, const struct qemu_features *f)
{
	struct args a = { 0 };

	add(&a, xstrdup(program));
	add_machine(&a, c, f);
	add_channels(&a, c);
	for (size_t i = 0; i < c->ndisks; i++)
		add_disk(&a, &c->disk[i], i);
	add2(&a, "-kernel", xstrdup(c->kernel)); /* taken whole by QEMU: no commas to double */
	if (c->initrd)
		add2(&a, "-initrd", xstrdup(c->initrd));
	add2(&a, "-append", xstrdup(c->cmdline ? c->cmdline : ""));
	for (const char *const *extra = c->extra; extra && *extra; extra++)
		add(&a, xstrdup(*extra));
	return a.argv;
}

void args_free(char **argv)
{
	for (char **p = argv; p && *p; p++)
		free(*p);
	free(argv);
}

static void add_quoted(struct strbuf *sb, const char *word)
{
	if (*word && !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					"0123456789-_=+,./:@%")]) {
		strbuf_adds(sb, word);
		return;
	}
	strbuf_adds(sb, "'");
	for (; *word; word++)
		strbuf_adds(sb, *word == '\'' ? "'\\''" : (char[]){ *word, '\0' });
	strbuf_adds(sb, "'");
}

char *args_quote(char *const *argv)
{
	struct strbuf sb = STRBUF_INIT;

	for (; *argv; argv++) {
		if (sb.len)
			strbuf_adds(&sb, " ");
		add_quoted(&sb, *argv);
	}
	return strbuf_steal(&sb);
}
