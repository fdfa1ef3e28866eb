/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The words of our enums by name and number, for the schema. */
#ifndef ND_REPORT_SCHEMA_WORDS_H
#define ND_REPORT_SCHEMA_WORDS_H

/* Word i of the set "side", "purpose", "risk" ...; NULL past the last or for an unknown set. */
const char *schema_word(const char *set, unsigned int i);

#endif
