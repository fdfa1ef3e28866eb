/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a rule calls to say what it found. */
#include "src/diagnose/engine.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/core/text.h"

static const char *format_text(struct rule_output *out, const char *fmt, va_list ap)
	__attribute__((format(printf, 2, 0)));

static const char *format_text(struct rule_output *out, const char *fmt, va_list ap)
{
	va_list again;
	char *text;
	int len;

	va_copy(again, ap);
	len = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	text = len < 0 ? NULL : arena_alloc(out->mem, (size_t)len + 1);
	if (!text) {
		out->failed = true;
		return "";
	}
	vsnprintf(text, (size_t)len + 1, fmt, ap);
	return text;
}

const char *rule_text(struct rule_output *out, const char *fmt, ...)
{
	const char *text;
	va_list ap;

	va_start(ap, fmt);
	text = format_text(out, fmt, ap);
	va_end(ap);
	return text;
}

static bool per_direction(const struct rule *r)
{
	return r->scope == RULE_PER_SENDER || r->scope == RULE_PER_RECEIVER;
}

struct finding *rule_fire(struct rule_output *out)
{
	struct finding *f = arena_alloc(out->mem, sizeof(*f));
	struct finding **row = arena_append_row(out->mem, (void **)&out->findings, &out->nfindings,
						sizeof(f));

	out->answers++;
	if (!f || !row) {
		out->failed = true;
		if (row)
			out->nfindings--;
		memset(&out->scratch, 0, sizeof(out->scratch));
		f = &out->scratch;
	} else {
		*row = f;
	}
	f->rule = out->rule;
	f->proof = out->rule->scope == RULE_PER_HOST ? PROOF_STATIC : PROOF_CAUSAL;
	f->side = out->rule->scope == RULE_PER_EXAM ? SIDE_BOTH : out->in->side;
	f->has_direction = per_direction(out->rule);
	f->direction = out->in->direction;
	f->title = out->rule->title;
	f->why = out->rule->why;
	f->fix = out->rule->fix;
	return f;
}

static const char *where_of(struct rule_output *out)
{
	const struct rule_input *in = out->in;

	if (out->rule->scope == RULE_PER_EXAM)
		return "";
	if (out->rule->scope == RULE_PER_HOST)
		return side_word(in->side);
	return rule_text(out, "%s, %s", side_word(in->side), run_direction_word(in->direction));
}

void rule_clear(struct rule_output *out, const char *because, ...)
{
	struct clear_note *note;
	va_list ap;

	out->answers++;
	note = arena_append_row(out->mem, (void **)&out->clears, &out->nclears, sizeof(*note));
	if (!note) {
		out->failed = true;
		return;
	}
	note->rule = out->rule;
	note->where = where_of(out);
	va_start(ap, because);
	note->because = format_text(out, because, ap);
	va_end(ap);
}

void rule_not_applicable(struct rule_output *out, const char *because, ...)
{
	/* A question without meaning here is no news to anybody; the reason documents the rule. */
	(void)because;
	out->answers++;
}

/* What a person can do about a missing fact, when the rule knows nothing better. */
static const char *how_of(const struct exam *exam, enum nd_known reason)
{
	static const char *const how[ND_KNOWN_STATES] = {
		[ND_UNREAD] = "run netdoctor on that machine, with traffic",
		[ND_ABSENT] = "this machine has no such file, attribute or device",
		[ND_NOT_PERMITTED] = "run netdoctor as root there",
		[ND_NOT_SUPPORTED] = "this kernel or driver cannot tell",
		[ND_NOT_APPLICABLE] = "the question has no meaning for this device",
		[ND_INVALID] = "the machine gave a value that makes no sense",
		[ND_RESET] = "the counter was reset during the run: run it again",
		[ND_FAILED] = "the read failed: see the probe's message",
	};

	/* Of an exam that broke off, not of a host without netdoctor. */
	if (reason == ND_UNREAD && exam->problem.k == ND_KNOWN)
		return EXAM_BROKE_OFF;
	return (size_t)reason < ND_KNOWN_STATES && how[reason] ? how[reason] : "run it again";
}

void rule_missing(struct rule_output *out, const char *fact, enum nd_known reason, const char *how)
{
	struct unseen *row;
	const char *missing;
	size_t i;

	out->answers++;
	missing = rule_text(out, "%s (%s)", fact, nd_known_word(reason));
	if (!how)
		how = how_of(out->in->exam, reason);
	/* Both directions lack the same fact: one line is enough. */
	for (i = 0; i < out->nunseen; i++)
		if (out->unseen[i].rule == out->rule &&
		    strcmp(out->unseen[i].missing, missing) == 0)
			return;
	row = arena_append_row(out->mem, (void **)&out->unseen, &out->nunseen, sizeof(*row));
	if (!row) {
		out->failed = true;
		return;
	}
	*row = (struct unseen){ .rule = out->rule, .missing = missing, .how = how };
}

static struct evidence *add_evidence(struct finding *f)
{
	if (f->nevidence == FINDING_MAX_EVIDENCE)
		return NULL;
	return &f->evidence[f->nevidence++];
}

static const char *keep(struct rule_output *out, const char *s)
{
	return s ? rule_text(out, "%s", s) : NULL;
}

void finding_number(struct rule_output *out, struct finding *f, const char *fact, double value,
		    enum unit unit, const char *threshold, const char *source)
{
	struct evidence *e = add_evidence(f);

	if (!e)
		return;
	*e = (struct evidence){
		.fact = keep(out, fact), .value = value, .unit = unit,
		.threshold = keep(out, threshold), .source = keep(out, source),
	};
}

void finding_word(struct rule_output *out, struct finding *f, const char *fact, const char *text,
		  const char *threshold, const char *source)
{
	struct evidence *e = add_evidence(f);

	if (!e)
		return;
	*e = (struct evidence){
		.fact = keep(out, fact), .text = keep(out, text ? text : ""),
		.threshold = keep(out, threshold), .source = keep(out, source),
	};
}

static void add_line(const char **lines, size_t *n, const char *line)
{
	if (*n < FINDING_MAX_COMMANDS)
		lines[(*n)++] = line;
}

void finding_command(struct rule_output *out, struct finding *f, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_line(f->commands, &f->ncommands, format_text(out, fmt, ap));
	va_end(ap);
}

void finding_persist(struct rule_output *out, struct finding *f, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_line(f->persist, &f->npersist, format_text(out, fmt, ap));
	va_end(ap);
}

void finding_undo(struct rule_output *out, struct finding *f, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_line(f->undo, &f->nundo, format_text(out, fmt, ap));
	va_end(ap);
}

const char *rule_shell(struct rule_output *out, const char *word)
{
	struct text t = TEXT_INIT;
	const char *quoted = "''";

	text_add_shell_word(&t, word ? word : "");
	if (t.failed)
		out->failed = true;
	else if (t.len)
		quoted = rule_text(out, "%s", t.data);
	text_free(&t);
	return quoted;
}

void finding_lifts(struct finding *f, enum ceiling_kind kind, double after_low_bps,
		   double after_high_bps)
{
	/* NaN or a negative rate comes from arithmetic on odd facts: then nothing can be said. */
	if (!(after_low_bps >= 0) || !(after_high_bps >= after_low_bps))
		return;
	f->lifts = kind;
	f->after_known = true;
	f->after_low_bps = after_low_bps;
	f->after_high_bps = after_high_bps;
}
