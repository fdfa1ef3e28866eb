/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From a cgroup's name to its directory.
 *
 * /proc/self/cgroup names the group seen from our cgroup namespace,
 * /proc/self/mountinfo says which group is mounted where.  In a container the
 * mount often shows a part only: docker without a cgroup namespace mounts
 * /docker/ID, and a process outside of its namespace's root reads "/../other".
 */
#include "probes/proc.h"

#include <errno.h>
#include <string.h>

#include "src/core/text.h"

/* Whether a comma-separated list holds the word. */
static bool list_has(const char *list, const char *word)
{
	size_t len = strlen(word);

	while (*list) {
		size_t n = strcspn(list, ",");

		if (n == len && !strncmp(list, word, len))
			return true;
		list += n;
		list += *list == ',';
	}
	return false;
}

void parse_self_cgroup(char *text, struct cgroup_place *cpu, struct cgroup_place *cpuset)
{
	struct cgroup_place unified = { 0, NULL };
	char *line;

	*cpu = *cpuset = unified;
	/* "4:cpu,cpuacct:/path", or "0::/path" for v2; the path may hold colons. */
	while ((line = next_line(&text))) {
		char *controllers = strchr(line, ':');
		char *path = controllers ? strchr(controllers + 1, ':') : NULL;

		if (!path || path[1] != '/')
			continue;
		*controllers++ = '\0';
		*path++ = '\0';
		if (!strcmp(line, "0") && !*controllers)
			unified = (struct cgroup_place){ 2, path };
		if (list_has(controllers, "cpu"))
			*cpu = (struct cgroup_place){ 1, path };
		if (list_has(controllers, "cpuset"))
			*cpuset = (struct cgroup_place){ 1, path };
	}
	if (!cpu->version)
		*cpu = unified;
	if (!cpuset->version)
		*cpuset = unified;
}

/* In place: mountinfo writes blanks, newlines and backslashes as \ooo. */
static void unescape(char *s)
{
	char *out = s;

	while (*s) {
		if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' && s[2] <= '7' &&
		    s[3] >= '0' && s[3] <= '7') {
			*out++ = (char)((s[1] - '0') * 64 + (s[2] - '0') * 8 + (s[3] - '0'));
			s += 4;
		} else {
			*out++ = *s++;
		}
	}
	*out = '\0';
}

/* The part of path below root, "/" when they are equal; NULL when it is not below. */
static const char *path_below(const char *path, const char *root)
{
	size_t len = strlen(root);

	if (!strcmp(root, "/"))
		len = 0;
	if (strncmp(path, root, len) || (path[len] && path[len] != '/'))
		return NULL;
	/* A path that climbs leads out of what is mounted. */
	if (strstr(path + len, "/../") || !strcmp(path + len, "/.."))
		return NULL;
	return path[len] ? path + len : "/";
}

struct mount { char *root, *point, *type, *super_options; };

/* "31 30 0:28 ROOT POINT OPTIONS [OPTIONAL...] - TYPE SOURCE SUPER_OPTIONS" */
static bool parse_mount(char *line, struct mount *m)
{
	char *word;

	for (int i = 0; i < 3; i++) {
		if (!next_word(&line))
			return false;
	}
	m->root = next_word(&line);
	m->point = next_word(&line);
	while ((word = next_word(&line)) && strcmp(word, "-"))
		;
	m->type = next_word(&line);
	next_word(&line);
	m->super_options = next_word(&line);
	if (!m->super_options)
		return false;
	unescape(m->root);
	unescape(m->point);
	return true;
}

int find_cgroup_mount(char *mountinfo, const struct cgroup_place *place, const char *controller,
		      struct arena *mem, const char **mount_point, const char **below)
{
	const char *type = place->version == 1 ? "cgroup" : "cgroup2";
	const char *best = NULL, *best_point = NULL;
	char *line;

	while ((line = next_line(&mountinfo))) {
		const char *here;
		struct mount m;

		if (!parse_mount(line, &m) || strcmp(m.type, type))
			continue;
		if (place->version == 1 && !list_has(m.super_options, controller))
			continue;
		here = path_below(place->path, m.root);
		/* The widest view shows the most ancestors. */
		if (here && (!best || strlen(here) > strlen(best))) {
			best = here;
			best_point = m.point;
		}
	}
	if (!best)
		return -ENOENT;
	*mount_point = arena_strdup(mem, best_point);
	*below = arena_strdup(mem, best);
	return *mount_point && *below ? 0 : -ENOMEM;
}
