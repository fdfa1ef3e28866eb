/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What collecting facts and one sample cost on this machine.
 * Usage: bench_probes [PEER-ADDRESS]; prints the facts as JSON on stdout, the costs on stderr.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "probes/probe.h"
#include "src/core/json.h"

enum { SAMPLES = 200, LIMIT_BYTES = 64 << 20 };

static uint64_t now_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void print_json(const struct schema *s, const void *rec)
{
	cJSON *json = record_to_json(s, rec);
	char *text = cJSON_Print(json);

	puts(text ? text : "out of memory");
	free(text);
	cJSON_Delete(json);
}

static void time_samples(struct source *src, const struct facts *f)
{
	uint64_t cpu = now_ns(CLOCK_PROCESS_CPUTIME_ID), wall = now_ns(CLOCK_MONOTONIC);

	for (int i = 0; i < SAMPLES; i++) {
		struct counters *c = counters_new(LIMIT_BYTES);

		if (!c || probes_sample(src, f, COUNTER_EVERY_SAMPLE, c))
			fprintf(stderr, "sample failed\n");
		if (c && i + 1 == SAMPLES)
			print_json(&counters_schema, c);
		counters_free(c);
	}
	fprintf(stderr, "sample: %.1f us CPU, %.1f us wall\n",
		(double)(now_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu) / 1000 / SAMPLES,
		(double)(now_ns(CLOCK_MONOTONIC) - wall) / 1000 / SAMPLES);
}

/* Each source alone, to see which one a slow sample is made of. */
static void time_each(struct source *src, const struct facts *f)
{
	for (size_t k = 0; k < counter_probes_count; k++) {
		const struct counter_probe *p = counter_probes_table[k];
		uint64_t cpu = now_ns(CLOCK_PROCESS_CPUTIME_ID);
		int rc = 0;

		if (p->rate != COUNTER_EVERY_SAMPLE)
			continue;
		for (int i = 0; i < SAMPLES; i++) {
			struct counters *c = counters_new(LIMIT_BYTES);

			rc = c ? p->sample(src, f, c) : -1;
			counters_free(c);
		}
		fprintf(stderr, "  %-10s %7.1f us CPU, rc %d\n", p->name,
			(double)(now_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu) / 1000 / SAMPLES, rc);
	}
}

int main(int argc, char **argv)
{
	struct probe_context ctx = { .peer_address = argc > 1 ? argv[1] : NULL };
	struct facts *f = facts_new(LIMIT_BYTES);
	struct source *src;
	uint64_t start = now_ns(CLOCK_MONOTONIC);

	if (!f || source_open_live(&src) || probes_collect(src, &ctx, f))
		return 1;
	fprintf(stderr, "facts: %.1f ms\n", (double)(now_ns(CLOCK_MONOTONIC) - start) / 1e6);
	print_json(&facts_schema, f);
	time_samples(src, f);
	time_each(src, f);
	source_close(src);
	facts_free(f);
	return 0;
}
