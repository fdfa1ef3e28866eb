/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The live source: ethtool's ioctl, reading commands only. */
#include "src/core/source_live.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* Commands that only read.  All others, and those unknown here, are refused. */
static const uint32_t reading_commands[] = {
	ETHTOOL_GSET, ETHTOOL_GDRVINFO, ETHTOOL_GMSGLVL, ETHTOOL_GLINK, ETHTOOL_GCOALESCE,
	ETHTOOL_GRINGPARAM, ETHTOOL_GPAUSEPARAM, ETHTOOL_GRXCSUM, ETHTOOL_GTXCSUM, ETHTOOL_GSG,
	ETHTOOL_GSTRINGS, ETHTOOL_GSTATS, ETHTOOL_GTSO, ETHTOOL_GPERMADDR, ETHTOOL_GUFO,
	ETHTOOL_GGSO, ETHTOOL_GFLAGS, ETHTOOL_GPFLAGS, ETHTOOL_GRXFH, ETHTOOL_GGRO,
	ETHTOOL_GRXRINGS, ETHTOOL_GRXCLSRLCNT, ETHTOOL_GRXCLSRULE, ETHTOOL_GRXCLSRLALL,
	ETHTOOL_GSSET_INFO, ETHTOOL_GRXFHINDIR, ETHTOOL_GFEATURES, ETHTOOL_GCHANNELS,
	ETHTOOL_GET_TS_INFO, ETHTOOL_GMODULEINFO, ETHTOOL_GEEE, ETHTOOL_GRSSH, ETHTOOL_GTUNABLE,
	ETHTOOL_GPHYSTATS, ETHTOOL_GLINKSETTINGS, ETHTOOL_PHY_GTUNABLE, ETHTOOL_GFECPARAM,
};

static bool only_reads(uint32_t command)
{
	for (size_t i = 0; i < ARRAY_SIZE(reading_commands); i++)
		if (reading_commands[i] == command)
			return true;
	return false;
}

int live_ethtool(int *fd, const char *ifname, void *cmd, size_t len)
{
	enum { SLACK_BYTES = 65536 };
	struct ifreq request = { 0 };
	uint32_t command;
	void *copy;
	int rc = 0;

	memcpy(&command, cmd, sizeof(command));
	if (!only_reads(command))
		return -EPERM;
	if (len > SIZE_MAX / 4)
		return -EINVAL;
	if (*fd < 0)
		*fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (*fd < 0)
		return -errno;
	/*
	 * ETHTOOL_GSTATS and GSTRINGS write as many entries as the driver has now, not as
	 * many as were asked for: when queues are added in between, that is more than cmd holds.
	 */
	copy = calloc(1, len * 2 + SLACK_BYTES);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, cmd, len);
	memcpy(request.ifr_name, ifname, strnlen(ifname, IFNAMSIZ - 1));
	request.ifr_data = copy;
	if (ioctl(*fd, SIOCETHTOOL, &request))
		rc = -errno;
	else
		memcpy(cmd, copy, len);
	free(copy);
	return rc;
}
