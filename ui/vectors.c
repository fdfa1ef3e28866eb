/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/vectors.h"

#include <ctype.h>
#include <string.h>

enum { MAX_QUEUE = 65536 };

bool vector_queue(const char *name, unsigned int *queue)
{
	size_t end = strcspn(name, "@"), from = end;
	unsigned int n = 0;

	while (from && isdigit((unsigned char)name[from - 1]))
		from--;
	/* "eth0" is the name of a card with one vector, not of a queue 0. */
	if (from == end || !from || isalpha((unsigned char)name[0]) == 0 ||
	    (isalpha((unsigned char)name[from - 1]) && !strchr(name, '@')))
		return false;
	for (; from < end; from++) {
		n = n * 10 + (unsigned int)(name[from] - '0');
		if (n >= MAX_QUEUE)
			return false;
	}
	*queue = n;
	return true;
}

bool vector_cpu(const struct irq_facts *irq, unsigned int *cpu)
{
	return nd_cpus_only(&irq->effective, cpu) || nd_cpus_only(&irq->affinity, cpu);
}

void vector_name(const struct facts *f, const struct irq_facts *irq, bool brief,
		 struct text *out)
{
	const struct link_facts *l = irq->ifindex.k == ND_KNOWN ? facts_link(f, irq->ifindex.v)
								: NULL;
	const char *name = irq->name.k == ND_KNOWN ? irq->name.v : NULL;
	unsigned int queue;

	if (!name)
		text_printf(out, "irq %s", nd_known_word(irq->name.k));
	else if (!l || l->name.k != ND_KNOWN || !vector_queue(name, &queue))
		text_add(out, name);
	else if (brief)
		text_printf(out, "%s q%u", l->name.v, queue);
	else
		text_printf(out, "%s queue %u", l->name.v, queue);
}

static bool ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n >= m && !strcmp(s + n - m, end);
}

bool queue_packets_name(const char *name, bool *receive, unsigned int *queue)
{
	static const char *const other[] = {
		"byte", "size", "_to_", "prio", "vport", "drop", "err", "xdp", "csum", "lro",
		"gro", "tso", "mcast", "bcast", "multicast", "broadcast", "discard",
		"xsk", "cqe", "compress", "tls", "inner",
	};
	const char *rx = strstr(name, "rx"), *tx = strstr(name, "tx");
	const char *digits = strpbrk(name, "0123456789");

	if ((!rx && !tx) || !digits)
		return false;
	if (!ends_with(name, "packets") && !ends_with(name, "pkts") && !ends_with(name, "_cnt"))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(other); i++)
		if (strstr(name, other[i]))
			return false;
	size_t n = strspn(digits, "0123456789");
	if (n > 5 || strpbrk(digits + n, "0123456789"))
		return false;
	*queue = 0;
	for (size_t i = 0; i < n; i++)
		*queue = *queue * 10 + (unsigned int)(digits[i] - '0');
	*receive = rx && (!tx || rx < tx);
	return *queue < MAX_QUEUE;
}
