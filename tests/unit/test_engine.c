/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rule engine and precedence, with rules made for the purpose. */
#include "src/diagnose/engine.h"

#include <stdarg.h>
#include <string.h>

#include "tests/unit/exam_fixture.h"
#include "tests/unit/model_test.h"

static void fire(const struct rule_input *in, struct rule_output *out)
{
	struct finding *f = rule_fire(out);

	f->severity = SEVERITY_HIGH;
	if (in->measured_bps > 0)
		finding_lifts(f, CEILING_CPU, 2 * in->measured_bps, 2 * in->measured_bps);
}

static void fire_shaper(const struct rule_input *in, struct rule_output *out)
{
	struct finding *f = rule_fire(out);

	f->severity = SEVERITY_HIGH;
	finding_lifts(f, CEILING_SHAPER, 3 * in->measured_bps, 3 * in->measured_bps);
}

static void fire_advice_on_cpu(const struct rule_input *in, struct rule_output *out)
{
	struct finding *f = rule_fire(out);

	(void)in;
	f->severity = SEVERITY_LOW;
	finding_lifts(f, CEILING_CPU, 9e9, 9e9);
}

static void clear(const struct rule_input *in, struct rule_output *out)
{
	rule_clear(out, "nothing at %.0f", in->measured_bps / 1e9);
}

static void clear_same(const struct rule_input *in, struct rule_output *out)
{
	(void)in;
	rule_clear(out, "fine");
}

static void missing(const struct rule_input *in, struct rule_output *out)
{
	(void)in;
	rule_missing(out, "links[eth0].rx_ring", ND_NOT_PERMITTED, NULL);
}

static void silent(const struct rule_input *in, struct rule_output *out)
{
	(void)in;
	(void)out;
}

static void not_applicable(const struct rule_input *in, struct rule_output *out)
{
	(void)in;
	rule_not_applicable(out, "no %s", "NIC");
}

#define RULE(id_, scope_, evaluate_) \
	&(const struct rule){ .id = (id_), .title = (id_), .scope = (scope_), .why = "why", \
			      .fix = "fix", .evaluate = (evaluate_) }

static struct diagnosis *run_rules(const struct exam *e, const struct rule *const *rules, size_t n,
				   bool static_only)
{
	struct diagnosis *d = NULL;

	assert_int_equal(diagnose_with(rules, n, e, static_only, &d), 0);
	assert_non_null(d);
	return d;
}

static const struct finding *found(const struct diagnosis *d, const char *id)
{
	size_t i;

	for (i = 0; i < d->nfindings; i++)
		if (strcmp(d->findings[i].rule->id, id) == 0)
			return &d->findings[i];
	return NULL;
}

static const char *ruled_out(const struct diagnosis *d, const char *id)
{
	size_t i;

	for (i = 0; i < d->nruled_out; i++)
		if (strcmp(d->ruled_out[i].rule->id, id) == 0)
			return d->ruled_out[i].because;
	return NULL;
}

static void scopes(void **state)
{
	const struct rule *rules[] = {
		RULE("host", RULE_PER_HOST, fire), RULE("sender", RULE_PER_SENDER, fire),
		RULE("receiver", RULE_PER_RECEIVER, fire), RULE("exam", RULE_PER_EXAM, fire),
	};
	struct exam *e = build_two_hosts();
	struct diagnosis *d;

	(void)state;
	build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 5e9);
	d = run_rules(e, rules, 4, false);
	assert_int_equal(d->nfindings, 5);
	assert_int_equal(found(d, "host")->proof, PROOF_STATIC);
	assert_false(found(d, "host")->has_direction);
	assert_int_equal(found(d, "sender")->side, SIDE_LOCAL);
	assert_int_equal(found(d, "receiver")->side, SIDE_PEER);
	assert_int_equal(found(d, "receiver")->direction, RUN_FORWARD);
	assert_int_equal(found(d, "receiver")->proof, PROOF_CAUSAL);
	assert_int_equal(found(d, "exam")->side, SIDE_BOTH);
	assert_string_equal(found(d, "exam")->why, "why");
	diagnosis_free(d);
	/* `check` has no traffic. */
	d = run_rules(e, rules, 4, true);
	assert_int_equal(d->nfindings, 2);
	assert_non_null(found(d, "host"));
	diagnosis_free(d);
	exam_free(e);
	e = build_one_host();
	d = run_rules(e, rules, 1, true);
	assert_int_equal(d->nfindings, 1);
	diagnosis_free(d);
	exam_free(e);
}

