/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/core/error.h"

#include <stdarg.h>
#include <stdio.h>

#include "src/core/text.h"

int error_set(struct error *e, int err, const char *fmt, ...)
{
	va_list ap;

	if (e) {
		va_start(ap, fmt);
		if (vsnprintf(e->text, sizeof(e->text), fmt, ap) < 0)
			e->text[0] = '\0';
		va_end(ap);
		/* Also mends a character that the truncation cut in half. */
		text_make_printable(e->text);
	}
	return err < 0 ? err : -err;
}
