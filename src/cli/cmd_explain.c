/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "src/cli/commands.h"
#include "src/cli/output.h"
#include "src/report/explain.h"

struct explain_settings { struct output_settings output; };

static const struct option_row explain_options[] = {
	{ .name = "no-color", .kind = OPTION_FLAG,
	  .offset = offsetof(struct explain_settings, output.no_colour),
	  .help = "no colours (also: NO_COLOR in the environment)" },
	{ .name = "ascii", .kind = OPTION_FLAG,
	  .offset = offsetof(struct explain_settings, output.ascii),
	  .help = "ASCII only (default by locale)" },
};

static int explain(const struct explain_settings *s, const char *id)
{
	struct report_options o = output_options(&s->output);
	const struct rule *rule = id ? rule_by_id(id) : NULL;
	struct text t = TEXT_INIT;
	int rc;

	if (id && !rule)
		return complain(EXIT_USAGE,
				"explain: no rule named %s (netdoctor explain lists them)",
				id);
	if (rule)
		rc = explain_rule(rule, &o, &t);
	else
		rc = explain_list(rules_table, rules_count, &t);
	if (rc)
		rc = complain(EXIT_COULD_NOT_TELL, "cannot explain: %s", strerror(-rc));
	else
		rc = output_text(&t);
	text_free(&t);
	return rc;
}

static int run(const struct command *self, int argc, char **argv)
{
	struct explain_settings s = { 0 };
	const char *id = NULL;
	size_t n;
	int rc = options_parse(self, argc, argv, &s, &id, 1, &n);

	if (rc)
		return rc < 0 ? EXIT_USAGE : 0;
	return explain(&s, id);
}

const struct command command_explain = {
	.name = "explain",
	.arguments = "[RULE]",
	.summary = "what a rule reads, when it fires, why, and the fix",
	.description =
		"Without RULE: one line for each rule.  With RULE: what it reads, when it fires,\n"
		"the mechanism, the fix, when it is wrong, and its sources.",
	.options = explain_options,
	.noptions = sizeof(explain_options) / sizeof(explain_options[0]),
	.run = run,
};
