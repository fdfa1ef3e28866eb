/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "rules/queues.h"
#include "rules/thresholds.h"

/* The vectors of a port that worked on one CPU over the window. */
#define MAX_VECTORS 64
struct stack {
	const struct core_load *core;
	const struct irq_facts *vectors[MAX_VECTORS];
	size_t n, busiest;		/* index into vectors */
	double busiest_count, share;	/* of all interrupts of the port */
};

static const struct irq_facts *irq_of(const struct facts *f, const struct link_facts *port,
				      struct nd_u64 irq)
{
	size_t i;

	for (i = 0; irq.k == ND_KNOWN && i < f->nirqs; i++)
		if (nd_u64_is(f->irqs[i].irq, irq.v) && f->irqs[i].ifindex.k == ND_KNOWN &&
		    nd_u64_is(port->ifindex, f->irqs[i].ifindex.v))
			return &f->irqs[i];
	return NULL;
}

/* Vectors that only complete transmits say nothing about where packets are received. */
static bool only_transmits(const struct irq_facts *v)
{
	const char *name = v->name.k == ND_KNOWN ? v->name.v : "";

	return (strcasestr(name, "tx") || strcasestr(name, "output")) && !strcasestr(name, "rx");
}

static double all_interrupts(const struct traffic_end *t, const struct link_facts *port)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < t->end->window->nirqs; i++) {
		const struct irq_sample *s = &t->end->window->irqs[i];

		if (s->count.k == ND_KNOWN && irq_of(t->facts, port, s->irq))
			sum += (double)s->count.v;
	}
	return sum;
}

static void stack_on(const struct traffic_end *t, const struct link_facts *port,
		     const struct core_load *core, double all, struct stack *out)
{
	double on_core = 0;
	size_t i;

	*out = (struct stack){ .core = core };
	for (i = 0; i < t->end->window->nirqs && out->n < MAX_VECTORS; i++) {
		const struct irq_sample *s = &t->end->window->irqs[i];
		const struct irq_facts *v = irq_of(t->facts, port, s->irq);

		if (!v || s->count.k != ND_KNOWN || s->cpu.k != ND_KNOWN ||
		    !nd_u64_is(core->cpu, s->cpu.v) || (!t->sends && only_transmits(v)))
			continue;
		on_core += (double)s->count.v;
		if ((double)s->count.v < IRQ_ACTIVE_SHARE * all)
			continue;
		if ((double)s->count.v > out->busiest_count) {
			out->busiest_count = (double)s->count.v;
			out->busiest = out->n;
		}
		out->vectors[out->n++] = v;
	}
	out->share = all > 0 ? on_core / all : 0;
}

/* A core that is full, with two or more working vectors; false: none. */
static bool find_stack(const struct traffic_end *t, const struct link_facts *port,
		       struct stack *found)
{
	double all = all_interrupts(t, port);
	size_t i;

	*found = (struct stack){ 0 };
	for (i = 0; all > 0 && i < t->end->ncores; i++) {
		const struct core_load *c = &t->end->cores[i];
		struct stack s;

		if (c->busy.k != ND_KNOWN || c->busy.v < IRQ_STACKED_CORE_BUSY ||
		    softirq_share(c) < IRQ_STACKED_SOFTIRQ)
			continue;
		stack_on(t, port, c, all, &s);
		if (s.n >= IRQ_STACKED_VECTORS && s.share > found->share)
			*found = s;
	}
	return found->n > 0;
}

/* CPUs near the NIC with room for a vector; their numbers, and how many. */
static size_t idle_cpus(const struct traffic_end *t, const struct link_facts *port,
			uint64_t out[MAX_VECTORS])
{
	size_t i, n = 0;

	for (i = 0; i < t->end->ncores && n < MAX_VECTORS; i++) {
		const struct core_load *c = &t->end->cores[i];

		if (c->busy.k == ND_KNOWN && c->busy.v < IRQ_IDLE_CORE && c->cpu.k == ND_KNOWN &&
		    cpu_is_local(t->facts, port, c->cpu.v))
			out[n++] = c->cpu.v;
	}
	return n;
}

static void add_commands(struct rule_output *out, struct finding *f, const struct stack *s,
			 const uint64_t *idle, size_t nidle)
{
	size_t i, moved = 0;

	/* The busiest stays where it is. */
	for (i = 0; i < s->n; i++) {
		const struct irq_facts *v = s->vectors[i];
		char now[256];

		if (i == s->busiest)
			continue;
		finding_command(out, f, "echo %llu >/proc/irq/%llu/smp_affinity_list",
				(unsigned long long)idle[moved++ % nidle],
				(unsigned long long)v->irq.v);
		if (v->affinity.k != ND_KNOWN)
			continue;
		nd_cpus_format_list(&v->affinity, now, sizeof(now));
		finding_undo(out, f, "echo %s >/proc/irq/%llu/smp_affinity_list", now,
			     (unsigned long long)v->irq.v);
	}
	/* Vectors' numbers change from boot to boot. */
	finding_persist(out, f, "systemctl enable --now irqbalance");
}