static void fire_link(const struct rule_input *in, struct rule_output *out)
{
	struct finding *f = rule_fire(out);

	assert_ptr_equal(exam_egress(in->exam, in->side), in->link);
	assert_ptr_equal(exam_port(in->exam, in->side), in->port);
	f->title = f->subject = in->port->name.v;
}

/* `check` has no route: every link that was examined has its turn, software last. */
static void links_without_a_route(void **state)
{
	const struct rule *rules[] = { RULE("link", RULE_PER_HOST, fire_link) };
	struct exam *e = build_one_host();
	struct facts *f = (struct facts *)e->facts[SIDE_LOCAL];
	struct link_facts links[5];
	struct diagnosis *d;

	(void)state;
	f->route.ifindex = nd_u64_unknown(ND_NOT_APPLICABLE);
	for (size_t i = 0; i < ARRAY_SIZE(links); i++) {
		links[i] = f->links[0];
		links[i].ifindex = nd_u64(10 + i);
	}
	/* A VLAN stands on a port, of which the same is to be said. */
	links[0].name = nd_str("eth0.5");
	links[0].kind = nd_str("vlan");
	links[0].lower_ifindex = links[2].ifindex;
	links[1].name = nd_str("veth0");
	links[1].kind = nd_str("veth");
	links[2].name = nd_str("eth0");
	links[3].name = nd_str("eth1");
	links[4].name = nd_str("eth2");
	links[4].speed_mbps = nd_u64_unknown(ND_UNREAD);	/* nobody asked for it */
	f->links = links;
	f->nlinks = ARRAY_SIZE(links);
	d = run_rules(e, rules, 1, true);
	assert_int_equal(d->nfindings, 3);
	assert_string_equal(d->findings[0].subject, "eth0");
	assert_string_equal(d->findings[1].subject, "eth1");
	assert_string_equal(d->findings[2].subject, "veth0");
	diagnosis_free(d);
	exam_free(e);
}

static void clear_and_missing(void **state)
{
	const struct rule *rules[] = {
		RULE("clear", RULE_PER_SENDER, clear), RULE("same", RULE_PER_SENDER, clear_same),
		RULE("missing", RULE_PER_SENDER, missing), RULE("silent", RULE_PER_EXAM, silent),
		RULE("nothing", RULE_PER_HOST, not_applicable),
	};
	struct exam *e = build_two_hosts();
	struct diagnosis *d;

	(void)state;
	build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 9.4e9);
	build_run(e, RUN_REVERSE, RUN_ALL_STREAMS, 6e9);
	d = run_rules(e, rules, 5, false);
	assert_int_equal(d->nfindings, 0);
	assert_string_equal(ruled_out(d, "clear"),
			    "local, forward: nothing at 9; peer, reverse: nothing at 6");
	assert_string_equal(ruled_out(d, "same"), "fine");
	assert_null(ruled_out(d, "missing"));
	assert_null(ruled_out(d, "nothing"));
	/* Both directions lack the same fact: one row.  A rule without an answer is not silence. */
	assert_int_equal(d->nunseen, 2);
	assert_string_equal(d->unseen[0].missing, "links[eth0].rx_ring (not-permitted)");
	assert_string_equal(d->unseen[0].how, "run netdoctor as root there");
	assert_string_equal(d->unseen[1].rule->id, "silent");
	diagnosis_free(d);
	exam_free(e);
}

static void unread(const struct rule_input *in, struct rule_output *out)
{
	(void)in;
	rule_missing(out, "runs[1].peer.cores", ND_UNREAD, NULL);
}

/* A peer that was lost half-way runs netdoctor already. */
static void a_lost_session_is_no_missing_netdoctor(void **state)
{
	const struct rule *rules[] = { RULE("unread", RULE_PER_SENDER, unread) };
	struct exam *e = build_two_hosts();
	struct run *r = build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 9.4e9);
	struct diagnosis *d;
	const struct ceiling *c;

	(void)state;
	build_unseen_end(r, SIDE_PEER);
	d = run_rules(e, rules, 1, false);
	assert_string_equal(d->unseen[0].how, "run netdoctor on that machine, with traffic");
	c = ladder_find(&d->ladder, RUN_FORWARD, CEILING_CPU, SIDE_PEER);
	assert_string_equal(c->why_unknown, "that host was not watched: run netdoctor there");
	diagnosis_free(d);
	e->problem = nd_str("peer: session lost: closed by the other end");
	d = run_rules(e, rules, 1, false);
	assert_string_equal(d->unseen[0].how, EXAM_BROKE_OFF);
	c = ladder_find(&d->ladder, RUN_FORWARD, CEILING_CPU, SIDE_PEER);
	assert_string_equal(c->why_unknown, "that host was not watched: " EXAM_BROKE_OFF);
	diagnosis_free(d);
	exam_free(e);
}

