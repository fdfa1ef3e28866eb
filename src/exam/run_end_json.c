/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/exam/run_end_json.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { COUNTERS_ARENA_LIMIT = 32 * 1024 * 1024 };

/*
 * A millionth of a core is far below what jiffies resolve; the digits beyond
 * would double the size of a report.
 */
static struct nd_f64 short_share(struct nd_f64 share)
{
	if (share.k == ND_KNOWN)
		share.v = round(share.v * 1e6) / 1e6;
	return share;
}

cJSON *core_to_json(const struct core_load *c)
{
	struct core_load s = {
		.cpu = c->cpu,
		.busy = short_share(c->busy),
		.user = short_share(c->user),
		.system = short_share(c->system),
		.softirq = short_share(c->softirq),
		.irq = short_share(c->irq),
		.steal = short_share(c->steal),
	};

	return row_to_json(core_load_fields, core_load_nfields, &s);
}

cJSON *cores_to_json(const struct core_load *cores, size_t n)
{
	cJSON *arr = cJSON_CreateArray();

	for (size_t i = 0; arr && i < n; i++) {
		if (!json_push(arr, core_to_json(&cores[i]))) {
			cJSON_Delete(arr);
			return NULL;
		}
	}
	return arr;
}

static cJSON *intervals_to_json(const struct end_interval *intervals, size_t n)
{
	cJSON *arr = cJSON_CreateArray();

	for (size_t i = 0; arr && i < n; i++) {
		const struct end_interval *v = &intervals[i];
		cJSON *row = row_to_json(end_interval_fields, end_interval_nfields, v);

		if (!row || !json_put(row, "cores", cores_to_json(v->cores, v->ncores))) {
			cJSON_Delete(row);
			row = NULL;
		}
		if (!json_push(arr, row)) {
			cJSON_Delete(arr);
			return NULL;
		}
	}
	return arr;
}

cJSON *run_end_rest_to_json(const struct run_end *e)
{
	cJSON *obj;

	if (!e->present)
		return cJSON_CreateNull();
	obj = row_to_json(run_end_fields, run_end_nfields, e);
	if (!obj)
		return NULL;
	if (!json_put(obj, "intervals", intervals_to_json(e->intervals, e->nintervals)) ||
	    !json_put(obj, "placed",
		      rows_to_json(placed_worker_fields, placed_worker_nfields,
				   sizeof(*e->placed), e->placed, e->nplaced)) ||
	    (e->window &&
	     !json_put(obj, "counters", record_to_json(&counters_schema, e->window)))) {
		cJSON_Delete(obj);
		return NULL;
	}
	return obj;
}

cJSON *run_end_to_json(const struct run_end *e)
{
	cJSON *obj = run_end_rest_to_json(e);

	if (!obj || !e->present)
		return obj;
	if (!json_put(obj, "flows",
		      rows_to_json(flow_summary_fields, flow_summary_nfields,
				   sizeof(*e->flows), e->flows, e->nflows)) ||
	    !json_put(obj, "cores", cores_to_json(e->cores, e->ncores))) {
		cJSON_Delete(obj);
		return NULL;
	}
	return obj;
}

/* No quantity here can be negative, and no share far above 1; jiffies round a little up. */
static void check_f64(const struct field *f, struct nd_f64 *v)
{
	/* An interval may begin a little before the window. */
	double low = f->unit == UNIT_SECONDS ? -1 : 0;

	if (v->k != ND_KNOWN)
		return;
	if (!isfinite(v->v) || v->v < low || (f->unit == UNIT_SHARE && v->v > 1.05))
		*v = nd_f64_unknown(ND_INVALID);
}

int checked_row_from_json(const struct field *fields, size_t nfields, const cJSON *obj,
			  struct arena *mem, void *row)
{
	int rc = cJSON_IsObject(obj) ? row_from_json(fields, nfields, obj, mem, row) : -EINVAL;

	for (size_t i = 0; rc == 0 && i < nfields; i++)
		if (fields[i].kind == FIELD_F64)
			check_f64(&fields[i], (struct nd_f64 *)((char *)row + fields[i].offset));
	return rc;
}

/* Length of an array that may be left out; -EINVAL, -E2BIG. */
static int array_length(const cJSON *arr, const char *what, size_t max, size_t *n,
			struct error *err)
{
	*n = 0;
	if (!arr)
		return 0;
	if (!cJSON_IsArray(arr))
		return error_set(err, EINVAL, "%s is not an array", what);
	*n = (size_t)cJSON_GetArraySize(arr);
	if (*n > max)
		return error_set(err, E2BIG, "%zu %s, at most %zu are accepted", *n, what, max);
	return 0;
}

static int cores_from_json(const cJSON *arr, struct arena *mem, struct core_load **cores, size_t *n,
			   struct error *err)
{
	const cJSON *item;
	size_t i = 0;
	int rc = array_length(arr, "cores", EXAM_MAX_CORES, n, err);

	if (rc || !*n)
		return rc;
	*cores = arena_alloc_array(mem, *n, sizeof(**cores));
	if (!*cores)
		return error_set(err, ENOMEM, "out of memory");
	cJSON_ArrayForEach(item, arr) {
		struct core_load *c = &(*cores)[i++];

		rc = checked_row_from_json(core_load_fields, core_load_nfields, item, mem, c);
		if (rc)
			return error_set(err, -rc, "core %zu is not readable", i - 1);
		if (c->cpu.k == ND_KNOWN && c->cpu.v >= ND_MAX_CPUS)
			c->cpu = nd_u64_unknown(ND_INVALID);
	}
	return 0;
}

