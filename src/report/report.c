/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/report/report.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "src/core/units.h"
#include "src/report/stamp.h"
#include "src/report/tell.h"

enum { VALUE_CAP = 48 };

static const char *const verdict_marks[] = {
	[VERDICT_HEALTHY] = "HEALTHY",
	[VERDICT_LIMITED] = "LIMITED",
	[VERDICT_UNEXPLAINED] = "UNEXPLAINED",
	[VERDICT_INCONCLUSIVE] = "INCONCLUSIVE",
};

static const enum style verdict_styles[] = {
	[VERDICT_HEALTHY] = STYLE_GREEN,
	[VERDICT_LIMITED] = STYLE_RED,
	[VERDICT_UNEXPLAINED] = STYLE_YELLOW,
	[VERDICT_INCONCLUSIVE] = STYLE_YELLOW,
};

void side_name(const struct exam *e, enum side s, struct text *out)
{
	const struct facts *f = s < EXAM_ENDS ? e->facts[s] : NULL;

	text_add(out, s == SIDE_BOTH ? "both ends" : s == SIDE_PATH ? "the path" : side_word(s));
	if (f && f->host.hostname.k == ND_KNOWN)
		text_printf(out, " (%s)", f->host.hostname.v);
}

/* The peer is a plain iperf3: its host was not seen. */
static bool one_ended(const struct exam *e)
{
	return !e->facts[SIDE_PEER] && nd_str_is(e->path.peer_program, "iperf3");
}

static void add_word(struct text *line, struct nd_str word)
{
	if (word.k == ND_KNOWN)
		text_printf(line, ", %s", word.v);
}

/* Name, address, and the link traffic leaves by with its line rate. */
static void host_line(struct sheet *p, const struct exam *e, enum side s)
{
	const struct facts *f = e->facts[s];
	struct nd_str address = s == SIDE_LOCAL ? e->path.local_address : e->path.peer_address;
	const struct link_facts *link = exam_egress(e, s);
	struct nd_f64 rate = exam_line_rate(e, s);
	struct text line = TEXT_INIT;
	char value[VALUE_CAP];

	if (f)
		text_add(&line, f->host.hostname.k == ND_KNOWN ? f->host.hostname.v
							       : "(name not known)");
	else
		text_add(&line, "not seen");
	add_word(&line, address);
	if (link) {
		add_word(&line, link->name);
		add_word(&line, link->driver);
	}
	if (rate.k == ND_KNOWN) {
		format_rate(rate.v, value, sizeof(value));
		text_printf(&line, ", %s line rate", value);
	} else if (f) {
		text_printf(&line, ", line rate not known (%s)", nd_known_word(rate.k));
	}
	p->kind->field(p, side_word(s), line.data);
	text_free(&line);
}

void tell_hosts(struct sheet *p, const struct exam *e)
{
	struct text line = TEXT_INIT;

	p->kind->open(p, BLOCK_HOSTS);
	for (enum side s = SIDE_LOCAL; s < EXAM_ENDS; s++)
		host_line(p, e, s);
	if (one_ended(e))
		p->kind->field(p, "",
			       "one-ended: it runs plain iperf3, which counts bytes and tells "
			       "nothing of its host; 'netdoctor serve' there shows its side too");
	if (e->path.idle_rtt_us.k == ND_KNOWN)
		text_printf(&line, "round trip %.3f ms when idle",
			    (double)e->path.idle_rtt_us.v / 1000);
	if (nd_is_true(e->path.same_machine))
		text_printf(&line, "%sboth ends on one machine: they share its CPUs",
			    line.len ? "; " : "");
	if (nd_is_true(e->path.loopback))
		text_printf(&line, "%sover loopback: no network card takes part",
			    line.len ? "; " : "");
	if (line.len)
		p->kind->field(p, "path", line.data);
	p->kind->close(p);
	text_free(&line);
}

void tell_verdict(struct sheet *p, const struct diagnosis *d)
{
	const char *mark = verdict_marks[d->verdict];
	const char *summary = d->summary ? d->summary : "";

	/* "Healthy: 9.41 Gbit/s ..." says it already. */
	if (strncasecmp(summary, mark, strlen(mark)) == 0)
		mark = NULL;
	p->kind->verdict(p, verdict_styles[d->verdict], mark, summary);
}

