/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What iperf3's users type out of habit and we call otherwise, or have no use for. */
#ifndef ND_CLI_FOREIGN_H
#define ND_CLI_FOREIGN_H

struct foreign_option {
	char letter;			/* 0: none */
	const char *name;		/* long name without dashes */
	const char *same;		/* our name of it: taken as that */
	const char *instead;		/* what to do: said, and nothing is done */
	/* Neither: it is how we are anyhow, and taken without an argument. */
};

/* They end with a row without a name. */
extern const struct foreign_option foreign_of_test[], foreign_of_serve[];

/* NULL: none of them.  table may be NULL; word: "-x", "--name" or "--name=value". */
const struct foreign_option *foreign_find(const struct foreign_option *table, const char *word);

#endif