static void a_limit_hides_what_waits_for_it(void **state)
{
	const struct rule *rules[] = {
		RULE("cpu-app-bound", RULE_PER_SENDER, fire),
		RULE("qdisc-rate-limit", RULE_PER_SENDER, fire_shaper),
		RULE("tcp-sndbuf-limit", RULE_PER_SENDER, fire),
	};
	struct exam *e = build_two_hosts();
	struct diagnosis *d;

	(void)state;
	build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 1e9);
	d = run_rules(e, rules, 3, false);
	assert_int_equal(d->nfindings, 1);
	assert_string_equal(d->findings[0].rule->id, "qdisc-rate-limit");
	assert_int_equal(d->findings[0].nalso, 0);
	assert_string_equal(ruled_out(d, "cpu-app-bound"),
			    "qdisc-rate-limit explains the rate forward");
	assert_non_null(ruled_out(d, "tcp-sndbuf-limit"));
	diagnosis_free(d);
	exam_free(e);
}

static void the_root_of_three_offloads_is_named(void **state)
{
	const struct rule *rules[] = {
		RULE("offload-tso-off", RULE_PER_SENDER, fire),
		RULE("offload-sg-off", RULE_PER_SENDER, fire),
		RULE("offload-tx-csum-off", RULE_PER_SENDER, fire),
		RULE("cpu-app-bound", RULE_PER_SENDER, fire),
	};
	struct exam *e = build_two_hosts();
	const struct finding *f;
	struct diagnosis *d;

	(void)state;
	build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 1e9);
	d = run_rules(e, rules, 4, false);
	assert_int_equal(d->nfindings, 1);
	f = &d->findings[0];
	assert_string_equal(f->rule->id, "offload-tx-csum-off");
	assert_int_equal(f->nalso, 3);
	assert_string_equal(f->also[0], "offload-sg-off");
	assert_string_equal(f->also[1], "offload-tso-off");
	assert_string_equal(f->also[2], "cpu-app-bound");
	diagnosis_free(d);
	exam_free(e);
}

static void other_directions_and_sides_stand(void **state)
{
	const struct rule *rules[] = {
		RULE("offload-tx-csum-off", RULE_PER_SENDER, fire),
		RULE("offload-tso-off", RULE_PER_SENDER, fire),
		RULE("irq-stacked-one-cpu", RULE_PER_RECEIVER, fire),
		RULE("rss-queue-imbalance", RULE_PER_SENDER, fire),
	};
	struct exam *e = build_two_hosts();
	struct diagnosis *d;

	(void)state;
	build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 1e9);
	build_run(e, RUN_REVERSE, RUN_ALL_STREAMS, 1e9);
	d = run_rules(e, rules, 4, false);
	/* Checksums once for each direction; the imbalance is on the other side each time. */
	assert_int_equal(d->nfindings, 6);
	assert_null(found(d, "offload-tso-off"));
	assert_non_null(found(d, "rss-queue-imbalance"));
	diagnosis_free(d);
	exam_free(e);
}

static void advice_folds_into_what_was_seen(void **state)
{
	const struct rule *rules[] = {
		RULE("ring-x", RULE_PER_HOST, fire_advice_on_cpu),
		RULE("numa-y", RULE_PER_RECEIVER, fire),
	};
	struct exam *e = build_two_hosts();
	struct diagnosis *d;
	struct run *r;

	(void)state;
	r = build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 5e9);
	fixture_busy(r, 0.9);
	d = run_rules(e, rules, 2, false);
	/* The peer's advice is about the same CPUs; this host's stands by itself. */
	assert_int_equal(d->nfindings, 2);
	assert_string_equal(d->findings[0].rule->id, "numa-y");
	assert_int_equal(d->findings[0].nalso, 1);
	assert_string_equal(d->findings[0].also[0], "ring-x");
	assert_int_equal(d->findings[1].side, SIDE_LOCAL);
	diagnosis_free(d);
	exam_free(e);
}

static void advice_about_idle_resources_is_dropped(void **state)
{
	const struct rule *rules[] = { RULE("ring-x", RULE_PER_HOST, fire_advice_on_cpu) };
	struct exam *e = build_two_hosts();
	struct diagnosis *d;

	(void)state;
	/* Cores 20 % busy. */
	build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 5e9);
	d = run_rules(e, rules, 1, false);
	assert_int_equal(d->nfindings, 0);
	assert_non_null(strstr(ruled_out(d, "ring-x"), "of the cpu limit was used"));
	diagnosis_free(d);
	exam_free(e);
	/* Without traffic nobody knows: it stays. */
	e = build_two_hosts();
	d = run_rules(e, rules, 1, true);
	assert_int_equal(d->nfindings, 2);
	diagnosis_free(d);
	exam_free(e);
}

