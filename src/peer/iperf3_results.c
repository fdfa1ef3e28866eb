/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The results that the two ends of an iperf3 test exchange, JSON both ways.
 *
 * cJSON keeps numbers as doubles; byte counts have 64 bits.  Whole numbers too
 * long for a double are therefore made strings before the text is parsed, and
 * are printed by hand.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/core/text.h"
#include "src/core/value.h"
#include "src/peer/iperf3_wire.h"
#include "src/peer/wire.h"

enum {
	EXACT_DIGITS = 15,	/* so many always fit a double */
	MAX_OUTPUT = 1024 * 1024	/* bytes of a server's own report that are kept */
};

/* ---- reading ---- */

/* Length of the whole number at p: digits with a sign, and no fraction or exponent behind it. */
static size_t whole_number(const char *p, const char *end)
{
	const char *q = p + (p < end && *p == '-');
	const char *digits = q;

	while (q < end && isdigit((unsigned char)*q))
		q++;
	if (q == digits || (q < end && (*q == '.' || *q == 'e' || *q == 'E')))
		return 0;
	return (size_t)(q - p);
}

/* The end of the string whose opening quote is at p, or end. */
static const char *after_string(const char *p, const char *end)
{
	for (p++; p < end && *p != '"'; p++)
		if (*p == '\\' && p + 1 < end)
			p++;
	return p < end ? p + 1 : end;
}

/* The text with its long whole numbers in quotes; NULL: no memory. */
static char *quote_long_numbers(const char *text, size_t len, size_t *out_len)
{
	/* A number that is quoted has 16 characters or more: at most an eighth is added. */
	char *out = malloc(len + len / 8 + 2), *o = out;
	const char *p = text, *end = text + len;

	while (out && p < end) {
		const char *next = p + 1;
		size_t n = 0;

		if (*p == '"')
			next = after_string(p, end);
		else if (*p == '-' || isdigit((unsigned char)*p))
			n = whole_number(p, end);
		if (n)
			next = p + n;
		else if (isdigit((unsigned char)*p))
			/* A fraction: its digits are no number of their own. */
			while (next < end && strchr("0123456789.eE+-", *next) && *next)
				next++;
		if (n > EXACT_DIGITS)
			*o++ = '"';
		memcpy(o, p, (size_t)(next - p));
		o += next - p;
		if (n > EXACT_DIGITS)
			*o++ = '"';
		p = next;
	}
	*out_len = out ? (size_t)(o - out) : 0;
	return out;
}

static bool get_u64(const cJSON *obj, const char *key, uint64_t *out)
{
	const cJSON *v = cJSON_GetObjectItemCaseSensitive(obj, key);

	if (cJSON_IsString(v))
		return parse_u64(v->valuestring, out) == 0;
	return json_get_u64(obj, key, 0, UINT64_MAX, out);
}

/* Up to release 3.13, -1 comes as 18446744073709551615 from some builds. */
static bool get_i64(const cJSON *obj, const char *key, int64_t *out)
{
	const cJSON *v = cJSON_GetObjectItemCaseSensitive(obj, key);
	uint64_t u;

	if (cJSON_IsNumber(v))
		return json_get_i64(obj, key, INT64_MIN, INT64_MAX, out);
	if (!cJSON_IsString(v))
		return false;
	if (parse_u64(v->valuestring, &u) < 0)
		return parse_i64(v->valuestring, out) == 0;
	*out = u > INT64_MAX ? -(int64_t)(UINT64_MAX - u) - 1 : (int64_t)u;
	return true;
}

/* A count, or RESULTS_UNKNOWN for anything below 0. */
static bool get_count(const cJSON *obj, const char *key, int64_t *out)
{
	if (!get_i64(obj, key, out))
		return false;
	if (*out < 0)
		*out = RESULTS_UNKNOWN;
	return true;
}

static double length_of(const cJSON *stream)
{
	double start, end;

	/* From release 3.2. */
	if (!json_get_f64(stream, "start_time", &start) ||
	    !json_get_f64(stream, "end_time", &end) || !(end > start) ||
	    !(end - start <= RUN_MAX_SECONDS * 2.0))
		return -1;
	return end - start;
}

static int read_stream(const cJSON *stream, struct peer_results *r, bool *told)
{
	struct peer_flow_result f = { 0 };
	int64_t id;
	size_t i;

	if (!get_i64(stream, "id", &id) || id < 1 || id == 2)
		return -EINVAL;
	i = id == 1 ? 0 : (size_t)id - 2;
	if (i >= r->nflows || told[i])
		return -EINVAL;
	if (!get_u64(stream, "bytes", &f.bytes) ||
	    !get_count(stream, "retransmits", &f.retransmits) ||
	    !get_count(stream, "errors", &f.lost) || !get_count(stream, "packets", &f.packets))
		return -EINVAL;
	if (!json_get_f64(stream, "jitter", &f.jitter_s) || f.jitter_s < 0)
		f.jitter_s = 0;
	/* From release 3.14, both or neither. */
	if (!get_count(stream, "omitted_packets", &f.omitted_packets) ||
	    !get_count(stream, "omitted_errors", &f.omitted_lost))
		f.omitted_packets = f.omitted_lost = 0;
	f.seconds = length_of(stream);
	r->flows[i] = f;
	told[i] = true;
	return 0;
}

