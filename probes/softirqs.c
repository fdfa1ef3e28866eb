/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * /proc/softirqs: how often NET_RX and NET_TX were raised on each CPU.
 * Raises, not packets: it tells which CPU works, not how much.
 */
#include "probes/proc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "probes/probes_table.h"
#include "src/core/text.h"

/* The columns' CPUs: "CPU0 CPU1 CPU3".  Returns how many, 0 when it is no header. */
static size_t read_header(char *line, uint16_t *cpus, size_t cap)
{
	size_t n = 0;
	char *word;

	while ((word = next_word(&line)) && n < cap) {
		uint64_t cpu;

		if (strncmp(word, "CPU", 3) || parse_u64(word + 3, &cpu) || cpu >= ND_MAX_CPUS)
			return 0;
		cpus[n++] = cpu;
	}
	return n;
}

static void read_columns(char *line, struct softirq_sample *rows, size_t n, size_t member)
{
	for (size_t i = 0; i < n; i++) {
		char *word = next_word(&line);
		struct nd_u64 *out = (void *)((char *)&rows[i] + member);
		uint64_t v;

		*out = word && !parse_u64(word, &v) ? nd_u64(v) : nd_u64_unknown(ND_INVALID);
	}
}

int parse_softirqs(char *text, const struct nd_cpus *online, struct counters *c)
{
	char *line = next_line(&text);
	uint16_t cpus[ND_MAX_CPUS];
	size_t n = line ? read_header(line, cpus, ARRAY_SIZE(cpus)) : 0;
	struct softirq_sample *rows;

	if (!n)
		return -EBADMSG;
	rows = arena_alloc_array(c->mem, n, sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		rows[i].cpu = nd_u64(cpus[i]);
	while ((line = next_line(&text))) {
		char *word = next_word(&line);

		if (word && !strcmp(word, "NET_RX:"))
			read_columns(line, rows, n, offsetof(struct softirq_sample, net_rx));
		else if (word && !strcmp(word, "NET_TX:"))
			read_columns(line, rows, n, offsetof(struct softirq_sample, net_tx));
	}
	/* The file has a column for every CPU the board could hold, plugged in or not. */
	for (size_t i = 0; i < n; i++) {
		if (online->k != ND_KNOWN || nd_cpus_has(online, cpus[i]))
			rows[c->nsoftirqs++] = rows[i];
	}
	c->softirqs = rows;
	return 0;
}

static int sample_softirqs(struct source *src, const struct facts *f, struct counters *c)
{
	char *text;
	ssize_t n = source_read_all(src, "/proc/softirqs", PROC_FILE_MAX, &text);
	int rc;

	if (n < 0)
		return n;
	rc = parse_softirqs(text, &f->host.cpus_online, c);
	free(text);
	return rc;
}

const struct counter_probe counter_softirqs = {
	.name = "softirqs",
	.rate = COUNTER_EVERY_SECOND,
	.sample = sample_softirqs,
};
