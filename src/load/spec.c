/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Run spec <-> JSON.  The spec comes from the other end, so every member is
 * range-checked here and the engine may rely on it.
 */
#include "src/load/load.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "src/core/value.h"

enum spec_flag {
	SPEC_REQUIRED = 1 << 0,
	SPEC_ZERO = 1 << 1	/* 0 is allowed although it is below min: "the kernel's choice" */
};

struct spec_number {
	const char *name;
	size_t offset;
	uint64_t min, max, fallback;
	unsigned int flags;
};

/* The words of an enum member, in its order.  The first is the fallback unless required. */
struct spec_word {
	const char *name;
	size_t offset;
	const char *const *words;
	size_t nwords;
	unsigned int flags;
};

struct spec_switch { const char *name; size_t offset; };

#define NUMBER(member_) .name = #member_, .offset = offsetof(struct run_spec, member_)

static const struct spec_number numbers[] = {
	{ NUMBER(streams), .min = 1, .max = RUN_MAX_STREAMS, .flags = SPEC_REQUIRED },
	{ NUMBER(block_bytes), .min = 1, .max = RUN_MAX_BLOCK_BYTES,
	  .fallback = RUN_DEFAULT_BLOCK_BYTES },
	{ NUMBER(warmup_ms), .max = RUN_MAX_SECONDS * UINT64_C(1000) },
	{ NUMBER(window_ms), .min = 1, .max = RUN_MAX_SECONDS * UINT64_C(1000),
	  .flags = SPEC_REQUIRED },
	/* TCP_MIN_MSS and MAX_TCP_WINDOW of the kernel: outside, TCP_MAXSEG is EINVAL. */
	{ NUMBER(mss_bytes), .min = 88, .max = 32767, .flags = SPEC_ZERO },
	/* The kernel doubles the value into an int. */
	{ NUMBER(sndbuf_bytes), .min = 1024, .max = INT32_MAX / 2, .flags = SPEC_ZERO },
	{ NUMBER(rcvbuf_bytes), .min = 1024, .max = INT32_MAX / 2, .flags = SPEC_ZERO },
	{ NUMBER(pacing_bps), .min = RUN_MIN_RATE_BPS, .max = RUN_MAX_RATE_BPS,
	  .flags = SPEC_ZERO },
	{ NUMBER(rate_bps), .min = RUN_MIN_RATE_BPS, .max = RUN_MAX_RATE_BPS, .flags = SPEC_ZERO },
	{ NUMBER(burst_blocks), .max = 1000 },
	/* JSON numbers are exact up to here. */
	{ NUMBER(total_bytes), .max = UINT64_C(1) << 53 },
	{ NUMBER(total_blocks), .max = UINT64_C(1) << 53 },
	{ NUMBER(tos), .max = 255 },
	{ NUMBER(flow_label), .max = 0xfffff },
	{ NUMBER(report_ms), .min = 100, .max = 3600000, .flags = SPEC_ZERO },
	{ NUMBER(client_cpu), .max = ND_MAX_CPUS },
	{ NUMBER(server_cpu), .max = ND_MAX_CPUS },
};

static const char *const direction_words[] = {
	[RUN_FORWARD] = "forward",
	[RUN_REVERSE] = "reverse",
};
static const char *const protocol_words[] = {
	[RUN_TCP] = "tcp",
	[RUN_UDP] = "udp",
};
static const char *const send_path_words[] = {
	[RUN_SEND_COPY] = "copy",
	[RUN_SEND_FILE] = "sendfile",
	[RUN_SEND_ZEROCOPY] = "zerocopy",
};

const char *run_protocol_word(enum run_protocol p)
{
	return (size_t)p < ARRAY_SIZE(protocol_words) ? protocol_words[p] : "unknown";
}

#define WORD(member_, words_) \
	.name = #member_, .offset = offsetof(struct run_spec, member_), \
	.words = words_, .nwords = ARRAY_SIZE(words_)

static const struct spec_word words[] = {
	{ WORD(direction, direction_words), .flags = SPEC_REQUIRED },
	{ WORD(protocol, protocol_words) },
	{ WORD(send_path, send_path_words) },
};

#define SWITCH(member_) .name = #member_, .offset = offsetof(struct run_spec, member_)

static const struct spec_switch switches[] = {
	{ SWITCH(bidirectional) },
	{ SWITCH(latency) },
	{ SWITCH(discard_receive) },
	{ SWITCH(no_delay) },
	{ SWITCH(dont_fragment) },
	{ SWITCH(udp_gso) },
	{ SWITCH(udp_gro) },
	{ SWITCH(udp_counters_32bit) },
	{ SWITCH(udp_marks) },
};

/* Names end up in setsockopt() and in error texts of the other end. */
int run_spec_set_congestion(struct run_spec *s, const char *name)
{
	size_t len = name ? strlen(name) : 0;

	if (len >= sizeof(s->congestion_control))
		return -EINVAL;
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)name[i]) && !strchr("_-.", name[i]))
			return -EINVAL;
	memset(s->congestion_control, 0, sizeof(s->congestion_control));
	memcpy(s->congestion_control, name ? name : "", len);
	return 0;
}

static unsigned int word_index(const struct run_spec *s, const struct spec_word *d)
{
	unsigned int i;

	memcpy(&i, (const char *)s + d->offset, sizeof(i));
	return i;
}

static bool add_words(cJSON *obj, const struct run_spec *s)
{
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		unsigned int at = word_index(s, &words[i]);

		if (at >= words[i].nwords ||
		    !cJSON_AddStringToObject(obj, words[i].name, words[i].words[at]))
			return false;
	}
	return true;
}

