/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * /proc/stat: time of each online CPU by class.
 *
 * The unit is USER_HZ ticks, 10 ms as a rule, so a share is good to 1 % only
 * over a second or more.  guest time is already inside user, guest_nice inside nice.
 */
#include "probes/proc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "probes/probes_table.h"
#include "src/core/text.h"

static const size_t cpu_columns[] = {
	offsetof(struct cpu_sample, user_us),
	offsetof(struct cpu_sample, nice_us),
	offsetof(struct cpu_sample, system_us),
	offsetof(struct cpu_sample, idle_us),
	offsetof(struct cpu_sample, iowait_us),
	offsetof(struct cpu_sample, irq_us),
	offsetof(struct cpu_sample, softirq_us),
	offsetof(struct cpu_sample, steal_us),
};

static struct nd_u64 ticks_to_us(const char *word, struct nd_u64 user_hz)
{
	uint64_t ticks, us;

	if (user_hz.k != ND_KNOWN)
		return nd_u64_unknown(user_hz.k);
	if (!user_hz.v || parse_u64(word, &ticks) ||
	    __builtin_mul_overflow(ticks, UINT64_C(1000000), &us))
		return nd_u64_unknown(ND_INVALID);
	return nd_u64(us / user_hz.v);
}

static int add_cpu(uint64_t cpu, char *columns, struct nd_u64 user_hz, struct counters *c)
{
	struct cpu_sample *row = arena_append_row(c->mem, (void **)&c->cpus, &c->ncpus,
						  sizeof(*row));

	if (!row)
		return -ENOMEM;
	row->cpu = nd_u64(cpu);
	for (size_t i = 0; i < ARRAY_SIZE(cpu_columns); i++) {
		char *word = next_word(&columns);
		struct nd_u64 *member = (void *)((char *)row + cpu_columns[i]);

		/* Kernels of long ago have fewer columns: absent, not zero. */
		*member = word ? ticks_to_us(word, user_hz) : nd_u64_unknown(ND_ABSENT);
	}
	return 0;
}

int parse_proc_stat(char *text, struct nd_u64 user_hz, struct counters *c)
{
	char *line;

	while ((line = next_line(&text))) {
		char *word = next_word(&line);
		uint64_t cpu;

		if (!word || strncmp(word, "cpu", 3)) {
			/* cpu lines come first; the interrupt line behind them is long. */
			if (c->ncpus)
				break;
			continue;
		}
		if (parse_u64(word + 3, &cpu) || cpu >= ND_MAX_CPUS)
			continue;	/* "cpu", the sum, or a CPU that we cannot hold */
		if (add_cpu(cpu, line, user_hz, c))
			return -ENOMEM;
	}
	return c->ncpus ? 0 : -EBADMSG;
}

static int sample_cpus(struct source *src, const struct facts *f, struct counters *c)
{
	char *text;
	ssize_t n = source_read_all(src, "/proc/stat", PROC_FILE_MAX, &text);
	int rc;

	if (n < 0)
		return n;
	rc = parse_proc_stat(text, f->host.clock_ticks_per_second, c);
	free(text);
	return rc;
}

const struct counter_probe counter_cpus = {
	.name = "cpus",
	.rate = COUNTER_EVERY_SAMPLE,
	.sample = sample_cpus,
};
