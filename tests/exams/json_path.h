/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Changing a JSON document by path, for the cases of tests/exams.
 *
 *	hosts/peer/links[name=eth0]/rx_ring
 *	runs[id=1-forward-all-streams]/flows[side=peer,flow=0]/window_fill
 *	runs[purpose=all-streams,direction=forward]/cpu/peer/cores[*]/busy
 *	hosts/local/qdiscs[+]
 *
 * [key=value,...] picks the rows whose members have these values ([*]: all rows), [+] appends
 * one.  A selector that picks nothing, or a member on the way that is not there, is an error.
 */
#ifndef ND_TESTS_EXAMS_JSON_PATH_H
#define ND_TESTS_EXAMS_JSON_PATH_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

/* Sets the last member to a copy of value; null deletes it (or the rows picked last). */
int json_path_set(cJSON *doc, const char *path, const cJSON *value, char *why, size_t cap);
/* Number of members or rows the path leads to. */
size_t json_path_count(const cJSON *doc, const char *path);

#endif