static int read_streams(const cJSON *streams, struct peer_results *r)
{
	bool *told = calloc(r->nflows, sizeof(*told));
	const cJSON *s;
	size_t n = 0;
	int rc = told ? 0 : -ENOMEM;

	cJSON_ArrayForEach(s, streams) {
		if (rc == 0)
			rc = read_stream(s, r, told);
		n++;
	}
	free(told);
	return rc == 0 && n != r->nflows ? -EINVAL : rc;
}

static double percent(const cJSON *obj, const char *key)
{
	double v;

	return json_get_f64(obj, key, &v) && v >= 0 && v <= 1e6 ? v : RESULTS_UNKNOWN;
}

static int read_top(const cJSON *obj, struct peer_results *r)
{
	const cJSON *streams = cJSON_GetObjectItemCaseSensitive(obj, "streams");
	const char *cc = json_get_str(obj, "congestion_used", sizeof(r->congestion_control) - 1);
	const char *output = json_get_str(obj, "server_output_text", MAX_OUTPUT);

	r->cpu_total = percent(obj, "cpu_util_total");
	r->cpu_user = percent(obj, "cpu_util_user");
	r->cpu_system = percent(obj, "cpu_util_system");
	if (cc) {
		memcpy(r->congestion_control, cc, strlen(cc) + 1);
		text_make_printable(r->congestion_control);
	}
	r->output = output ? strdup(output) : NULL;
	if (output && !r->output)
		return -ENOMEM;
	return cJSON_IsArray(streams) ? read_streams(streams, r) : -EINVAL;
}

int iperf3_parse_results(const char *text, size_t len, size_t n, struct peer_results *out)
{
	size_t quoted_len;
	char *quoted;
	cJSON *obj;
	int rc = peer_results_init(out, n);

	if (rc < 0)
		return rc;
	quoted = quote_long_numbers(text, len, &quoted_len);
	if (!quoted)
		return -ENOMEM;
	obj = wire_parse_json(quoted, quoted_len);
	rc = cJSON_IsObject(obj) ? read_top(obj, out) : -EINVAL;
	cJSON_Delete(obj);
	free(quoted);
	return rc;
}

/* ---- writing ---- */

static bool put_u64(cJSON *obj, const char *key, uint64_t v)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%" PRIu64, v);
	return cJSON_AddRawToObject(obj, key, digits) != NULL;
}

static bool put_i64(cJSON *obj, const char *key, int64_t v)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%" PRId64, v);
	return cJSON_AddRawToObject(obj, key, digits) != NULL;
}

static bool put_f64(cJSON *obj, const char *key, double v)
{
	return cJSON_AddNumberToObject(obj, key, isfinite(v) && v >= 0 ? v : 0) != NULL;
}

static bool put_stream(cJSON *streams, size_t i, const struct peer_flow_result *f)
{
	cJSON *s = cJSON_CreateObject();

	if (!s || !cJSON_AddItemToArray(streams, s)) {
		cJSON_Delete(s);
		return false;
	}
	return put_i64(s, "id", iperf3_stream_id(i)) && put_u64(s, "bytes", f->bytes) &&
	       put_i64(s, "retransmits", f->retransmits) && put_f64(s, "jitter", f->jitter_s) &&
	       put_i64(s, "errors", f->lost) && put_i64(s, "omitted_errors", f->omitted_lost) &&
	       put_i64(s, "packets", f->packets) &&
	       put_i64(s, "omitted_packets", f->omitted_packets) &&
	       put_f64(s, "start_time", 0) && put_f64(s, "end_time", f->seconds);
}

int iperf3_format_results(const struct peer_results *r, bool sender, unsigned char **out,
			  size_t *len)
{
	cJSON *obj = cJSON_CreateObject(), *streams;
	bool counted = false, ok;
	int rc = -ENOMEM;

	*out = NULL;
	for (size_t i = 0; i < r->nflows; i++)
		counted = counted || r->flows[i].retransmits >= 0;
	ok = obj && put_f64(obj, "cpu_util_total", r->cpu_total) &&
	     put_f64(obj, "cpu_util_user", r->cpu_user) &&
	     put_f64(obj, "cpu_util_system", r->cpu_system) &&
	     put_i64(obj, "sender_has_retransmits", sender ? counted : RESULTS_UNKNOWN) &&
	     (!*r->congestion_control ||
	      cJSON_AddStringToObject(obj, "congestion_used", r->congestion_control)) &&
	     (!r->output || json_put(obj, "server_output_text", json_string(r->output)));
	streams = ok ? cJSON_AddArrayToObject(obj, "streams") : NULL;
	ok = streams != NULL;
	for (size_t i = 0; ok && i < r->nflows; i++)
		ok = put_stream(streams, i, &r->flows[i]);
	if (ok)
		rc = iperf3_frame(obj, out, len);
	cJSON_Delete(obj);
	return rc;
}
