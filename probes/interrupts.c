/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/interrupts.h"

#include <errno.h>
#include <string.h>

#include "src/core/text.h"

int interrupts_begin(char *text, struct interrupts *out)
{
	char *heading, *word;

	out->cursor = text;
	out->ncpus = 0;
	heading = next_line(&out->cursor);
	while (heading && (word = next_word(&heading))) {
		uint64_t cpu;

		if (strncmp(word, "CPU", 3) || parse_u64(word + 3, &cpu))
			return -EBADMSG;
		if (cpu >= ND_MAX_CPUS || out->ncpus == ND_MAX_CPUS)
			return -E2BIG;
		out->cpus[out->ncpus++] = (uint16_t)cpu;
	}
	return out->ncpus ? 0 : -EBADMSG;
}

bool interrupts_next(struct interrupts *t, struct interrupt_row *row)
{
	char *line;

	while ((line = next_line(&t->cursor))) {
		char *colon;

		line += strspn(line, " ");
		colon = strchr(line, ':');
		if (!colon || line[0] < '0' || line[0] > '9')
			continue;
		*colon = 0;
		if (parse_u64(line, &row->irq))
			continue;
		row->rest = colon + 1;
		return true;
	}
	return false;
}

int interrupt_row_split(const struct interrupts *t, struct interrupt_row *row,
			uint64_t *counts, const char **name)
{
	char *cursor = row->rest;
	size_t len;

	for (size_t i = 0; i < t->ncpus; i++) {
		char *word = next_word(&cursor);

		if (!word || parse_u64(word, &counts[i]))
			return -EBADMSG;
	}
	*name = "";
	if (!cursor)
		return 0;
	/*
	 * "PCI-MSI 524288-edge      eth0-TxRx-0": chip and trigger vary by architecture
	 * and kernel, but at least two spaces come before the names of the handlers.
	 * Without a handler the line ends in the spaces that pad the trigger.
	 */
	len = strlen(cursor);
	if (!len || cursor[len - 1] == ' ')
		return 0;
	for (char *gap = cursor; (gap = strstr(gap, "  ")); gap += strspn(gap, " "))
		*name = gap + strspn(gap, " ");
	return 0;
}
