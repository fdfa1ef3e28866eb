/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * /proc/net/softnet_stat: one row of hexadecimal columns per online CPU.
 *
 * Columns were added over time: received_rps 2.6.36, flow_limit 3.11, backlog
 * length and CPU id 5.10.  Without the CPU id the nth row is the nth online
 * CPU, which is not CPU n once one of them is offline.
 */
#include "probes/proc.h"

#include <errno.h>
#include <stdlib.h>

#include "probes/probes_table.h"
#include "src/core/text.h"

enum { COLUMN_CPU = 12, COLUMNS_READ = 13, COLUMNS_AT_LEAST = 9 };

static const struct { size_t column, member; } softnet_columns[] = {
	{ 0, offsetof(struct softnet_sample, processed) },
	{ 1, offsetof(struct softnet_sample, dropped) },
	{ 2, offsetof(struct softnet_sample, time_squeeze) },
	{ 9, offsetof(struct softnet_sample, received_rps) },
	{ 10, offsetof(struct softnet_sample, flow_limit) },
	{ 11, offsetof(struct softnet_sample, backlog) },
};

static unsigned int next_online(const struct nd_cpus *online, unsigned int from)
{
	while (from < ND_MAX_CPUS && !nd_cpus_has(online, from))
		from++;
	return from;
}

static int add_row(const struct nd_u64 *column, size_t n, struct nd_u64 cpu, struct counters *c)
{
	struct softnet_sample *row = arena_append_row(c->mem, (void **)&c->softnet, &c->nsoftnet,
						      sizeof(*row));

	if (!row)
		return -ENOMEM;
	row->cpu = cpu;
	for (size_t i = 0; i < ARRAY_SIZE(softnet_columns); i++) {
		struct nd_u64 *out = (void *)((char *)row + softnet_columns[i].member);

		*out = softnet_columns[i].column < n ? column[softnet_columns[i].column]
						     : nd_u64_unknown(ND_ABSENT);
	}
	return 0;
}

int parse_softnet(char *text, const struct nd_cpus *online, struct counters *c)
{
	unsigned int next_cpu = online->k == ND_KNOWN ? next_online(online, 0) : ND_MAX_CPUS;
	char *line;

	while ((line = next_line(&text))) {
		struct nd_u64 column[COLUMNS_READ], cpu;
		size_t n = 0;
		char *word;

		for (; n < COLUMNS_READ && (word = next_word(&line)); n++) {
			column[n] = nd_u64(0);
			if (parse_hex_u64(word, &column[n].v))
				column[n] = nd_u64_unknown(ND_INVALID);
		}
		if (n < COLUMNS_AT_LEAST)
			continue;
		if (n > COLUMN_CPU)
			cpu = column[COLUMN_CPU];
		else if (next_cpu < ND_MAX_CPUS)
			cpu = nd_u64(next_cpu);
		else
			cpu = nd_u64_unknown(ND_ABSENT);
		if (next_cpu < ND_MAX_CPUS)
			next_cpu = next_online(online, next_cpu + 1);
		if (add_row(column, n, cpu, c))
			return -ENOMEM;
	}
	return c->nsoftnet ? 0 : -EBADMSG;
}

static int sample_softnet(struct source *src, const struct facts *f, struct counters *c)
{
	char *text;
	ssize_t n = source_read_all(src, "/proc/net/softnet_stat", PROC_FILE_MAX, &text);
	int rc;

	if (n < 0)
		return n;
	rc = parse_softnet(text, &f->host.cpus_online, c);
	free(text);
	return rc;
}

const struct counter_probe counter_softnet = {
	.name = "softnet",
	.rate = COUNTER_EVERY_SAMPLE,
	.sample = sample_softnet,
};