static void two_fixes_never_fight(void **state)
{
	const struct rule *rules[] = {
		RULE("cc-loss-bound", RULE_PER_SENDER, fire),
		RULE("cc-bbr-cpu-cost", RULE_PER_SENDER, fire_shaper),
	};
	struct exam *e = build_two_hosts();
	struct diagnosis *d;

	(void)state;
	build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 1e9);
	d = run_rules(e, rules, 2, false);
	assert_int_equal(d->nfindings, 1);
	assert_string_equal(d->findings[0].rule->id, "cc-bbr-cpu-cost");
	assert_int_equal(d->findings[0].rank, 1);
	assert_string_equal(ruled_out(d, "cc-loss-bound"),
			    "its fix works against that of cc-bbr-cpu-cost");
	diagnosis_free(d);
	exam_free(e);
}

static void texts_are_kept_and_bounded(void **state)
{
	struct rule_output out = { .mem = arena_new(0) };
	struct finding f = { 0 };
	int i;

	(void)state;
	assert_string_equal(rule_shell(&out, "eth0; rm -rf /"), "'eth0; rm -rf /'");
	assert_string_equal(rule_shell(&out, "eth0"), "eth0");
	for (i = 0; i < 100; i++) {
		finding_number(&out, &f, "fact", i, UNIT_COUNT, NULL, "source");
		finding_word(&out, &f, "fact", NULL, NULL, "source");
		finding_command(&out, &f, "echo %d", i);
		finding_persist(&out, &f, "echo %d", i);
		finding_undo(&out, &f, "echo %d", i);
	}
	assert_int_equal(f.nevidence, FINDING_MAX_EVIDENCE);
	assert_int_equal(f.ncommands, FINDING_MAX_COMMANDS);
	assert_string_equal(f.commands[5], "echo 5");
	assert_string_equal(f.undo[0], "echo 0");
	assert_string_equal(f.evidence[1].text, "");
	assert_false(out.failed);
	arena_free(out.mem);
}

static void running_out_of_memory_is_an_error_not_a_crash(void **state)
{
	const struct rule *rules[] = {
		RULE("offload-tso-off", RULE_PER_SENDER, fire),
		RULE("clear", RULE_PER_SENDER, clear), RULE("missing", RULE_PER_SENDER, missing),
	};
	struct exam *e = build_two_hosts();
	struct ladder l = { 0 };
	size_t limit;

	(void)state;
	build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 1e9);
	for (limit = 1; limit < 4096; limit += 37) {
		struct rule_output out = { .mem = arena_new(limit) };

		assert_non_null(out.mem);
		if (engine_evaluate(rules, 3, e, &l, false, &out) == 0)
			assert_false(out.failed);
		else
			assert_true(out.failed);
		arena_free(out.mem);
	}
	exam_free(e);
}

static void table_is_sound(void **state)
{
	size_t i, j;

	(void)state;
	assert_true(rules_count > 0);
	for (i = 0; i < rules_count; i++) {
		const struct rule *r = rules_table[i];

		assert_ptr_equal(rule_by_id(r->id), r);
		assert_true(r->title && r->reads && r->fires_when && r->why && r->fix);
		assert_true(r->not_when && r->references && r->evaluate);
		for (j = 0; j < i; j++)
			assert_string_not_equal(rules_table[j]->id, r->id);
	}
	assert_null(rule_by_id("no-such-rule"));
	assert_null(rule_by_id(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scopes),
		cmocka_unit_test(links_without_a_route),
		cmocka_unit_test(clear_and_missing),
		cmocka_unit_test(a_lost_session_is_no_missing_netdoctor),
		cmocka_unit_test(a_limit_hides_what_waits_for_it),
		cmocka_unit_test(the_root_of_three_offloads_is_named),
		cmocka_unit_test(other_directions_and_sides_stand),
		cmocka_unit_test(advice_folds_into_what_was_seen),
		cmocka_unit_test(advice_about_idle_resources_is_dropped),
		cmocka_unit_test(two_fixes_never_fight),
		cmocka_unit_test(texts_are_kept_and_bounded),
		cmocka_unit_test(running_out_of_memory_is_an_error_not_a_crash),
		cmocka_unit_test(table_is_sound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