static void fire(struct rule_output *out, const struct traffic_end *t,
		 const struct link_facts *port, const struct stack *s, const uint64_t *idle,
		 size_t nidle)
{
	struct finding *f = machine_fire(out, t);
	unsigned long long cpu = (unsigned long long)s->core->cpu.v;
	const char *name = port->name.k == ND_KNOWN ? port->name.v : "the NIC";
	double low, high;

	f->subject = rule_text(out, "cpu %llu", cpu);
	f->severity = SEVERITY_LOW;	/* the gain raises it */
	f->risk = RISK_NONE;
	f->title = rule_text(out, "%zu interrupt vectors of %s of %s share cpu %llu, %.0f %% busy, "
			     "while %zu CPUs have room", s->n, name, end_words(t), cpu,
			     s->core->busy.v * 100, nidle);
	finding_number(out, f, end_fact(out, t, rule_text(out, "working vectors on cpu %llu", cpu)),
		       (double)s->n, UNIT_COUNT, rule_text(out, ">= %d", IRQ_STACKED_VECTORS),
		       "/proc/interrupts");
	finding_number(out, f, end_fact(out, t, rule_text(out, "interrupts on cpu %llu", cpu)),
		       s->share, UNIT_SHARE, NULL, "/proc/interrupts");
	finding_number(out, f, end_fact(out, t, rule_text(out, "cores[%llu].busy", cpu)),
		       s->core->busy.v, UNIT_SHARE, rule_text(out, ">= %g", IRQ_STACKED_CORE_BUSY),
		       "/proc/stat");
	finding_number(out, f, end_fact(out, t, rule_text(out, "cores[%llu].softirq", cpu)),
		       softirq_share(s->core), UNIT_SHARE,
		       rule_text(out, ">= %g", IRQ_STACKED_SOFTIRQ), "/proc/stat");
	finding_number(out, f, end_fact(out, t, "CPUs with room"), (double)nidle, UNIT_COUNT,
		       rule_text(out, "busy < %g", IRQ_IDLE_CORE), "/proc/stat");
	add_commands(out, f, s, idle, nidle);
	spread_rates(t, s->core, fmin(1, s->share), fmin((double)s->n, 1 + (double)nidle), &low,
		     &high);
	finding_lifts(f, CEILING_CPU, low, high);
}

static bool wire_is_full(const struct rule_input *in, const struct traffic_end *t)
{
	static const enum side sides[] = { SIDE_LOCAL, SIDE_PEER };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sides); i++) {
		const struct ceiling *c = ladder_find(in->ladder, t->direction, CEILING_WIRE,
						      sides[i]);

		if (c && c->known && t->measured_bps >= TARGET_MET * c->low_bps)
			return true;
	}
	return false;
}

static enum end_answer check(const struct rule_input *in, struct rule_output *out,
			     const struct traffic_end *t)
{
	const struct link_facts *port = exam_port(t->exam, t->side);
	const struct core_load *hot = end_hot_core(t->end);
	uint64_t idle[MAX_VECTORS];
	struct stack s;
	size_t nidle;

	if (port && port->kind.k == ND_KNOWN && !nd_str_is(port->kind, "physical"))
		return END_NOT_APPLICABLE;
	if (!hot)
		return end_missing(out, t, "cores", ND_UNREAD, NULL);
	/* Not the busiest of ours alone: a core full of interrupts need not run our threads. */
	if (!softirq_core(t->end))
		return end_missing(out, t, "cores.softirq", hot->softirq.k, NULL);
	if (hot->busy.v < IRQ_STACKED_CORE_BUSY &&
	    softirq_core(t->end)->busy.v < IRQ_STACKED_CORE_BUSY)
		return END_CLEAR;
	if (t->run->spec.streams < 2 || t->end->ncores < 2 || wire_is_full(in, t))
		return END_CLEAR;
	if (!port || !t->facts || !t->facts->nirqs) {
		rule_missing(out, rule_text(out, "%s.irqs", side_word(t->side)), ND_UNREAD, NULL);
		return END_MISSING;
	}
	if (!t->end->window || !t->end->window->nirqs)
		return end_missing(out, t, "counters.irqs", ND_UNREAD, NULL);
	if (!find_stack(t, port, &s))
		return END_CLEAR;
	nidle = idle_cpus(t, port, idle);
	if (!nidle)
		return END_CLEAR;
	fire(out, t, port, &s, idle, nidle);
	return END_FIRED;
}

static void evaluate(const struct rule_input *in, struct rule_output *out)
{
	ends_evaluate(in, out, check, true,
		      "no full CPU served several interrupt vectors, or no CPU had room");
}

const struct rule rule_irq_stacked_one_cpu = {
	.id = "irq-stacked-one-cpu",
	.title = "several interrupt vectors of the NIC share one full CPU while others are idle",
	.scope = RULE_PER_EXAM,
	.reads = "interrupts of each of the port's vectors on each CPU under traffic, their "
		 "affinities; busy and softirq shares of the cores, at both ends",
	.fires_when = "two or more vectors, each with >= 5 % of the port's interrupts, worked on a "
		      "CPU that is >= 85 % busy, >= 25 % in softirqs, while a CPU of the NIC's "
		      "node is < 50 % busy; two or more flows",
	.why = "Queues spread the work only if their interrupts go to different CPUs. On one CPU "
	       "they share what one CPU can do.",
	.fix = "Give each vector a CPU of its own on the NIC's NUMA node, or let irqbalance do it "
	       "(stop irqbalance where you pin by hand: it moves them back).",
	.not_when = "The machine has one CPU, or no CPU has room. Vectors that the kernel manages "
		    "itself refuse to be moved (Input/output error): then use fewer or more "
		    "queues instead.",
	.references = "Linux Documentation/core-api/irq/irq-affinity.rst\n"
		      "Linux Documentation/networking/scaling.rst",
	.evaluate = evaluate,
};
