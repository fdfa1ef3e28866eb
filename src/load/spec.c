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
	{ NUMBER(pacing_bps), .min = 8000, .max = UINT64_C(10000000000000), .flags = SPEC_ZERO },
};

static const char *const direction_words[] = {
	[RUN_FORWARD] = "forward",
	[RUN_REVERSE] = "reverse",
};

/* Names end up in setsockopt() and in error texts of the other end. */
static bool congestion_name_ok(const char *name)
{
	size_t len = strlen(name);

	if (len >= sizeof(((struct run_spec *)0)->congestion_control))
		return false;
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)name[i]) && !strchr("_-.", name[i]))
			return false;
	return true;
}

cJSON *run_spec_to_json(const struct run_spec *s)
{
	cJSON *obj = cJSON_CreateObject();

	if (!obj)
		return NULL;
	if ((size_t)s->direction >= ARRAY_SIZE(direction_words) ||
	    !cJSON_AddStringToObject(obj, "direction", direction_words[s->direction]))
		goto fail;
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		uint64_t v;

		memcpy(&v, (const char *)s + numbers[i].offset, sizeof(v));
		if (!json_add_u64(obj, numbers[i].name, v))
			goto fail;
	}
	if (!cJSON_AddBoolToObject(obj, "discard_receive", s->discard_receive) ||
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

static int read_direction(const cJSON *obj, enum run_direction *out, struct error *err)
{
	const char *word = json_get_str(obj, "direction", 16);

	for (size_t i = 0; word && i < ARRAY_SIZE(direction_words); i++) {
		if (strcmp(word, direction_words[i]) == 0) {
			*out = (enum run_direction)i;
			return 0;
		}
	}
	return error_set(err, EINVAL, "run spec: direction is neither \"forward\" nor \"reverse\"");
}

int run_spec_from_json(const cJSON *obj, struct run_spec *out, struct error *err)
{
	struct run_spec s = { 0 };
	int rc;

	if (!cJSON_IsObject(obj))
		return error_set(err, EINVAL, "run spec: not a JSON object");
	rc = read_direction(obj, &s.direction, err);
	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(numbers); i++) {
		uint64_t v;

		rc = read_number(obj, &numbers[i], &v, err);
		memcpy((char *)&s + numbers[i].offset, &v, sizeof(v));
	}
	if (rc)
		return rc;
	if (cJSON_GetObjectItemCaseSensitive(obj, "discard_receive") &&
	    !json_get_bool(obj, "discard_receive", &s.discard_receive))
		return error_set(err, EINVAL, "run spec: discard_receive is not true or false");
	if (cJSON_GetObjectItemCaseSensitive(obj, "congestion_control")) {
		const char *name = json_get_str(obj, "congestion_control",
						sizeof(s.congestion_control) - 1);

		if (!name || !congestion_name_ok(name))
			return error_set(err, EINVAL, "run spec: congestion_control is not a name "
					 "of at most 15 letters, digits, '_', '-' or '.'");
		memcpy(s.congestion_control, name, strlen(name) + 1);
	}
	*out = s;
	return 0;
}
