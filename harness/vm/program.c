// SPDX-License-Identifier: GPL-2.0-only
#include "harness/vm/program.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "harness/kernel/child.h"
#include "harness/vm/args.h"
#include "harness/vm/vm.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"
#include "results/util/hash.h"
#include "results/verdict.h"

#define QEMU_DEFAULT "qemu-system-x86_64"
#define INSTALL_HINT "install it: apt install qemu-system-x86"
#define FEATURES_SCHEMA 1

char *qemu_find(const char *qemu, struct error *err)
{
	const char *name = qemu ? qemu : QEMU_DEFAULT;
	cleanup_free char *path = xstrdup(getenv("PATH") ? getenv("PATH") : "/usr/bin:/bin");
	char *rest, real[PATH_MAX];

	if (strchr(name, '/')) {
		if (access(name, X_OK) == 0 && realpath(name, real))
			return xstrdup(real);
		error_errno(err, EXIT_NO_VERDICT, "%s: cannot run this QEMU", name);
		return NULL;
	}
	for (char *dir = strtok_r(path, ":", &rest); dir; dir = strtok_r(NULL, ":", &rest)) {
		cleanup_free char *file = path_join(dir, name);

		if (access(file, X_OK) == 0 && realpath(file, real))
			return xstrdup(real);
	}
	error_set(err, EXIT_NO_VERDICT, "%s: not found in PATH", name);
	error_hint(err, INSTALL_HINT);
	return NULL;
}

char *qemu_identity(const char *path, struct error *err)
{
	struct stat st;

	if (stat(path, &st) < 0) {
		error_errno(err, EXIT_NO_VERDICT, "%s", path);
		return NULL;
	}
	return str_printf("%s %lld %lld.%09ld", path, (long long)st.st_size,
			  (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
}

/* All of stdout; a version or a list of devices is far below the limit. */
#define OUTPUT_MAX (1 << 20)

static void keep_line(void *arg, const char *line)
{
	struct strbuf *sb = arg;

	if (sb->len < OUTPUT_MAX)
		strbuf_addf(sb, "%s\n", line);
}

static int ask(const char *const *argv, struct strbuf *out, struct strbuf *errors,
	       struct error *err)
{
	int status = child_run(argv, NULL, keep_line, out, errors, err);

	if (status < 0)
		return -1;
	if (status == 0 && out->len)
		return 0;
	return error_set(err, EXIT_NO_VERDICT, "%s %s: failed with status %d: %.*s", argv[0],
			 argv[1], status, errors->data ? (int)strcspn(errors->data, "\n") : 0,
			 errors->data ? errors->data : "");
}

char *qemu_version(const char *qemu, struct error *err)
{
	static const char key[] = "QEMU emulator version ";
	cleanup_free char *path = qemu_find(qemu, err);
	cleanup_strbuf struct strbuf out = STRBUF_INIT, errors = STRBUF_INIT;
	const char *at;

	if (!path || ask((const char *const[]){ path, "-version", NULL }, &out, &errors, err) < 0)
		return NULL;
	at = strstr(out.data, key);
	if (!at) {
		error_set(err, EXIT_NO_VERDICT, "%s: is no QEMU: -version prints \"%.*s\"", path,
			  (int)strcspn(out.data, "\n"), out.data);
		error_hint(err, INSTALL_HINT);
		return NULL;
	}
	at += strlen(key);
	return xstrndup(at, strcspn(at, " \n"));
}

static int ask_features(const char *path, struct qemu_features *f, struct error *err)
{
	/* QEMU checks the sandbox before it answers, so one call tells both. */
	const char *const with[] = { path, "-sandbox", QEMU_SANDBOX, "-device", "help", NULL };
	const char *const without[] = { path, "-device", "help", NULL };
	const char *const machine[] = { path, "-machine", "help", NULL };
	cleanup_strbuf struct strbuf devices = STRBUF_INIT, machines = STRBUF_INIT,
				     errors = STRBUF_INIT;

	f->sandbox = ask(with, &devices, &errors, NULL) == 0;
	if (!f->sandbox && ask(without, &devices, &errors, err) < 0)
		return -1;
	if (ask(machine, &machines, &errors, err) < 0)
		return -1;
	f->virtio_serial = strstr(devices.data, "\"virtio-serial-pci\"") &&
			   strstr(devices.data, "\"virtserialport\"");
	f->q35 = strstr(machines.data, "q35") != NULL;
	return 0;
}

/* Each build of QEMU has its own file, named by its path and holding its identity. */
static char *features_file(const char *path, struct error *err)
{
	cleanup_free char *dir = cache_dir("qemu", err), *hash = hash_bytes(path, strlen(path));
	cleanup_free char *name = str_printf("%.16s.json", strchr(hash, ':') + 1);

	return dir ? path_join(dir, name) : NULL;
}

static bool load_features(const char *file, const char *identity, struct qemu_features *f)
{
	json_t *o = json_load_file(file, 0, NULL);
	const char *same;
	int schema, sandbox, virtio_serial, q35;
	bool ok = json_unpack(o, "{s:i,s:s,s:b,s:b,s:b}", "schema", &schema, "identity", &same,
			      "sandbox", &sandbox, "virtio_serial", &virtio_serial, "q35",
			      &q35) == 0 &&
		  schema == FEATURES_SCHEMA && strcmp(same, identity) == 0;

	if (ok)
		*f = (struct qemu_features){ sandbox, virtio_serial, q35 };
	json_decref(o);
	return ok;
}

static void store_features(const char *file, const char *identity, const struct qemu_features *f)
{
	json_t *o = json_pack("{s:i,s:s%,s:b,s:b,s:b}", "schema", FEATURES_SCHEMA, "identity",
			      identity, strlen(identity), "sandbox", f->sandbox, "virtio_serial",
			      f->virtio_serial, "q35", f->q35);
	cleanup_free char *text = o ? json_dumps(o, JSON_INDENT(2)) : NULL;

	if (text) /* a path that is no UTF-8 is asked every time */
		file_write_atomic(file, text, strlen(text), 0644, NULL);
	json_decref(o);
}

int qemu_probe(const char *path, struct qemu_features *f, struct error *err)
{
	cleanup_free char *identity = qemu_identity(path, err);
	cleanup_free char *file = identity ? features_file(path, err) : NULL;

	if (!file)
		return -1;
	if (load_features(file, identity, f))
		return 0;
	if (ask_features(path, f, err) < 0)
		return -1;
	store_features(file, identity, f);
	return 0;
}
