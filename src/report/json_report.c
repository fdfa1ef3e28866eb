/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/report/report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/diagnose/rule.h"
#include "src/report/stamp.h"

/* Rates are whole bit/s; infinite and unknown ones are null. */
static cJSON *rate(bool known, double bps)
{
	return known && isfinite(bps) ? cJSON_CreateNumber(round(bps)) : cJSON_CreateNull();
}

static cJSON *number(double v)
{
	return isfinite(v) ? cJSON_CreateNumber(v) : cJSON_CreateNull();
}

static cJSON *string(const char *s)
{
	return s ? json_string(s) : cJSON_CreateNull();
}

static cJSON *f64(struct nd_f64 v)
{
	return v.k == ND_KNOWN ? number(v.v) : cJSON_CreateNull();
}

static cJSON *range(bool known, double low, double high)
{
	cJSON *obj;

	if (!known)
		return cJSON_CreateNull();
	obj = cJSON_CreateObject();
	if (obj && json_put(obj, "low", rate(true, low)) && json_put(obj, "high", rate(true, high)))
		return obj;
	cJSON_Delete(obj);
	return NULL;
}

static cJSON *strings(const char *const *v, size_t n)
{
	cJSON *arr = cJSON_CreateArray();

	for (size_t i = 0; arr && i < n; i++) {
		if (!json_push(arr, string(v[i]))) {
			cJSON_Delete(arr);
			return NULL;
		}
	}
	return arr;
}

/* Newline separated lines as an array. */
static cJSON *lines(const char *s)
{
	cJSON *arr = cJSON_CreateArray();

	while (arr && s && *s) {
		size_t len = strcspn(s, "\n");
		char *line = strndup(s, len);
		bool ok = line && (len == 0 || json_push(arr, json_string(line)));

		free(line);
		if (!ok) {
			cJSON_Delete(arr);
			return NULL;
		}
		s += len + (s[len] == '\n');
	}
	return arr;
}

static cJSON *bottleneck(const struct ceiling *c)
{
	cJSON *obj;

	if (!c)
		return cJSON_CreateNull();
	obj = cJSON_CreateObject();
	if (obj && json_put(obj, "ceiling", string(ceiling_word(c->kind))) &&
	    json_put(obj, "side", string(side_word(c->side))) &&
	    json_put(obj, "low_bps", rate(c->known, c->low_bps)) &&
	    json_put(obj, "high_bps", rate(c->known, c->high_bps)))
		return obj;
	cJSON_Delete(obj);
	return NULL;
}

static cJSON *direction(const struct diagnosis *d, size_t i)
{
	const struct direction_result *r = &d->directions[i];
	cJSON *obj = cJSON_CreateObject();

	if (obj && json_put(obj, "direction", string(run_direction_word(r->direction))) &&
	    json_put(obj, "measured_bps", rate(r->measured, r->measured_bps)) &&
	    json_put(obj, "target_bps", rate(r->target_bps.k == ND_KNOWN, r->target_bps.v)) &&
	    json_put(obj, "bottleneck", bottleneck(r->bottleneck)) &&
	    json_put(obj, "explained", f64(r->explained)))
		return obj;
	cJSON_Delete(obj);
	return NULL;
}

static cJSON *both_way(const struct both_ways *b, enum run_direction d)
{
	cJSON *obj = cJSON_CreateObject();

	if (obj && json_put(obj, "direction", string(run_direction_word(d))) &&
	    json_put(obj, "measured_bps", rate(true, b->of[d].measured_bps)) &&
	    json_put(obj, "alone_bps",
		     rate(b->of[d].alone_bps.k == ND_KNOWN, b->of[d].alone_bps.v)) &&
	    json_put(obj, "share", f64(b->of[d].share)) &&
	    json_put(obj, "lower", cJSON_CreateBool(b->of[d].lower)))
		return obj;
	cJSON_Delete(obj);
	return NULL;
}

