/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/exams/expect.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *word_of(const cJSON *expect, const char *key)
{
	const cJSON *v = cJSON_GetObjectItemCaseSensitive(expect, key);

	return cJSON_IsString(v) ? v->valuestring : NULL;
}

static bool is_or_any(const char *expected, const char *word)
{
	return !expected || strcmp(expected, word) == 0;
}

static const char *direction_of(const struct finding *f)
{
	return f->has_direction ? run_direction_word(f->direction) : "none";
}

static bool right_scope(const cJSON *expect, const struct finding *f)
{
	return is_or_any(word_of(expect, "side"), side_word(f->side)) &&
	       is_or_any(word_of(expect, "direction"), direction_of(f));
}

static unsigned int wrong_word(const char *what, const char *expected, const char *got)
{
	if (is_or_any(expected, got))
		return 0;
	printf("#   %s: expected \"%s\", got \"%s\"\n", what, expected, got);
	return 1;
}

/* NAME: [low, high] */
static unsigned int wrong_range(const cJSON *expect, const char *name, bool known, double got)
{
	const cJSON *range = cJSON_GetObjectItemCaseSensitive(expect, name);
	double low, high;

	if (!range)
		return 0;
	low = cJSON_GetNumberValue(cJSON_GetArrayItem(range, 0));
	high = cJSON_GetNumberValue(cJSON_GetArrayItem(range, 1));
	if (known && got >= low && got <= high)
		return 0;
	printf("#   %s: expected %.6g .. %.6g, got %s%.6g\n", name, low, high,
	       known ? "" : "unknown, not ", got);
	return 1;
}

static bool ends_with(const char *s, const char *suffix)
{
	size_t n = strlen(s), m = strlen(suffix);

	return n >= m && strcmp(s + n - m, suffix) == 0;
}

static bool evidence_is(const struct evidence *e, const cJSON *v)
{
	if (cJSON_IsString(v))
		return e->text && strcmp(e->text, v->valuestring) == 0;
	return !e->text && fabs(e->value - v->valuedouble) <= 1e-3 * fabs(v->valuedouble) + 1e-9;
}

/* {"suffix of the fact": number or word; null: no such evidence} */
static unsigned int wrong_evidence(const cJSON *expect, const struct finding *f)
{
	const cJSON *v;
	unsigned int wrong = 0;
	size_t i;

	cJSON_ArrayForEach(v, cJSON_GetObjectItemCaseSensitive(expect, "evidence")) {
		for (i = 0; i < f->nevidence; i++)
			if (ends_with(f->evidence[i].fact, v->string) &&
			    (cJSON_IsNull(v) || evidence_is(&f->evidence[i], v)))
				break;
		if ((i < f->nevidence) != cJSON_IsNull(v))
			continue;
		wrong++;
		printf("#   %s evidence \"...%s\"%s\n", cJSON_IsNull(v) ? "unexpected" : "no",
		       v->string, cJSON_IsNull(v) ? "" : " of that value");
	}
	for (i = 0; wrong && i < f->nevidence; i++)
		printf("#     %s = %s%.9g\n", f->evidence[i].fact,
		       f->evidence[i].text ? f->evidence[i].text : "", f->evidence[i].value);
	return wrong;
}

/* Each text of the list is part of one of the lines. */
static unsigned int wrong_lines(const cJSON *list, const char *const *lines, size_t n)
{
	const cJSON *v;
	unsigned int wrong = 0;
	size_t i;

	cJSON_ArrayForEach(v, list) {
		for (i = 0; i < n; i++)
			if (strstr(lines[i], v->valuestring))
				break;
		if (i < n)
			continue;
		wrong++;
		printf("#   no line with \"%s\"\n", v->valuestring);
	}
	for (i = 0; wrong && i < n; i++)
		printf("#     %s\n", lines[i]);
	return wrong;
}

static unsigned int wrong_finding(const cJSON *expect, const struct finding *f)
{
	const char *title = word_of(expect, "title");
	unsigned int wrong = 0;

	wrong += wrong_word("proof", word_of(expect, "proof"), proof_word(f->proof));
	wrong += wrong_word("severity", word_of(expect, "severity"), severity_word(f->severity));
	wrong += wrong_word("subject", word_of(expect, "subject"), f->subject ? f->subject : "");
	wrong += wrong_word("risk", word_of(expect, "risk"), risk_word(f->risk));
	wrong += wrong_evidence(expect, f);
	wrong += wrong_range(expect, "after_low_bps", f->after_known, f->after_low_bps);
	wrong += wrong_range(expect, "after_high_bps", f->after_known, f->after_high_bps);
	wrong += wrong_range(expect, "gain_low_bps", f->gain_known, f->gain_low_bps);
	wrong += wrong_range(expect, "gain_high_bps", f->gain_known, f->gain_high_bps);
	wrong += wrong_lines(cJSON_GetObjectItemCaseSensitive(expect, "commands"), f->commands,
			     f->ncommands);
	wrong += wrong_lines(cJSON_GetObjectItemCaseSensitive(expect, "undo"), f->undo, f->nundo);
	if (title && !strstr(f->title, title)) {
		printf("#   the title lacks \"%s\": %s\n", title, f->title);
		wrong++;
	}
	return wrong;
}

static bool right_where(const cJSON *expect, const char *where)
{
	const char *side = word_of(expect, "side"), *direction = word_of(expect, "direction");

	return (!side || strstr(where, side)) && (!direction || strstr(where, direction));
}

static bool lacks(const cJSON *expect, const struct rule_output *out)
{
	const char *missing = word_of(expect, "missing");
	size_t i;

	for (i = 0; i < out->nunseen; i++)
		if (!missing || strstr(out->unseen[i].missing, missing))
			return true;
	return false;
}

