/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/exam/live.h"

#include <string.h>

#include "src/core/text.h"

/*
 * Cores are one string of 16 hexadecimal digits each (four of the CPU, two of each share): at
 * 10 Hz and 512 cores an array of numbers would cost the host it tells about a
 * noticeable part of a core.
 */
enum { CORE_DIGITS = 16 };
/* So are queues: eight digits of the interrupt, four of the CPU, eight of its rate. */
enum { QUEUE_DIGITS = 20 };
/* And workers: the CPU of each. */
enum { WORKER_DIGITS = 4 };

static void put_digits(char *to, unsigned int value, int n)
{
	static const char digits[] = "0123456789abcdef";

	while (n--) {
		to[n] = digits[value & 15];
		value >>= 4;
	}
}

static bool put_cores(cJSON *o, const struct end_live *live)
{
	char text[LIVE_MAX_CORES * CORE_DIGITS + 1], *to = text;

	for (size_t i = 0; i < live->ncores && i < LIVE_MAX_CORES; i++, to += CORE_DIGITS) {
		const struct live_core *c = &live->cores[i];
		put_digits(to, c->cpu, 4);
		put_digits(to + 4, c->busy, 2);
		put_digits(to + 6, c->user, 2);
		put_digits(to + 8, c->system, 2);
		put_digits(to + 10, c->softirq, 2);
		put_digits(to + 12, c->irq, 2);
		put_digits(to + 14, c->steal, 2);
	}
	*to = '\0';
	return cJSON_AddStringToObject(o, "cores", text);
}

static bool put_queues(cJSON *o, const struct end_live *live)
{
	char text[LIVE_MAX_QUEUES * QUEUE_DIGITS + 1], *to = text;

	for (size_t i = 0; i < live->nqueues && i < LIVE_MAX_QUEUES; i++, to += QUEUE_DIGITS) {
		const struct live_queue *q = &live->queues[i];
		bool small = q->per_s < (double)UINT32_MAX;
		put_digits(to, q->irq, 8);
		put_digits(to + 8, q->cpu, 4);
		put_digits(to + 12, small ? (unsigned int)(q->per_s + 0.5) : UINT32_MAX, 8);
	}
	*to = '\0';
	return to == text || cJSON_AddStringToObject(o, "queues", text);
}

static bool put_workers(cJSON *o, const struct end_live *live)
{
	char text[LIVE_MAX_WORKERS * WORKER_DIGITS + 1], *to = text;

	for (size_t i = 0; i < live->nworkers && i < LIVE_MAX_WORKERS; i++, to += WORKER_DIGITS)
		put_digits(to, live->workers[i], WORKER_DIGITS);
	*to = '\0';
	return to == text || cJSON_AddStringToObject(o, "workers", text);
}

static void put_rate(cJSON *o, const char *name, struct nd_f64 rate)
{
	if (rate.k == ND_KNOWN)
		cJSON_AddNumberToObject(o, name, rate.v);
}

cJSON *live_to_json(const struct end_live *live)
{
	cJSON *o = cJSON_CreateObject();

	if (!o)
		return NULL;
	cJSON_AddNumberToObject(o, "start_s", live->start_s);
	cJSON_AddNumberToObject(o, "seconds", live->seconds);
	cJSON_AddNumberToObject(o, "rate_bps", live->rate_bps);
	if (live->hot_known) {
		json_add_u64(o, "hot_cpu", live->hot_cpu);
		cJSON_AddNumberToObject(o, "hot_busy", live->hot_busy);
	}
	put_rate(o, "received_bps", live->received_bps);
	put_rate(o, "retransmits_ps", live->retransmits_ps);
	put_rate(o, "link_rx_bps", live->link_rx_bps);
	put_rate(o, "link_tx_bps", live->link_tx_bps);
	put_rate(o, "link_rx_pps", live->link_rx_pps);
	put_rate(o, "link_tx_pps", live->link_tx_pps);
	put_rate(o, "link_dropped_ps", live->link_dropped_ps);
	if (put_cores(o, live) && put_queues(o, live) && put_workers(o, live))
		return o;
	cJSON_Delete(o);
	return NULL;
}

static bool take_digits(const char *from, int n, unsigned int most, unsigned int *out)
{
	unsigned int value = 0;

	for (int i = 0; i < n; i++) {
		int digit = hex_digit(from[i]);
		if (digit < 0)
			return false;
		value = value << 4 | (unsigned int)digit;
	}
	*out = value;
	return value <= most;
}

