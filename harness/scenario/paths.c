// SPDX-License-Identifier: GPL-2.0-only
/* Files that a scenario names. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/scenario/scenario_impl.h"
#include "results/util/cleanup.h"
#include "results/util/file.h"

#define TEXT_BYTES_MAX 65536

char *path_of(const struct node *n, struct error *err)
{
	const char *home = getenv("HOME"), *slash = strrchr(n->label, '/');

	if (n->text[0] == '~' && (n->text[1] == '/' || !n->text[1])) {
		if (home && *home)
			return str_printf("%s%s", home, n->text + 1);
		node_error(err, n, "%s: HOME is not set, so there is no ~", n->text);
		return NULL;
	}
	return *n->text == '/' || !slash || str_starts(n->label, "--set ") ?
		       xstrdup(n->text) :
		       str_printf("%.*s/%s", (int)(slash - n->label), n->label, n->text);
}

char *path_there(const struct node *n, const char *what, mode_t type, struct error *err)
{
	cleanup_free char *path = path_of(n, err);
	struct stat st;

	if (!path)
		return NULL;
	if (stat(path, &st) < 0 || access(path, R_OK) < 0)
		node_error(err, n, "%s: %s: %s", what, path, strerror(errno));
	else if ((st.st_mode & S_IFMT) != type)
		node_error(err, n, "%s: %s: %s", what, path,
			   type == S_IFDIR ? "is no folder" : "is no file");
	else
		return STEAL(path);
	return NULL;
}

char *path_text(const struct node *n, const char *what, struct error *err)
{
	cleanup_error struct error local = ERROR_INIT;
	cleanup_free char *path = NULL, *text = NULL;
	size_t len;

	if (strchr(n->text, '\n'))
		return xstrdup(n->text);
	path = path_there(n, what, S_IFREG, err);
	if (!path)
		return NULL;
	text = file_read(path, TEXT_BYTES_MAX, &len, &local);
	if (!text)
		node_error(err, n, "%s: %s", what, local.text);
	else if (strlen(text) != len)
		node_error(err, n, "%s: %s: is no text", what, path);
	else
		return STEAL(text);
	return NULL;
}
