/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules/thresholds.h"
#include "src/diagnose/rule.h"

static void fire(const struct rule_input *in, struct rule_output *out)
{
	const struct facts *f = in->exam->facts[SIDE_LOCAL];
	bool loopback = nd_is_true(in->exam->path.loopback);
	struct finding *found = rule_fire(out);

	found->proof = PROOF_STATIC;
	found->severity = SEVERITY_INFO;
	found->title = loopback ?
		"both ends are this machine, by the loopback device: no network card is tested" :
		"both ends are one machine and share its CPUs: each byte costs them twice";
	if (nd_is_true(in->exam->path.same_machine))
		finding_word(out, found, "path.same_machine", "yes", NULL, "equal boot ids");
	if (loopback)
		finding_word(out, found, "path.loopback", "yes", NULL, "route to the peer");
	if (f && f->host.cpus_allowed.k == ND_KNOWN)
		finding_number(out, found, "local.host.cpus_allowed",
			       (double)nd_cpus_count(&f->host.cpus_allowed), UNIT_COUNT, NULL,
			       "sched_getaffinity");
}

static void evaluate(const struct rule_input *in, struct rule_output *out)
{
	const struct nd_bool *same = &in->exam->path.same_machine;

	if (same->k != ND_KNOWN && !nd_is_true(in->exam->path.loopback))
		rule_missing(out, "path.same_machine", same->k, NULL);
	else if (nd_is_true(*same) || nd_is_true(in->exam->path.loopback))
		fire(in, out);
	else
		rule_clear(out, "the ends are two machines");
}

const struct rule rule_tool_same_machine = {
	.id = "tool-same-machine",
	.title = "both ends are one machine",
	.scope = RULE_PER_EXAM,
	.reads = "boot ids of both hosts; the device of the route to the peer",
	.fires_when = "equal boot ids, or the route to the peer leaves by the loopback device",
	.why = "Sender and receiver then compete for the same CPUs and memory, and packets cross "
	       "no wire: the rate is that of the CPUs, not of any network.",
	.fix = "Run netdoctor serve on another machine to test the network between them.",
	.not_when = "It was meant: a test of containers, virtual networks or of netdoctor itself.",
	.references = "random(4), /proc/sys/kernel/random/boot_id",
	.evaluate = evaluate,
};
