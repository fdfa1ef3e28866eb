/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From a flow to the queue, the interrupt and the CPU that take in its packets. */
#include "src/exam/exam.h"

static const struct queue_facts *queue_of_napi(const struct facts *f, uint64_t napi,
					       enum nd_known *why)
{
	for (size_t i = 0; i < f->nqueues; i++) {
		const struct queue_facts *q = &f->queues[i];

		if (!nd_str_is(q->direction, "rx"))
			continue;
		if (nd_u64_is(q->napi, napi))
			return q;
		/* What the queues say of themselves, when nothing better is known. */
		*why = q->napi.k == ND_KNOWN ? ND_ABSENT : q->napi.k;
	}
	return NULL;
}

static const struct napi_facts *napi_row(const struct facts *f, uint64_t napi)
{
	for (size_t i = 0; i < f->nnapis; i++)
		if (nd_u64_is(f->napis[i].napi, napi))
			return &f->napis[i];
	return NULL;
}

/* The one CPU that an interrupt goes to. */
static struct nd_u64 cpu_of_irq(const struct facts *f, uint64_t number)
{
	for (size_t i = 0; i < f->nirqs; i++) {
		const struct nd_cpus *to = &f->irqs[i].effective;
		unsigned int cpu;

		if (!nd_u64_is(f->irqs[i].irq, number))
			continue;
		if (to->k != ND_KNOWN)
			return nd_u64_unknown(to->k);
		return nd_cpus_only(to, &cpu) ? nd_u64(cpu) : nd_u64_unknown(ND_NOT_APPLICABLE);
	}
	return nd_u64_unknown(ND_ABSENT);
}

void flow_find_path(const struct facts *f, struct flow_summary *flow)
{
	enum nd_known why = flow->incoming_napi.k;

	flow->rx_queue = flow->irq = flow->irq_cpu =
		nd_u64_unknown(why == ND_KNOWN ? ND_UNREAD : why);
	if (!f || why != ND_KNOWN)
		return;
	why = ND_ABSENT;
	const struct queue_facts *queue = queue_of_napi(f, flow->incoming_napi.v, &why);
	const struct napi_facts *napi = napi_row(f, flow->incoming_napi.v);
	flow->rx_queue = queue ? queue->index : nd_u64_unknown(why);
	flow->irq = napi ? napi->irq : nd_u64_unknown(why);
	flow->irq_cpu = flow->irq.k == ND_KNOWN ? cpu_of_irq(f, flow->irq.v)
						: nd_u64_unknown(flow->irq.k);
}