static cJSON *both_ways(const struct both_ways *b)
{
	cJSON *obj = cJSON_CreateObject();
	cJSON *arr = obj ? cJSON_AddArrayToObject(obj, "directions") : NULL;
	struct nd_str id = b->run->id;
	bool ok = arr;

	for (int d = RUN_FORWARD; ok && d <= RUN_REVERSE; d++)
		ok = json_push(arr, both_way(b, (enum run_direction)d));
	if (ok && json_put(obj, "run", string(id.k == ND_KNOWN ? id.v : NULL)) &&
	    json_put(obj, "summary", string(b->text)))
		return obj;
	cJSON_Delete(obj);
	return NULL;
}

static cJSON *inputs(const struct ceiling *c)
{
	cJSON *obj = cJSON_CreateObject();

	for (size_t i = 0; obj && i < c->ninputs; i++) {
		cJSON *in = cJSON_CreateObject();

		if (in && (!json_put(in, "value", number(c->inputs[i].value)) ||
			   !json_put(in, "unit", string(unit_word(c->inputs[i].unit))))) {
			cJSON_Delete(in);
			in = NULL;
		}
		if (!json_put(obj, c->inputs[i].name, in)) {
			cJSON_Delete(obj);
			return NULL;
		}
	}
	return obj;
}

static cJSON *ceiling(const struct diagnosis *d, size_t i)
{
	const struct ceiling *c = &d->ladder.ceilings[i];
	cJSON *obj = cJSON_CreateObject();

	if (obj && json_put(obj, "id", string(ceiling_word(c->kind))) &&
	    json_put(obj, "side", string(side_word(c->side))) &&
	    json_put(obj, "direction", string(run_direction_word(c->direction))) &&
	    json_put(obj, "subject", string(c->subject)) &&
	    json_put(obj, "low_bps", rate(c->known, c->low_bps)) &&
	    json_put(obj, "high_bps", rate(c->known, c->high_bps)) &&
	    json_put(obj, "basis", string(ceiling_basis_word(c->basis))) &&
	    json_put(obj, "formula", string(c->formula)) &&
	    json_put(obj, "inputs", inputs(c)) &&
	    json_put(obj, "why_unknown", string(c->known ? NULL : c->why_unknown)))
		return obj;
	cJSON_Delete(obj);
	return NULL;
}

static cJSON *evidence(const struct finding *f)
{
	cJSON *arr = cJSON_CreateArray();

	for (size_t i = 0; arr && i < f->nevidence; i++) {
		const struct evidence *v = &f->evidence[i];
		cJSON *obj = cJSON_CreateObject();

		if (obj && (!json_put(obj, "fact", string(v->fact)) ||
			    !json_put(obj, "value", v->text ? string(v->text) : number(v->value)) ||
			    !json_put(obj, "unit", string(v->text ? "" : unit_word(v->unit))) ||
			    !json_put(obj, "threshold", string(v->threshold)) ||
			    !json_put(obj, "source", string(v->source)))) {
			cJSON_Delete(obj);
			obj = NULL;
		}
		if (!json_push(arr, obj)) {
			cJSON_Delete(arr);
			return NULL;
		}
	}
	return arr;
}

static cJSON *fix(const struct finding *f)
{
	cJSON *obj = cJSON_CreateObject();

	if (obj && json_put(obj, "summary", string(f->fix)) &&
	    json_put(obj, "commands", strings(f->commands, f->ncommands)) &&
	    json_put(obj, "persist", strings(f->persist, f->npersist)) &&
	    json_put(obj, "undo", strings(f->undo, f->nundo)) &&
	    json_put(obj, "risk", string(risk_word(f->risk))))
		return obj;
	cJSON_Delete(obj);
	return NULL;
}