static void add_run_problem(struct text *line, const struct exam *e, const struct run *r)
{
	const char *why = r->problem.k == ND_KNOWN ? r->problem.v : "no reason given";

	text_printf(line, " (%s", run_status_word(r->status));
	/* What ended the exam is told above. */
	if (!nd_str_is(e->problem, why))
		text_printf(line, ": %s", why);
	text_add(line, ")");
}

/* Runs beside the main one of each direction: one stream, experiments, failures. */
static void other_runs(struct sheet *p, const struct exam *e)
{
	bool heading = false;

	for (size_t i = 0; i < e->nruns; i++) {
		const struct run *r = &e->runs[i];
		struct text line = TEXT_INIT;
		char rate[VALUE_CAP];

		if (r == exam_main_run(e, r->spec.direction) || r == exam_both_run(e))
			continue;
		if (!heading) {
			p->kind->heading(p, "Other runs");
			p->kind->open(p, BLOCK_ITEMS);
		}
		heading = true;
		if (r->goodput_bps.k == ND_KNOWN)
			format_rate((double)r->goodput_bps.v, rate, sizeof(rate));
		text_printf(&line, "%s: %s",
			    r->id.k == ND_KNOWN ? r->id.v : run_purpose_word(r->purpose),
			    r->goodput_bps.k == ND_KNOWN ? rate : "rate not known");
		if (r->status != RUN_COMPLETE)
			add_run_problem(&line, e, r);
		p->kind->item(p, line.data, NULL);
		text_free(&line);
	}
	if (heading)
		p->kind->close(p);
}

void tell_end(struct sheet *p, const struct report_options *o)
{
	struct text line = TEXT_INIT;
	char created[STAMP_CAP];

	stamp_rfc3339(o->created_ns, created);
	text_printf(&line, "netdoctor %s, %s%s", o->tool_version ? o->tool_version : "", created,
		    o->redacted ? ", names and addresses removed" : "");
	p->kind->end(p, line.data ? line.data : "");
	text_free(&line);
}

int report_first_look(const struct exam *e, const struct diagnosis *d,
		      const struct report_options *o, struct text *out)
{
	struct sheet p = sheet_for(&sheet_text, o, out);

	tell_hosts(&p, e);
	for (size_t i = 0; i < d->nfindings; i++)
		p.kind->field(&p, "advice", d->findings[i].title);
	return out->failed ? -ENOMEM : 0;
}

static int report(const struct sheet_kind *kind, const struct exam *e, const struct diagnosis *d,
		  const struct report_options *o, struct text *out)
{
	struct sheet p = sheet_for(kind, o, out);

	kind->begin(&p, d);
	tell_verdict(&p, d);
	tell_hosts(&p, e);
	/* Of an exam without a run the verdict is what ended it. */
	if (e->problem.k == ND_KNOWN && !(d->summary && strstr(d->summary, e->problem.v)))
		kind->note(&p, "Incomplete", e->problem.v);
	tell_directions(&p, e, d, o->verbose);
	tell_both(&p, e, d);
	tell_runs(&p, e, o->verbose);
	other_runs(&p, e);
	tell_findings(&p, e, d, o->verbose);
	tell_plan(&p, d);
	tell_ruled_out(&p, d, o->verbose);
	tell_unseen(&p, d, one_ended(e) && !o->verbose);
	tell_end(&p, o);
	return out->failed ? -ENOMEM : 0;
}

int report_text(const struct exam *e, const struct diagnosis *d, const struct report_options *o,
		struct text *out)
{
	return report(&sheet_text, e, d, o, out);
}

int report_markdown(const struct exam *e, const struct diagnosis *d,
		    const struct report_options *o, struct text *out)
{
	return report(&sheet_markdown, e, d, o, out);
}

int report_html(const struct exam *e, const struct diagnosis *d, const struct report_options *o,
		struct text *out)
{
	return report(&sheet_html, e, d, o, out);
}