static bool add_switches(cJSON *obj, const struct run_spec *s)
{
	for (size_t i = 0; i < ARRAY_SIZE(switches); i++) {
		bool on;

		memcpy(&on, (const char *)s + switches[i].offset, sizeof(on));
		if (!cJSON_AddBoolToObject(obj, switches[i].name, on))
			return false;
	}
	return true;
}

cJSON *run_spec_to_json(const struct run_spec *s)
{
	cJSON *obj = cJSON_CreateObject();

	if (!obj)
		return NULL;
	if (!add_words(obj, s))
		goto fail;
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		uint64_t v;

		memcpy(&v, (const char *)s + numbers[i].offset, sizeof(v));
		if (!json_add_u64(obj, numbers[i].name, v))
			goto fail;
	}
	if (!add_switches(obj, s) ||
	    !cJSON_AddStringToObject(obj, "congestion_control", s->congestion_control))
		goto fail;
	return obj;
fail:
	cJSON_Delete(obj);
	return NULL;
}

static int read_number(const cJSON *obj, const struct spec_number *d, uint64_t *v,
		       struct error *err)
{
	*v = d->fallback;
	if (!cJSON_GetObjectItemCaseSensitive(obj, d->name)) {
		if (!(d->flags & SPEC_REQUIRED))
			return 0;
		return error_set(err, EINVAL, "run spec: %s is missing", d->name);
	}
	if (!json_get_u64(obj, d->name, 0, UINT64_MAX, v))
		return error_set(err, EINVAL, "run spec: %s is not a whole number", d->name);
	if (*v == 0 && (d->flags & SPEC_ZERO))
		return 0;
	if (*v < d->min || *v > d->max)
		return error_set(err, EINVAL, "run spec: %s %" PRIu64 " is outside %" PRIu64
				 " to %" PRIu64, d->name, *v, d->min, d->max);
	return 0;
}

static int read_word(const cJSON *obj, const struct spec_word *d, struct run_spec *s,
		     struct error *err)
{
	const char *word = json_get_str(obj, d->name, 16);

	if (!cJSON_GetObjectItemCaseSensitive(obj, d->name) && !(d->flags & SPEC_REQUIRED))
		return 0;	/* zeroed: the first word */
	for (unsigned int i = 0; word && i < d->nwords; i++) {
		if (strcmp(word, d->words[i]) == 0) {
			memcpy((char *)s + d->offset, &i, sizeof(i));
			return 0;
		}
	}
	return error_set(err, EINVAL, "run spec: %s is none of the words this side knows (\"%s\", "
			 "\"%s\" ...)", d->name, d->words[0], d->words[1]);
}

static int read_switch(const cJSON *obj, const struct spec_switch *d, struct run_spec *s,
		       struct error *err)
{
	bool on = false;

	if (cJSON_GetObjectItemCaseSensitive(obj, d->name) && !json_get_bool(obj, d->name, &on))
		return error_set(err, EINVAL, "run spec: %s is not true or false", d->name);
	memcpy((char *)s + d->offset, &on, sizeof(on));
	return 0;
}

/* What each member allows by itself may still not go together. */
static int check_together(const struct run_spec *s, struct error *err)
{
	if (run_flows(s) > RUN_MAX_STREAMS)
		return error_set(err, EINVAL, "run spec: %" PRIu64 " streams each way are more "
				 "than %d flows", s->streams, (int)RUN_MAX_STREAMS);
	if (s->protocol != RUN_UDP)
		return 0;
	if (s->block_bytes < RUN_MIN_DATAGRAM_BYTES || s->block_bytes > RUN_MAX_DATAGRAM_BYTES)
		return error_set(err, EINVAL, "run spec: datagrams of %" PRIu64 " bytes are "
				 "outside %d to %d", s->block_bytes, (int)RUN_MIN_DATAGRAM_BYTES,
				 (int)RUN_MAX_DATAGRAM_BYTES);
	if (s->send_path == RUN_SEND_FILE)
		return error_set(err, EINVAL, "run spec: sendfile is for TCP only");
	/* Told to truncate, UDP returns the length of the datagram, not what it holds. */
	if (s->discard_receive)
		return error_set(err, EINVAL, "run spec: discard_receive is for TCP only");
	return 0;
}

int run_spec_from_json(const cJSON *obj, struct run_spec *out, struct error *err)
{
	struct run_spec s = { 0 };
	int rc = 0;

	if (!cJSON_IsObject(obj))
		return error_set(err, EINVAL, "run spec: not a JSON object");
	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(words); i++)
		rc = read_word(obj, &words[i], &s, err);
	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(numbers); i++) {
		uint64_t v;

		rc = read_number(obj, &numbers[i], &v, err);
		memcpy((char *)&s + numbers[i].offset, &v, sizeof(v));
	}
	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(switches); i++)
		rc = read_switch(obj, &switches[i], &s, err);
	if (rc == 0)
		rc = check_together(&s, err);
	if (rc)
		return rc;
	if (cJSON_GetObjectItemCaseSensitive(obj, "congestion_control")) {
		const char *name = json_get_str(obj, "congestion_control",
						sizeof(s.congestion_control) - 1);

		if (!name || run_spec_set_congestion(&s, name))
			return error_set(err, EINVAL, "run spec: congestion_control is not a name "
					 "of at most 15 letters, digits, '_', '-' or '.'");
	}
	*out = s;
	return 0;
}
