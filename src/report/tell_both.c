/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/report/tell.h"

#include "src/core/units.h"

enum { VALUE_CAP = 48 };

static void heading(struct sheet *p, const struct both_ways *b)
{
	struct text line = TEXT_INIT;
	char forward[VALUE_CAP], reverse[VALUE_CAP];

	format_rate(b->of[RUN_FORWARD].measured_bps, forward, sizeof(forward));
	format_rate(b->of[RUN_REVERSE].measured_bps, reverse, sizeof(reverse));
	text_printf(&line, "Both at once: %s forward, %s reverse", forward, reverse);
	p->kind->heading(p, line.data ? line.data : "");
	text_free(&line);
}

/* "5.10 Gbit/s, 54 % of the 9.41 Gbit/s it reaches alone: lower; 12 retransmits" */
static void direction(struct sheet *p, const struct both_ways *b, enum run_direction d)
{
	struct nd_u64 again = END_FLOW_SUM(&b->run->ends[run_sender(d)], retransmits);
	struct text line = TEXT_INIT;
	char value[VALUE_CAP];

	format_rate(b->of[d].measured_bps, value, sizeof(value));
	text_add(&line, value);
	if (b->of[d].share.k == ND_KNOWN) {
		format_quantity(b->of[d].share.v, UNIT_SHARE, value, sizeof(value));
		text_printf(&line, ", %s of the ", value);
		format_rate(b->of[d].alone_bps.v, value, sizeof(value));
		text_printf(&line, "%s it reaches alone%s", value,
			    b->of[d].lower ? ": lower" : "");
	}
	if (again.k == ND_KNOWN)
		text_printf(&line, "; %llu retransmit%s", (unsigned long long)again.v,
			    again.v == 1 ? "" : "s");
	p->kind->field(p, run_direction_word(d), line.data);
	text_free(&line);
}

static void hot_core(struct sheet *p, const struct run *r, enum side s)
{
	struct text label = TEXT_INIT, words = TEXT_INIT;

	text_printf(&label, "core, %s", side_word(s));
	add_hot_core(&words, &r->ends[s]);
	p->kind->field(p, label.data ? label.data : "", words.data);
	text_free(&label);
	text_free(&words);
}

void tell_both(struct sheet *p, const struct exam *e, const struct diagnosis *d)
{
	const struct both_ways *b = &d->both;
	struct text line = TEXT_INIT;

	if (!b->run)
		return;
	heading(p, b);
	p->kind->open(p, BLOCK_RUN);
	direction(p, b, RUN_FORWARD);
	direction(p, b, RUN_REVERSE);
	/* One machine has the same cores at both ends. */
	hot_core(p, b->run, SIDE_LOCAL);
	if (!nd_is_true(e->path.same_machine))
		hot_core(p, b->run, SIDE_PEER);
	if (add_round_trips(e, b->run, &line))
		p->kind->field(p, "round trip", line.data);
	p->kind->close(p);
	p->kind->paragraph(p, b->text);
	text_free(&line);
}
