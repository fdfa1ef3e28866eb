/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/exam/run_json.h"

#include <errno.h>
#include <string.h>

#include "src/exam/run_end_json.h"
#include "src/exam/timeline.h"

static cJSON *hot_core_to_json(const struct core_load *c)
{
	return c ? core_to_json(c) : cJSON_CreateNull();
}

static cJSON *moment_to_json(const struct run *r, size_t i)
{
	struct run_moment m;
	cJSON *obj;

	run_moment_at(r, i, &m);
	obj = row_to_json(run_moment_fields, run_moment_nfields, &m);
	if (!obj)
		return NULL;
	for (enum side s = SIDE_LOCAL; s < EXAM_ENDS; s++) {
		cJSON *end = cJSON_CreateObject();

		if (!end || !json_put(end, "busiest", hot_core_to_json(m.hot[s]))) {
			cJSON_Delete(end);
			end = NULL;
		}
		if (!json_put(obj, side_word(s), end)) {
			cJSON_Delete(obj);
			return NULL;
		}
	}
	return obj;
}

static bool put_moments(cJSON *obj, const struct run *r)
{
	cJSON *arr = cJSON_AddArrayToObject(obj, "intervals");

	for (size_t i = 0; arr && i < run_moment_count(r); i++)
		if (!json_push(arr, moment_to_json(r, i)))
			return false;
	return arr;
}

static cJSON *load_to_json(const struct run_end *e)
{
	cJSON *load;

	if (!e->present)
		return cJSON_CreateNull();
	load = cJSON_CreateObject();
	if (load && json_put(load, "cores", cores_to_json(e->cores, e->ncores)) &&
	    json_put(load, "busiest", hot_core_to_json(busiest_core(e->cores, e->ncores))))
		return load;
	cJSON_Delete(load);
	return NULL;
}

static bool put_ends(cJSON *obj, const struct run *r)
{
	cJSON *cpu = cJSON_AddObjectToObject(obj, "cpu");
	cJSON *ends = cJSON_AddObjectToObject(obj, "ends");

	for (enum side s = SIDE_LOCAL; s < EXAM_ENDS; s++)
		if (!json_put(cpu, side_word(s), load_to_json(&r->ends[s])) ||
		    !json_put(ends, side_word(s), run_end_rest_to_json(&r->ends[s])))
			return false;
	return true;
}

/* The members of "latency", which is there when it was measured. */
static const struct { const char *name; size_t offset; } latencies[] = {
	{ "idle", offsetof(struct run, idle) },
	{ "loaded", offsetof(struct run, loaded) },
};

static bool put_latency(cJSON *obj, const struct run *r)
{
	cJSON *latency = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(latencies); i++) {
		const struct latency *l = (const void *)((const char *)r + latencies[i].offset);

		if (l->samples.k == ND_UNREAD)
			continue;
		if (!latency && !(latency = cJSON_AddObjectToObject(obj, "latency")))
			return false;
		if (!json_put(latency, latencies[i].name,
			      row_to_json(latency_fields, latency_nfields, l)))
			return false;
	}
	return true;
}

static int latency_from_json(const cJSON *obj, struct arena *mem, struct run *out,
			     struct error *err)
{
	const cJSON *latency = cJSON_GetObjectItemCaseSensitive(obj, "latency");

	for (size_t i = 0; i < ARRAY_SIZE(latencies); i++) {
		const cJSON *one = cJSON_GetObjectItemCaseSensitive(latency, latencies[i].name);
		int rc = one ? checked_row_from_json(latency_fields, latency_nfields, one, mem,
						     (char *)out + latencies[i].offset) : 0;

		if (rc)
			return error_set(err, -rc, "a run's latency is not readable");
	}
	return 0;
}

cJSON *run_rest_to_json(const struct run *r)
{
	cJSON *obj = row_to_json(run_fields, run_nfields, r);

	if (!obj)
		return NULL;
	if (!cJSON_AddStringToObject(obj, "purpose", run_purpose_word(r->purpose)) ||
	    !cJSON_AddStringToObject(obj, "status", run_status_word(r->status)) ||
	    !cJSON_AddStringToObject(obj, "protocol",
				     run_protocol_word(r->spec.protocol)) ||
	    !cJSON_AddStringToObject(obj, "direction", run_traffic_word(&r->spec)) ||
	    !json_add_u64(obj, "streams", r->spec.streams) ||
	    !json_put(obj, "spec", run_spec_to_json(&r->spec)) || !put_moments(obj, r) ||
	    !put_latency(obj, r) || !put_ends(obj, r)) {
		cJSON_Delete(obj);
		return NULL;
	}
	return obj;
}