static cJSON *finding(const struct diagnosis *d, size_t i)
{
	const struct finding *f = &d->findings[i];
	cJSON *obj = cJSON_CreateObject();

	if (obj && json_put(obj, "rank", cJSON_CreateNumber(f->rank)) &&
	    json_put(obj, "rule", string(f->rule->id)) &&
	    json_put(obj, "severity", string(severity_word(f->severity))) &&
	    json_put(obj, "proof", string(proof_word(f->proof))) &&
	    json_put(obj, "confidence", number(f->confidence)) &&
	    json_put(obj, "side", string(side_word(f->side))) &&
	    json_put(obj, "direction",
		     string(f->has_direction ? run_direction_word(f->direction) : NULL)) &&
	    json_put(obj, "subject", string(f->subject)) &&
	    json_put(obj, "title", string(f->title)) && json_put(obj, "why", string(f->why)) &&
	    json_put(obj, "evidence", evidence(f)) &&
	    json_put(obj, "gain_bps", range(f->gain_known, f->gain_low_bps, f->gain_high_bps)) &&
	    json_put(obj, "after_bps", range(f->gain_known, f->rate_low_bps, f->rate_high_bps)) &&
	    json_put(obj, "fix", fix(f)) && json_put(obj, "also", strings(f->also, f->nalso)) &&
	    json_put(obj, "references", lines(f->rule->references)))
		return obj;
	cJSON_Delete(obj);
	return NULL;
}

static cJSON *plan_step(const struct diagnosis *d, size_t i)
{
	const struct plan_step *p = &d->plan[i];
	cJSON *obj = cJSON_CreateObject();

	if (obj && json_put(obj, "step", cJSON_CreateNumber((double)(i + 1))) &&
	    json_put(obj, "rule", string(p->finding->rule->id)) &&
	    json_put(obj, "finding", cJSON_CreateNumber(p->finding->rank)) &&
	    json_put(obj, "before_bps", rate(true, p->before_bps)) &&
	    json_put(obj, "after_bps", rate(true, p->after_bps)))
		return obj;
	cJSON_Delete(obj);
	return NULL;
}

static cJSON *unseen(const struct diagnosis *d, size_t i)
{
	const struct unseen *u = &d->unseen[i];
	cJSON *obj = cJSON_CreateObject();

	if (obj && json_put(obj, "rule", string(u->rule->id)) &&
	    json_put(obj, "missing", strings(&u->missing, u->missing ? 1 : 0)) &&
	    json_put(obj, "how", string(u->how)))
		return obj;
	cJSON_Delete(obj);
	return NULL;
}

static cJSON *ruled_out(const struct diagnosis *d, size_t i)
{
	const struct ruled_out *r = &d->ruled_out[i];
	cJSON *obj = cJSON_CreateObject();

	if (obj && json_put(obj, "rule", string(r->rule->id)) &&
	    json_put(obj, "because", string(r->because)))
		return obj;
	cJSON_Delete(obj);
	return NULL;
}

static cJSON *rows(const struct diagnosis *d, size_t n,
		   cJSON *(*row)(const struct diagnosis *d, size_t i))
{
	cJSON *arr = cJSON_CreateArray();

	for (size_t i = 0; arr && i < n; i++) {
		if (!json_push(arr, row(d, i))) {
			cJSON_Delete(arr);
			return NULL;
		}
	}
	return arr;
}

static cJSON *diagnosis_to_json(const struct diagnosis *d)
{
	cJSON *obj = cJSON_CreateObject();

	if (obj && json_put(obj, "verdict", string(verdict_word(d->verdict))) &&
	    json_put(obj, "summary", string(d->summary)) &&
	    json_put(obj, "directions", rows(d, d->ndirections, direction)) &&
	    (!d->both.run || json_put(obj, "both_at_once", both_ways(&d->both))) &&
	    json_put(obj, "ceilings", rows(d, d->ladder.n, ceiling)) &&
	    json_put(obj, "findings", rows(d, d->nfindings, finding)) &&
	    json_put(obj, "plan", rows(d, d->nplan, plan_step)) &&
	    json_put(obj, "not_evaluated", rows(d, d->nunseen, unseen)) &&
	    json_put(obj, "ruled_out", rows(d, d->nruled_out, ruled_out)))
		return obj;
	cJSON_Delete(obj);
	return NULL;
}

