/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "probes/probe.h"
#include "src/cli/commands.h"
#include "src/cli/output.h"
#include "src/exam/conduct.h"

struct check_settings {
	struct output_settings output;
	uint64_t link_speed_bps;
};

static const struct option_row check_options[] = {
	OUTPUT_OPTIONS(struct check_settings),
	{ .name = "link-speed", .kind = OPTION_RATE,
	  .offset = offsetof(struct check_settings, link_speed_bps), .argument = "RATE",
	  .help = "speed of a link that does not tell, e.g. 25G", .min = 1000000,
	  .max = UINT64_C(100000000000000) },
};

#define MAX_IFACES 32

static int check(const struct check_settings *s, const char *const *ifaces, size_t n)
{
	struct probe_context ctx = { .only_links = n ? ifaces : NULL, .nonly_links = n,
				     .software_links = true };
	struct diagnosis *d = NULL;
	struct facts *f = NULL;
	struct error err = { "" };
	struct exam *e = exam_new();
	int rc;

	if (!e || exam_read_host(&ctx, &f, &err)) {
		exam_free(e);
		return complain(EXIT_COULD_NOT_TELL, "%s", e ? err.text : "out of memory");
	}
	e->facts[SIDE_LOCAL] = f;
	if (s->link_speed_bps)
		e->wishes.link_speed_bps = nd_u64(s->link_speed_bps);
	for (size_t i = 0; i < n; i++) {
		if (facts_link_by_name(f, ifaces[i]))
			continue;
		exam_free(e);
		return complain(EXIT_COULD_NOT_TELL, "check: no link named %s here", ifaces[i]);
	}
	rc = diagnose_static(e, &d);
	if (rc) {
		exam_free(e);
		return complain(EXIT_COULD_NOT_TELL, "cannot diagnose: %s", strerror(-rc));
	}
	rc = output_report(&s->output, check_writers, e, d);
	if (!rc)
		rc = diagnosis_exit_code(d);
	diagnosis_free(d);
	exam_free(e);
	return rc;
}

static int run(const struct command *self, int argc, char **argv)
{
	struct check_settings s = { 0 };
	const char *ifaces[MAX_IFACES];
	size_t n;
	int rc = options_parse(self, argc, argv, &s, ifaces, MAX_IFACES, &n);

	if (rc)
		return rc < 0 ? EXIT_USAGE : 0;
	return check(&s, ifaces, n);
}

const struct command command_check = {
	.name = "check",
	.arguments = "[IFACE...]",
	.summary = "check this host's settings without any traffic",
	.description =
		"Reads this host and applies every rule that needs no traffic: PCIe link, speed, "
		"rings,\n"
		"queues, buffers; of links of software that are up what applies to them (network\n"
		"emulation).  With IFACE only those links (and what is below them).  Exit\n"
		"status 3 when fewer checks could be made than not.",
	.options = check_options,
	.noptions = sizeof(check_options) / sizeof(check_options[0]),
	.run = run,
};