static const char *outcome_of(const cJSON *expect, const struct rule_output *out,
			      const struct finding **found)
{
	size_t i;

	*found = NULL;
	for (i = 0; i < out->nfindings && !*found; i++)
		if (right_scope(expect, out->findings[i]))
			*found = out->findings[i];
	if (*found)
		return "fires";
	if (out->nunseen && lacks(expect, out))
		return "unknown";
	for (i = 0; i < out->nclears; i++)
		if (right_where(expect, out->clears[i].where))
			return "clear";
	return out->nunseen ? "unknown" : "not-applicable";
}

static void print_output(const struct rule_output *out)
{
	size_t i;

	for (i = 0; i < out->nfindings; i++)
		printf("#     fired: %s %s: %s\n", side_word(out->findings[i]->side),
		       direction_of(out->findings[i]), out->findings[i]->title);
	for (i = 0; i < out->nclears; i++)
		printf("#     clear: %s: %s\n", out->clears[i].where, out->clears[i].because);
	for (i = 0; i < out->nunseen; i++)
		printf("#     unknown: %s\n", out->unseen[i].missing);
}

unsigned int expect_of_rule(const cJSON *expect, const struct rule_output *out)
{
	const cJSON *count = cJSON_GetObjectItemCaseSensitive(expect, "count");
	const struct finding *f;
	const char *got = outcome_of(expect, out, &f);
	unsigned int wrong = wrong_word("outcome", word_of(expect, "outcome"), got);

	if (!wrong && strcmp(got, "unknown") == 0 && !lacks(expect, out)) {
		printf("#   missing: no fact like \"%s\"\n", word_of(expect, "missing"));
		wrong++;
	}
	if (count && (size_t)cJSON_GetNumberValue(count) != out->nfindings) {
		printf("#   count: %zu findings\n", out->nfindings);
		wrong++;
	}
	if (wrong)
		print_output(out);
	else if (f)
		wrong += wrong_finding(expect, f);
	return wrong;
}

static void print_findings(const struct diagnosis *d)
{
	size_t i, j;

	printf("#   %s\n", d->summary);
	for (i = 0; i < d->nfindings; i++) {
		const struct finding *f = &d->findings[i];

		printf("#     %u. %s %s, %s %s: %s", f->rank, f->rule->id,
		       severity_word(f->severity), side_word(f->side), direction_of(f), f->title);
		for (j = 0; j < f->nalso; j++)
			printf(" +%s", f->also[j]);
		printf("\n");
	}
}

static bool has_word(const cJSON *list, const char *word)
{
	const cJSON *v;

	cJSON_ArrayForEach(v, list)
		if (cJSON_IsString(v) && strcmp(v->valuestring, word) == 0)
			return true;
	return false;
}

static const struct finding *finding_of(const struct diagnosis *d, const char *id)
{
	size_t i;

	for (i = 0; i < d->nfindings; i++)
		if (strcmp(d->findings[i].rule->id, id) == 0)
			return &d->findings[i];
	return NULL;
}

/* A list of ids, or {id: confidence}: each is that of a finding of its own. */
static unsigned int wrong_present(const cJSON *present, const struct diagnosis *d)
{
	unsigned int wrong = 0;
	const cJSON *v;

	cJSON_ArrayForEach(v, present) {
		const char *id = cJSON_IsString(v) ? v->valuestring : v->string;
		const struct finding *f = finding_of(d, id);

		if (f && (!cJSON_IsNumber(v) || fabs(f->confidence - v->valuedouble) < 1e-9))
			continue;
		printf("#   present: %s is not there", id);
		if (f)
			printf(" with confidence %g, but %g", v->valuedouble, f->confidence);
		printf("\n");
		wrong++;
	}
	return wrong;
}

unsigned int expect_of_diagnosis(const cJSON *expect, const struct diagnosis *d)
{
	const char *first = word_of(expect, "first");
	const cJSON *absent = cJSON_GetObjectItemCaseSensitive(expect, "absent");
	unsigned int wrong;
	size_t i;

	wrong = wrong_word("verdict", word_of(expect, "verdict"), verdict_word(d->verdict));
	wrong += wrong_word("first", first, d->nfindings ? d->findings[0].rule->id : "(none)");
	if (d->nfindings)
		wrong += wrong_lines(cJSON_GetObjectItemCaseSensitive(expect, "also"),
				     d->findings[0].also, d->findings[0].nalso);
	wrong += wrong_present(cJSON_GetObjectItemCaseSensitive(expect, "present"), d);
	for (i = 0; i < d->nfindings; i++)
		if (has_word(absent, d->findings[i].rule->id)) {
			printf("#   absent: %s is there\n", d->findings[i].rule->id);
			wrong++;
		}
	if (wrong)
		print_findings(d);
	return wrong;
}

unsigned int expect_of_base(const cJSON *expect, const struct diagnosis *d)
{
	const cJSON *allowed = cJSON_GetObjectItemCaseSensitive(expect, "above_low"), *v;
	unsigned int wrong;
	size_t i;

	wrong = wrong_word("verdict", word_of(expect, "verdict"), verdict_word(d->verdict));
	for (i = 0; i < d->nfindings; i++)
		if (d->findings[i].severity > SEVERITY_LOW &&
		    !has_word(allowed, d->findings[i].rule->id))
			wrong++;
	cJSON_ArrayForEach(v, allowed) {
		for (i = 0; i < d->nfindings; i++)
			if (strcmp(d->findings[i].rule->id, v->valuestring) == 0)
				break;
		if (i == d->nfindings) {
			printf("#   %s did not fire\n", v->valuestring);
			wrong++;
		}
	}
	if (wrong)
		print_findings(d);
	return wrong;
}