static cJSON *tool(const struct report_options *o)
{
	cJSON *obj = cJSON_CreateObject();

	if (obj && json_put(obj, "name", cJSON_CreateString("netdoctor")) &&
	    json_put(obj, "version", cJSON_CreateString(o->tool_version ? o->tool_version : "")))
		return obj;
	cJSON_Delete(obj);
	return NULL;
}

cJSON *report_to_json(const struct exam *e, const struct diagnosis *d,
		      const struct report_options *o)
{
	cJSON *obj = cJSON_CreateObject();
	char created[STAMP_CAP];

	stamp_rfc3339(o->created_ns, created);
	if (obj && json_put(obj, "schema", cJSON_CreateString(REPORT_SCHEMA)) &&
	    json_put(obj, "tool", tool(o)) &&
	    json_put(obj, "created", cJSON_CreateString(created)) &&
	    json_put(obj, "redacted", cJSON_CreateBool(o->redacted)) &&
	    json_put(obj, "exam", exam_to_json(e)) &&
	    json_put(obj, "diagnosis", diagnosis_to_json(d)))
		return obj;
	cJSON_Delete(obj);
	return NULL;
}

/*
 * JSON may hold any character as it is, but a report is also read with cat: what a
 * terminal obeys, or what turns text around, is written as an escape.
 */
static bool needs_escape(uint32_t c)
{
	return (c >= 0x7f && c <= 0x9f) || c == 0x061c || (c >= 0x200b && c <= 0x200f) ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff;
}

static void add_printed(struct text *out, const char *s)
{
	while (*s) {
		const char *start = s;
		uint32_t c = 0;
		size_t n = 0;

		while (*s && (n = utf8_decode(s, &c)) && !needs_escape(c))
			s += n;
		text_addn(out, start, (size_t)(s - start));
		if (!*s)
			break;
		/* Invalid bytes do not come here: strings were cleaned when they were added. */
		text_printf(out, "\\u%04x", n ? c : 0xfffd);
		s += n ? n : 1;
	}
}

int report_json(const struct exam *e, const struct diagnosis *d, const struct report_options *o,
		struct text *out)
{
	cJSON *obj = report_to_json(e, d, o);
	char *printed = obj ? cJSON_Print(obj) : NULL;

	cJSON_Delete(obj);
	if (!printed)
		return -ENOMEM;
	add_printed(out, printed);
	text_add(out, "\n");
	cJSON_free(printed);
	return out->failed ? -ENOMEM : 0;
}

static uint64_t read_created(const cJSON *obj)
{
	const char *created = json_get_str(obj, "created", STAMP_CAP);
	uint64_t ns = 0;

	return created && !stamp_read(created, &ns) ? ns : 0;
}

int report_read_json(const char *json, size_t len, struct exam **out, uint64_t *created_ns,
		     struct error *err)
{
	const char *end = NULL;
	cJSON *obj = cJSON_ParseWithLengthOpts(json, len, &end, false);
	const char *schema = obj ? json_get_str(obj, "schema", 64) : NULL;
	int rc;

	*out = NULL;
	while (obj && end < json + len && *end && strchr(" \t\r\n", *end))
		end++;
	if (!obj)
		rc = error_set(err, EINVAL, "not JSON");
	else if (end != json + len)
		rc = error_set(err, EINVAL, "not JSON: more follows the report");
	else if (!schema)
		rc = error_set(err, EINVAL, "not a netdoctor report: it has no \"schema\"");
	else if (strcmp(schema, REPORT_SCHEMA) != 0)
		rc = error_set(err, EINVAL, "schema \"%s\" is not %s", schema, REPORT_SCHEMA);
	else
		rc = exam_from_json(cJSON_GetObjectItemCaseSensitive(obj, "exam"), out, err);
	if (created_ns)
		*created_ns = obj ? read_created(obj) : 0;
	cJSON_Delete(obj);
	return rc;
}
