/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/peer/protocol.h"

#include <errno.h>
#include <string.h>

static const struct {
	const char *code;
	int err;
} errors[] = {
	{ .code = PROTOCOL_REFUSED, .err = EPERM },
	{ .code = PROTOCOL_BUSY, .err = EBUSY },
	{ .code = PROTOCOL_VERSION, .err = EOPNOTSUPP },
	{ .code = PROTOCOL_STOPPING, .err = ESHUTDOWN },
	{ .code = PROTOCOL_LATE, .err = ETIME },
	{ .code = PROTOCOL_FAILED, .err = EREMOTEIO },
};

int protocol_errno(const char *code)
{
	for (size_t i = 0; code && i < sizeof(errors) / sizeof(errors[0]); i++)
		if (strcmp(errors[i].code, code) == 0)
			return errors[i].err;
	return EREMOTEIO;
}