size_t run_flow_rows(const struct run *r)
{
	size_t n = 0;

	for (enum side s = SIDE_LOCAL; s < EXAM_ENDS; s++)
		n += r->ends[s].present ? r->ends[s].nflows : 0;
	return n;
}

cJSON *run_flow_to_json(const struct run *r, size_t i)
{
	const struct run_end *local = &r->ends[SIDE_LOCAL];
	size_t nlocal = local->present ? local->nflows : 0;
	enum side side = i < nlocal ? SIDE_LOCAL : SIDE_PEER;
	const struct flow_summary *f = &r->ends[side].flows[side == SIDE_LOCAL ? i : i - nlocal];
	cJSON *row = row_to_json(flow_summary_fields, flow_summary_nfields, f);

	if (row && cJSON_AddStringToObject(row, "side", side_word(side)))
		return row;
	cJSON_Delete(row);
	return NULL;
}

cJSON *run_to_json(const struct run *r)
{
	cJSON *obj = run_rest_to_json(r);
	cJSON *flows = obj ? cJSON_AddArrayToObject(obj, "flows") : NULL;
	bool all = flows;

	for (size_t i = 0; all && i < run_flow_rows(r); i++)
		all = json_push(flows, run_flow_to_json(r, i));
	if (all)
		return obj;
	cJSON_Delete(obj);
	return NULL;
}

static int purpose_from_json(const cJSON *obj, enum run_purpose *out, struct error *err)
{
	const char *word = json_get_str(obj, "purpose", 64);

	for (unsigned int p = 0; word && p < RUN_PURPOSES; p++) {
		if (strcmp(word, run_purpose_word(p)) == 0) {
			*out = p;
			return 0;
		}
	}
	return error_set(err, EINVAL, "run purpose \"%s\" is unknown", word ? word : "(none)");
}

static int status_from_json(const cJSON *obj, enum run_status *out, struct error *err)
{
	const char *word = json_get_str(obj, "status", 64);

	for (unsigned int s = RUN_COMPLETE; word && s <= RUN_FAILED; s++) {
		if (strcmp(word, run_status_word(s)) == 0) {
			*out = s;
			return 0;
		}
	}
	return error_set(err, EINVAL, "run status \"%s\" is unknown", word ? word : "(none)");
}

static int ends_from_json(const cJSON *obj, struct arena *mem, struct run *out, struct error *err)
{
	const cJSON *ends = cJSON_GetObjectItemCaseSensitive(obj, "ends");
	const cJSON *cpu = cJSON_GetObjectItemCaseSensitive(obj, "cpu");

	for (enum side s = SIDE_LOCAL; s < EXAM_ENDS; s++) {
		const cJSON *load = cJSON_GetObjectItemCaseSensitive(cpu, side_word(s));
		struct run_end_parts parts = {
			.end = cJSON_GetObjectItemCaseSensitive(ends, side_word(s)),
			.cores = cJSON_GetObjectItemCaseSensitive(load, "cores"),
			.flows = cJSON_GetObjectItemCaseSensitive(obj, "flows"),
			.flows_side = side_word(s),
		};
		int rc = run_end_parts_from_json(&parts, mem, &out->ends[s], err);

		if (rc)
			return rc;
	}
	return 0;
}

int run_from_json(const cJSON *obj, struct arena *mem, struct run *out, struct error *err)
{
	int rc = checked_row_from_json(run_fields, run_nfields, obj, mem, out);

	if (rc)
		return error_set(err, -rc, "a run is not readable");
	rc = purpose_from_json(obj, &out->purpose, err);
	if (rc)
		return rc;
	rc = status_from_json(obj, &out->status, err);
	if (rc)
		return rc;
	rc = run_spec_from_json(cJSON_GetObjectItemCaseSensitive(obj, "spec"), &out->spec, err);
	if (rc)
		return rc;
	rc = latency_from_json(obj, mem, out, err);
	if (rc)
		return rc;
	rc = ends_from_json(obj, mem, out, err);
	if (rc) {
		for (size_t i = 0; i < EXAM_ENDS; i++) {
			counters_free(out->ends[i].window);
			out->ends[i].window = NULL;
		}
	}
	return rc;
}