/* In a report the flows of both ends share an array; on the wire (side NULL) they do not. */
static bool flow_is_of(const cJSON *item, const char *side)
{
	const char *word = side ? json_get_str(item, "side", 16) : NULL;

	return !side || (word && strcmp(word, side) == 0);
}

static int flows_from_json(const cJSON *arr, const char *side, struct arena *mem,
			   struct run_end *out, struct error *err)
{
	const cJSON *item;
	size_t total, n = 0;
	int rc = array_length(arr, "flows", EXAM_ENDS * RUN_MAX_STREAMS, &total, err);

	if (rc)
		return rc;
	cJSON_ArrayForEach(item, arr)
		n += flow_is_of(item, side);
	if (n > RUN_MAX_STREAMS)
		return error_set(err, E2BIG, "%zu flows at one end, at most %d are accepted", n,
				 RUN_MAX_STREAMS);
	if (!n)
		return 0;
	out->flows = arena_alloc_array(mem, n, sizeof(*out->flows));
	if (!out->flows)
		return error_set(err, ENOMEM, "out of memory");
	cJSON_ArrayForEach(item, arr) {
		if (!flow_is_of(item, side))
			continue;
		rc = checked_row_from_json(flow_summary_fields, flow_summary_nfields, item, mem,
					   &out->flows[out->nflows]);
		if (rc)
			return error_set(err, -rc, "flow %zu is not readable", out->nflows);
		out->nflows++;
	}
	return 0;
}

static int intervals_from_json(const cJSON *arr, struct arena *mem, struct run_end *out,
			       struct error *err)
{
	const cJSON *item;
	size_t i = 0, total_cores = 0;
	int rc = array_length(arr, "intervals", EXAM_MAX_INTERVALS, &out->nintervals, err);

	if (rc || !out->nintervals)
		return rc;
	out->intervals = arena_alloc_array(mem, out->nintervals, sizeof(*out->intervals));
	if (!out->intervals)
		return error_set(err, ENOMEM, "out of memory");
	cJSON_ArrayForEach(item, arr) {
		struct end_interval *v = &out->intervals[i++];

		rc = checked_row_from_json(end_interval_fields, end_interval_nfields, item, mem, v);
		if (rc)
			return error_set(err, -rc, "interval %zu is not readable", i - 1);
		rc = cores_from_json(cJSON_GetObjectItemCaseSensitive(item, "cores"), mem,
				     &v->cores, &v->ncores, err);
		if (rc)
			return rc;
		total_cores += v->ncores;
		if (total_cores > EXAM_MAX_INTERVAL_CORES)
			return error_set(err, E2BIG, "more than %d cores in all intervals",
					 EXAM_MAX_INTERVAL_CORES);
	}
	return 0;
}

static int placed_from_json(const cJSON *arr, struct arena *mem, struct run_end *out,
			    struct error *err)
{
	const cJSON *item;
	size_t i = 0;
	int rc = array_length(arr, "placed workers", ND_MAX_CPUS, &out->nplaced, err);

	if (rc || !out->nplaced)
		return rc;
	out->placed = arena_alloc_array(mem, out->nplaced, sizeof(*out->placed));
	if (!out->placed)
		return error_set(err, ENOMEM, "out of memory");
	cJSON_ArrayForEach(item, arr) {
		struct placed_worker *w = &out->placed[i++];

		rc = checked_row_from_json(placed_worker_fields, placed_worker_nfields, item, mem,
					   w);
		if (rc)
			return error_set(err, -rc, "placed worker %zu is not readable", i - 1);
		if (w->cpu.k == ND_KNOWN && w->cpu.v >= ND_MAX_CPUS)
			w->cpu = nd_u64_unknown(ND_INVALID);
	}
	return 0;
}

static int counters_from_json(const cJSON *obj, struct run_end *out, struct error *err)
{
	if (!obj)
		return 0;
	out->window = counters_new(COUNTERS_ARENA_LIMIT);
	if (!out->window)
		return error_set(err, ENOMEM, "out of memory");
	return record_from_json(&counters_schema, obj, out->window->mem, out->window, err);
}

int run_end_parts_from_json(const struct run_end_parts *p, struct arena *mem, struct run_end *out,
			    struct error *err)
{
	int rc;

	*out = (struct run_end){ .present = false };
	if (!p->end || cJSON_IsNull(p->end))
		return 0;
	out->present = true;
	rc = checked_row_from_json(run_end_fields, run_end_nfields, p->end, mem, out);
	if (rc) {
		rc = error_set(err, -rc, "one end of a run is not readable");
		goto out;
	}
	rc = cores_from_json(p->cores, mem, &out->cores, &out->ncores, err);
	if (rc)
		goto out;
	rc = flows_from_json(p->flows, p->flows_side, mem, out, err);
	if (rc)
		goto out;
	rc = intervals_from_json(cJSON_GetObjectItemCaseSensitive(p->end, "intervals"), mem, out,
				 err);
	if (rc)
		goto out;
	rc = placed_from_json(cJSON_GetObjectItemCaseSensitive(p->end, "placed"), mem, out, err);
	if (rc)
		goto out;
	rc = counters_from_json(cJSON_GetObjectItemCaseSensitive(p->end, "counters"), out, err);
out:
	if (rc) {
		counters_free(out->window);
		*out = (struct run_end){ .present = false };
	}
	return rc;
}

int run_end_from_json(const cJSON *obj, struct arena *mem, struct run_end *out, struct error *err)
{
	struct run_end_parts parts = {
		.end = obj,
		.cores = cJSON_GetObjectItemCaseSensitive(obj, "cores"),
		.flows = cJSON_GetObjectItemCaseSensitive(obj, "flows"),
	};

	return run_end_parts_from_json(&parts, mem, out, err);
}
