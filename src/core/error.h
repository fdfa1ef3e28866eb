/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One-line errors: what failed, where, and what to do about it.
 *
 * Functions that can fail for a reason a user must read take a struct error
 * and return -errno.  They fill the text and never print; src/cli prints.
 */
#ifndef ND_CORE_ERROR_H
#define ND_CORE_ERROR_H

struct error { char text[400]; };

/* Formats into e (which may be NULL), makes it one printable line, returns -err. */
int error_set(struct error *e, int err, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#endif