/* A share is at most the whole, or unknown. */
static bool take_share(const char *from, uint8_t *out)
{
	unsigned int value;

	if (!take_digits(from, 2, LIVE_UNKNOWN, &value) ||
	    (value > LIVE_WHOLE && value != LIVE_UNKNOWN))
		return false;
	*out = (uint8_t)value;
	return true;
}

/* All of them, or none. */
static size_t take_cores(const cJSON *obj, struct live_core *cores)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(obj, "cores");
	const char *s = cJSON_IsString(item) ? item->valuestring : "";
	size_t n = strlen(s) / CORE_DIGITS;

	if (strlen(s) % CORE_DIGITS || n > LIVE_MAX_CORES)
		return 0;
	for (size_t i = 0; i < n; i++, s += CORE_DIGITS) {
		struct live_core *c = &cores[i];
		unsigned int cpu;
		if (!take_digits(s, 4, ND_MAX_CPUS - 1, &cpu) || !take_share(s + 4, &c->busy) ||
		    !take_share(s + 6, &c->user) || !take_share(s + 8, &c->system) ||
		    !take_share(s + 10, &c->softirq) || !take_share(s + 12, &c->irq) ||
		    !take_share(s + 14, &c->steal))
			return 0;
		c->cpu = (uint16_t)cpu;
	}
	return n;
}

/* All of them, or none. */
static size_t take_queues(const cJSON *obj, struct live_queue *queues)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(obj, "queues");
	const char *s = cJSON_IsString(item) ? item->valuestring : "";
	size_t n = strlen(s) / QUEUE_DIGITS;
	unsigned int irq, cpu, per_s;

	if (strlen(s) % QUEUE_DIGITS || n > LIVE_MAX_QUEUES)
		return 0;
	for (size_t i = 0; i < n; i++, s += QUEUE_DIGITS) {
		if (!take_digits(s, 8, UINT32_MAX, &irq) ||
		    !take_digits(s + 8, 4, LIVE_NO_CPU, &cpu) ||
		    (cpu >= ND_MAX_CPUS && cpu != LIVE_NO_CPU) ||
		    !take_digits(s + 12, 8, UINT32_MAX, &per_s))
			return 0;
		queues[i] = (struct live_queue){ irq, (uint16_t)cpu, per_s };
	}
	return n;
}

/* All of them, or none. */
static size_t take_workers(const cJSON *obj, uint16_t *workers)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(obj, "workers");
	const char *s = cJSON_IsString(item) ? item->valuestring : "";
	size_t n = strlen(s) / WORKER_DIGITS;
	unsigned int cpu;

	if (strlen(s) % WORKER_DIGITS || n > LIVE_MAX_WORKERS)
		return 0;
	for (size_t i = 0; i < n; i++, s += WORKER_DIGITS) {
		if (!take_digits(s, WORKER_DIGITS, LIVE_NO_CPU, &cpu) ||
		    (cpu >= ND_MAX_CPUS && cpu != LIVE_NO_CPU))
			return 0;
		workers[i] = (uint16_t)cpu;
	}
	return n;
}

static struct nd_f64 take_rate(const cJSON *obj, const char *name)
{
	double v;

	if (!json_get_f64(obj, name, &v) || !(v >= 0 && v <= 1e14))
		return nd_f64_unknown(ND_UNREAD);
	return nd_f64(v);
}

bool live_from_json(const cJSON *obj, struct end_live *out)
{
	struct end_live l;

	memset(&l, 0, sizeof(l));
	if (!json_get_f64(obj, "start_s", &l.start_s) ||
	    !json_get_f64(obj, "seconds", &l.seconds) ||
	    !json_get_f64(obj, "rate_bps", &l.rate_bps) || l.rate_bps < 0 || l.rate_bps > 1e14)
		return false;
	l.hot_known = json_get_u64(obj, "hot_cpu", 0, ND_MAX_CPUS - 1, &l.hot_cpu) &&
		      json_get_f64(obj, "hot_busy", &l.hot_busy) && l.hot_busy >= 0 &&
		      l.hot_busy <= 1;
	l.received_bps = take_rate(obj, "received_bps");
	l.retransmits_ps = take_rate(obj, "retransmits_ps");
	l.link_rx_bps = take_rate(obj, "link_rx_bps");
	l.link_tx_bps = take_rate(obj, "link_tx_bps");
	l.link_rx_pps = take_rate(obj, "link_rx_pps");
	l.link_tx_pps = take_rate(obj, "link_tx_pps");
	l.link_dropped_ps = take_rate(obj, "link_dropped_ps");
	l.ncores = take_cores(obj, l.cores);
	l.nqueues = take_queues(obj, l.queues);
	l.nworkers = take_workers(obj, l.workers);
	*out = l;
	return true;
}
