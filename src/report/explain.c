/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/report/explain.h"

#include <errno.h>
#include <string.h>

#include "src/report/pen.h"

enum { LABEL = 12 };

static const char *const scope_texts[] = {
	[RULE_PER_HOST] = "each host, from its facts alone; `netdoctor check` runs it too",
	[RULE_PER_SENDER] = "the sending end of each direction, with traffic",
	[RULE_PER_RECEIVER] = "the receiving end of each direction, with traffic",
	[RULE_PER_EXAM] = "the whole examination, once",
};

/* Cuts one line off *s; false at the end. */
static bool cut_line(const char **s, struct text *line)
{
	size_t len;

	text_free(line);
	if (!*s || !**s)
		return false;
	len = strcspn(*s, "\n");
	text_addn(line, *s, len);
	*s += len + ((*s)[len] == '\n');
	return true;
}

static void part(const struct pen *p, const char *label, const char *s)
{
	if (s && *s)
		pen_labelled(p, 0, LABEL, label, s);
}

int explain_rule(const struct rule *r, const struct report_options *o, struct text *out)
{
	struct pen p = pen_for(o, out);
	struct text line = TEXT_INIT;
	const char *references = r->references;

	pen_style(&p, STYLE_BOLD);
	text_add(out, r->id);
	pen_end_style(&p);
	text_add(out, ": ");
	pen_wrap(&p, (unsigned int)strlen(r->id) + 2, 2, r->title);
	text_add(out, "\n");
	part(&p, "looks at", scope_texts[r->scope]);
	part(&p, "reads", r->reads);
	part(&p, "fires when", r->fires_when);
	part(&p, "not when", r->not_when);
	part(&p, "why", r->why);
	part(&p, "fix", r->fix);
	for (const char *label = "see"; cut_line(&references, &line); label = "")
		if (line.data)
			part(&p, label, line.data);
	return out->failed ? -ENOMEM : 0;
}

int explain_list(const struct rule *const *rules, size_t n, struct text *out)
{
	int widest = 0;

	for (size_t i = 0; i < n; i++)
		if ((int)strlen(rules[i]->id) > widest)
			widest = (int)strlen(rules[i]->id);
	/* Never wrapped: a line is a rule to grep and awk too. */
	for (size_t i = 0; i < n; i++)
		text_printf(out, "%-*s  %s\n", widest, rules[i]->id, rules[i]->title);
	return out->failed ? -ENOMEM : 0;
}

/* Our own sentences, but with *, < and [ in them, which Markdown would take for its own. */
static void add_markdown(struct text *out, const char *s)
{
	for (; *s; s++) {
		if (strchr("\\*<[`|", *s))
			text_add(out, "\\");
		text_addn(out, s, 1);
	}
}

static void section(struct text *out, const char *heading, const char *s)
{
	if (!s || !*s)
		return;
	text_printf(out, "\n## %s\n\n", heading);
	add_markdown(out, s);
	text_add(out, "\n");
}

int explain_rule_markdown(const struct rule *r, struct text *out)
{
	struct text line = TEXT_INIT;
	const char *references = r->references;

	text_printf(out, "<!-- Made from rules/%s.c by make docs: change it there. -->\n", r->id);
	text_printf(out, "# %s\n\n", r->id);
	text_add(out, "Finds that ");
	add_markdown(out, r->title);
	text_add(out, ".\nLooks at ");
	text_add(out, scope_texts[r->scope]);
	text_add(out, ".\n");
	section(out, "Reads", r->reads);
	section(out, "Fires when", r->fires_when);
	section(out, "Not when", r->not_when);
	section(out, "Why", r->why);
	section(out, "Fix", r->fix);
	if (references && *references)
		text_add(out, "\n## See\n\n");
	while (cut_line(&references, &line)) {
		text_add(out, "- ");
		add_markdown(out, line.data ? line.data : "");
		text_add(out, "\n");
	}
	return out->failed ? -ENOMEM : 0;
}

int explain_index_markdown(const struct rule *const *rules, size_t n, struct text *out)
{
	text_add(out, "<!-- Made from rules/rules.c by make docs: change it there. -->\n"
		      "# Rules\n\n"
		      "What each rule reads, when it fires, why, and the fix; "
		      "`netdoctor explain RULE` says the same.\n\n"
		      "| rule | finds | looks at |\n|---|---|---|\n");
	for (size_t i = 0; i < n; i++) {
		text_printf(out, "| [%s](%s.md) | ", rules[i]->id, rules[i]->id);
		add_markdown(out, rules[i]->title);
		text_printf(out, " | %s |\n", scope_texts[rules[i]->scope]);
	}
	return out->failed ? -ENOMEM : 0;
}
