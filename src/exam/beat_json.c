/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Beats as a peer tells them while a run goes on. */
#include "src/exam/beat.h"

#include <string.h>

#include "src/exam/run_end_json.h"

/* Of a peer's beat: its flows and its cores. */
#define MAX_PEER_BEAT_BYTES (1u << 20)

#define FLOW(member_, kind_, unit_, flags_, help_) \
	FIELD(struct beat_flow, member_, kind_, unit_, flags_, help_)

const struct field beat_flow_fields[] = {
	FLOW(flow, U64, NONE, FIELD_KEY, "Number of the flow, from 0; of a sum: how many."),
	FLOW(direction, STR, NONE, 0, "What this end does: send or receive."),
	FLOW(bytes, U64, BYTES, FIELD_COUNTER, "Bytes of the application at this end."),
	FLOW(retransmits, U64, PACKETS, FIELD_COUNTER, "Segments sent again."),
	FLOW(reorder_seen, U64, COUNT, FIELD_COUNTER, "Reordering events seen by the sender."),
	FLOW(cwnd_bytes, U64, BYTES, 0, "Congestion window."),
	FLOW(snd_wnd_bytes, U64, BYTES, 0, "Window offered by the other end."),
	FLOW(rtt_us, U64, MICROSECONDS, 0, "Smoothed round trip time."),
	FLOW(rttvar_us, U64, MICROSECONDS, 0, "Its mean deviation."),
	FLOW(pmtu, U64, BYTES, 0, "Path MTU."),
	FLOW(packets, U64, PACKETS, FIELD_COUNTER, "Datagrams sent, or taken in once each."),
	FLOW(skipped, U64, PACKETS, FIELD_COUNTER, "Datagrams that later ones overtook."),
	FLOW(out_of_order, U64, PACKETS, FIELD_COUNTER, "Datagrams that came after later ones."),
	FLOW(lost, U64, PACKETS, FIELD_COUNTER, "Datagrams that never came."),
	FLOW(duplicates, U64, PACKETS, FIELD_COUNTER, "Datagrams that came again."),
	FLOW(jitter_us, U64, MICROSECONDS, 0, "Jitter as of RFC 3550."),
	FLOW(busy_us, U64, MICROSECONDS, FIELD_COUNTER, "Time with data to send."),
	FLOW(rwnd_limited_us, U64, MICROSECONDS, FIELD_COUNTER,
	     "Part of it held by the receiver's window."),
	FLOW(sndbuf_limited_us, U64, MICROSECONDS, FIELD_COUNTER,
	     "Part of it held by the send buffer."),
	FLOW(incoming_cpu, U64, NONE, 0, "CPU that its packets came in on."),
};
const size_t beat_flow_nfields = ARRAY_SIZE(beat_flow_fields);

static const char *const sum_names[2] = { [LOAD_SEND] = "sent", [LOAD_RECEIVE] = "received" };

static bool put_flows(cJSON *obj, const struct beat *b)
{
	for (size_t i = 0; i < ARRAY_SIZE(sum_names); i++)
		if (b->sums[i].flow.v &&
		    !json_put(obj, sum_names[i],
			      row_to_json(beat_flow_fields, beat_flow_nfields, &b->sums[i])))
			return false;
	if (b->nflows > BEAT_MAX_FLOWS)
		return true;
	return json_put(obj, "flows", rows_to_json(beat_flow_fields, beat_flow_nfields,
						   sizeof(*b->flows), b->flows, b->nflows));
}

cJSON *beat_to_json(const struct beat *b)
{
	cJSON *o = cJSON_CreateObject();

	if (o && json_add_u64(o, "number", b->number) &&
	    cJSON_AddBoolToObject(o, "omitted", b->omitted) &&
	    cJSON_AddNumberToObject(o, "start_s", b->start_s) &&
	    cJSON_AddNumberToObject(o, "seconds", b->seconds) && put_flows(o, b) &&
	    json_put(o, "cores", cores_to_json(b->cores, b->ncores)))
		return o;
	cJSON_Delete(o);
	return NULL;
}

static int read_flow(const cJSON *obj, struct beat *b, struct beat_flow *out)
{
	int rc = checked_row_from_json(beat_flow_fields, beat_flow_nfields, obj, b->mem, out);

	/* Only the two words that there are, so that nothing else is ever printed. */
	out->direction = nd_str(nd_str_is(out->direction, "send") ? "send" : "receive");
	return rc;
}

static int read_flows(const cJSON *obj, struct beat *b)
{
	const cJSON *arr = cJSON_GetObjectItemCaseSensitive(obj, "flows"), *row;
	int rc = 0;

	for (size_t i = 0; i < ARRAY_SIZE(sum_names) && !rc; i++) {
		const cJSON *sum = cJSON_GetObjectItemCaseSensitive(obj, sum_names[i]);
		if (sum)
			rc = read_flow(sum, b, &b->sums[i]);
	}
	if (rc || !arr)
		return rc;
	if (!cJSON_IsArray(arr) || cJSON_GetArraySize(arr) > BEAT_MAX_FLOWS)
		return -1;
	b->flows = arena_alloc_array(b->mem, BEAT_MAX_FLOWS, sizeof(*b->flows));
	cJSON_ArrayForEach(row, arr) {
		if (!b->flows || rc)
			return -1;
		rc = read_flow(row, b, &b->flows[b->nflows++]);
	}
	return rc;
}

static int read_cores(const cJSON *obj, struct beat *b)
{
	const cJSON *arr = cJSON_GetObjectItemCaseSensitive(obj, "cores"), *row;
	int n = cJSON_IsArray(arr) ? cJSON_GetArraySize(arr) : 0, rc = 0;

	if (n > EXAM_MAX_CORES)
		return -1;
	b->cores = arena_alloc_array(b->mem, (size_t)n, sizeof(*b->cores));
	cJSON_ArrayForEach(row, arr) {
		if (!b->cores || rc)
			return -1;
		rc = checked_row_from_json(core_load_fields, core_load_nfields, row, b->mem,
					   &b->cores[b->ncores++]);
	}
	return rc;
}

struct beat *beat_from_json(const cJSON *obj)
{
	struct arena *mem = arena_new(MAX_PEER_BEAT_BYTES);
	struct beat *b = mem ? arena_alloc(mem, sizeof(*b)) : NULL;

	if (!b) {
		arena_free(mem);
		return NULL;
	}
	b->mem = mem;
	if (json_get_u64(obj, "number", 0, INT64_MAX, &b->number) &&
	    json_get_bool(obj, "omitted", &b->omitted) &&
	    json_get_f64(obj, "start_s", &b->start_s) && b->start_s >= 0 && b->start_s < 1e6 &&
	    json_get_f64(obj, "seconds", &b->seconds) && b->seconds >= 0 && b->seconds < 1e6 &&
	    !read_flows(obj, b) && !read_cores(obj, b))
		return b;
	beat_free(b);
	return NULL;
}
