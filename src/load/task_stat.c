/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/load/task_stat.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "src/core/text.h"

/* Fields of /proc/PID/stat as proc(5) numbers them; 3 is the first after the name. */
enum stat_field { STAT_STATE = 3, STAT_UTIME = 14, STAT_STIME = 15, STAT_PROCESSOR = 39 };

static struct nd_u64 number(const char *word)
{
	uint64_t v;

	if (!word)
		return nd_u64_unknown(ND_ABSENT);
	return parse_u64(word, &v) == 0 ? nd_u64(v) : nd_u64_unknown(ND_INVALID);
}

static struct nd_u64 ticks_to_us(struct nd_u64 ticks, uint64_t ticks_per_second)
{
	if (ticks.k != ND_KNOWN)
		return ticks;
	if (ticks_per_second == 0 || ticks.v > UINT64_MAX / 1000000)
		return nd_u64_unknown(ND_INVALID);
	return nd_u64(ticks.v * 1000000 / ticks_per_second);
}

void parse_task_stat(char *text, uint64_t ticks_per_second, struct worker_sample *out)
{
	/* The thread's name may itself hold blanks and parentheses. */
	char *cursor = strrchr(text, ')');
	struct nd_u64 utime = number(NULL), stime = number(NULL);

	out->cpu = number(NULL);
	if (cursor)
		cursor++;
	for (int i = STAT_STATE; cursor && i <= STAT_PROCESSOR; i++) {
		const char *word = next_word(&cursor);

		if (i == STAT_UTIME)
			utime = number(word);
		else if (i == STAT_STIME)
			stime = number(word);
		else if (i == STAT_PROCESSOR)
			out->cpu = number(word);
		if (!word)
			break;
	}
	out->user_us = ticks_to_us(utime, ticks_per_second);
	out->system_us = ticks_to_us(stime, ticks_per_second);
}

void parse_task_schedstat(char *text, struct worker_sample *out)
{
	char *cursor = text;
	struct nd_u64 ran = number(next_word(&cursor));
	struct nd_u64 waited = number(next_word(&cursor));
	struct nd_u64 slices = number(next_word(&cursor));

	/* A kernel without CONFIG_SCHED_INFO has the file and writes "0 0 0". */
	if (nd_u64_is(ran, 0) && nd_u64_is(slices, 0))
		waited = nd_u64_unknown(ND_NOT_SUPPORTED);
	out->run_delay_us = waited.k == ND_KNOWN ? nd_u64(waited.v / 1000) : waited;
}

void parse_task_status(char *text, struct worker_sample *out)
{
	const struct { const char *key; struct nd_u64 *to; } want[] = {
		{ "voluntary_ctxt_switches:", &out->voluntary_switches },
		{ "nonvoluntary_ctxt_switches:", &out->involuntary_switches },
	};
	char *cursor = text, *line;

	for (size_t i = 0; i < ARRAY_SIZE(want); i++)
		*want[i].to = number(NULL);
	while ((line = next_line(&cursor)) != NULL) {
		const char *key = next_word(&line);

		for (size_t i = 0; key && i < ARRAY_SIZE(want); i++)
			if (strcmp(key, want[i].key) == 0)
				*want[i].to = number(next_word(&line));
	}
}

void task_unknown(enum nd_known why, struct worker_sample *out)
{
	const struct nd_u64 none = nd_u64_unknown(why);

	out->thread_id = out->cpu = out->cpu_us = none;
	out->user_us = out->system_us = out->run_delay_us = none;
	out->voluntary_switches = out->involuntary_switches = none;
	memset(&out->allowed, 0, sizeof(out->allowed));
	out->allowed.k = why;
}

static struct nd_u64 thread_cpu_us(clockid_t cpu_clock)
{
	struct timespec t;

	if (clock_gettime(cpu_clock, &t) < 0)
		return nd_u64_unknown(nd_known_from_errno(errno));
	return nd_u64((uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000);
}

static void read_allowed(pid_t tid, struct nd_cpus *out)
{
	cpu_set_t set;

	memset(out, 0, sizeof(*out));
	/* EINVAL: the machine has more CPUs than fit. */
	if (sched_getaffinity(tid, sizeof(set), &set) < 0) {
		out->k = errno == EINVAL ? ND_INVALID : nd_known_from_errno(errno);
		return;
	}
	for (unsigned int cpu = 0; cpu < CPU_SETSIZE && cpu < ND_MAX_CPUS; cpu++)
		if (CPU_ISSET(cpu, &set))
			nd_cpus_set(out, cpu);
}

static ssize_t read_task_file(struct source *src, pid_t tid, const char *name, char *buf,
			      size_t cap)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%d/%s", (int)tid, name);
	return source_read(src, path, buf, cap);
}

void read_task(struct source *src, pid_t tid, clockid_t cpu_clock, struct worker_sample *out)
{
	long ticks = sysconf(_SC_CLK_TCK);
	char text[8192];
	ssize_t n;

	task_unknown(ND_FAILED, out);
	out->thread_id = nd_u64((uint64_t)tid);
	out->cpu_us = thread_cpu_us(cpu_clock);
	read_allowed(tid, &out->allowed);

	n = read_task_file(src, tid, "stat", text, sizeof(text));
	if (n >= 0)
		parse_task_stat(text, ticks > 0 ? (uint64_t)ticks : 0, out);
	else
		out->user_us = out->system_us = out->cpu =
			nd_u64_unknown(nd_known_from_errno((int)-n));
	n = read_task_file(src, tid, "schedstat", text, sizeof(text));
	if (n >= 0)
		parse_task_schedstat(text, out);
	else
		out->run_delay_us = nd_u64_unknown(nd_known_from_errno((int)-n));
	n = read_task_file(src, tid, "status", text, sizeof(text));
	if (n >= 0)
		parse_task_status(text, out);
	else
		out->voluntary_switches = out->involuntary_switches =
			nd_u64_unknown(nd_known_from_errno((int)-n));
}
