/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Link modes, duplex and ports: the kernel's numbers and names as facts.
 */
#include "probes/ethtool.h"

#include <errno.h>
#include <string.h>

/*
 * Speed of each link mode bit.  Only the ioctl needs it, where bits come without
 * names; kernels old enough to need the ioctl know none beyond these.  Bits that
 * are no speed are 0 on purpose; bits from the end of the table on are unknown.
 */
#define MODE(name_, mbps_) [ETHTOOL_LINK_MODE_##name_##_BIT] = (mbps_)
static const uint32_t mode_mbps[] = {
	MODE(10baseT_Half, 10), MODE(10baseT_Full, 10),
	MODE(100baseT_Half, 100), MODE(100baseT_Full, 100),
	MODE(1000baseT_Half, 1000), MODE(1000baseT_Full, 1000),
	MODE(Autoneg, 0), MODE(TP, 0), MODE(AUI, 0), MODE(MII, 0), MODE(FIBRE, 0), MODE(BNC, 0),
	MODE(10000baseT_Full, 10000),
	MODE(Pause, 0), MODE(Asym_Pause, 0),
	MODE(2500baseX_Full, 2500),
	MODE(Backplane, 0),
	MODE(1000baseKX_Full, 1000),
	MODE(10000baseKX4_Full, 10000), MODE(10000baseKR_Full, 10000), MODE(10000baseR_FEC, 10000),
	MODE(20000baseMLD2_Full, 20000), MODE(20000baseKR2_Full, 20000),
	MODE(40000baseKR4_Full, 40000), MODE(40000baseCR4_Full, 40000),
	MODE(40000baseSR4_Full, 40000), MODE(40000baseLR4_Full, 40000),
	MODE(56000baseKR4_Full, 56000), MODE(56000baseCR4_Full, 56000),
	MODE(56000baseSR4_Full, 56000), MODE(56000baseLR4_Full, 56000),
	MODE(25000baseCR_Full, 25000), MODE(25000baseKR_Full, 25000),
	MODE(25000baseSR_Full, 25000),
	MODE(50000baseCR2_Full, 50000), MODE(50000baseKR2_Full, 50000),
	MODE(100000baseKR4_Full, 100000), MODE(100000baseSR4_Full, 100000),
	MODE(100000baseCR4_Full, 100000), MODE(100000baseLR4_ER4_Full, 100000),
	MODE(50000baseSR2_Full, 50000),
	MODE(1000baseX_Full, 1000),
	MODE(10000baseCR_Full, 10000), MODE(10000baseSR_Full, 10000),
	MODE(10000baseLR_Full, 10000), MODE(10000baseLRM_Full, 10000),
	MODE(10000baseER_Full, 10000),
	MODE(2500baseT_Full, 2500), MODE(5000baseT_Full, 5000),
	MODE(FEC_NONE, 0), MODE(FEC_RS, 0), MODE(FEC_BASER, 0),
	MODE(50000baseKR_Full, 50000), MODE(50000baseSR_Full, 50000),
	MODE(50000baseCR_Full, 50000), MODE(50000baseLR_ER_FR_Full, 50000),
	MODE(50000baseDR_Full, 50000),
	MODE(100000baseKR2_Full, 100000), MODE(100000baseSR2_Full, 100000),
	MODE(100000baseCR2_Full, 100000), MODE(100000baseLR2_ER2_FR2_Full, 100000),
	MODE(100000baseDR2_Full, 100000),
	MODE(200000baseKR4_Full, 200000), MODE(200000baseSR4_Full, 200000),
	MODE(200000baseLR4_ER4_FR4_Full, 200000), MODE(200000baseDR4_Full, 200000),
	MODE(200000baseCR4_Full, 200000),
	MODE(100baseT1_Full, 100), MODE(1000baseT1_Full, 1000),
	MODE(400000baseKR8_Full, 400000), MODE(400000baseSR8_Full, 400000),
	MODE(400000baseLR8_ER8_FR8_Full, 400000), MODE(400000baseDR8_Full, 400000),
	MODE(400000baseCR8_Full, 400000),
	MODE(FEC_LLRS, 0),
	MODE(100000baseKR_Full, 100000), MODE(100000baseSR_Full, 100000),
	MODE(100000baseLR_ER_FR_Full, 100000), MODE(100000baseCR_Full, 100000),
	MODE(100000baseDR_Full, 100000),
	MODE(200000baseKR2_Full, 200000), MODE(200000baseSR2_Full, 200000),
	MODE(200000baseLR2_ER2_FR2_Full, 200000), MODE(200000baseDR2_Full, 200000),
	MODE(200000baseCR2_Full, 200000),
	MODE(400000baseKR4_Full, 400000), MODE(400000baseSR4_Full, 400000),
	MODE(400000baseLR4_ER4_FR4_Full, 400000), MODE(400000baseDR4_Full, 400000),
	MODE(400000baseCR4_Full, 400000),
	MODE(100baseFX_Half, 100), MODE(100baseFX_Full, 100),
	MODE(10baseT1L_Full, 10),
};
#undef MODE

int link_mode_bit_mbps(unsigned int bit, uint64_t *mbps)
{
	if (bit >= ARRAY_SIZE(mode_mbps))
		return -ENOENT;
	*mbps = mode_mbps[bit];
	return 0;
}

/* "25000baseCR/Full": every mode that is a speed begins with it. */
uint64_t link_mode_name_mbps(const char *name)
{
	uint64_t mbps = 0;
	size_t digits = 0;

	/* Eight digits are 99 Tb/s: enough, and no overflow. */
	while (digits < 8 && name[digits] >= '0' && name[digits] <= '9')
		mbps = mbps * 10 + (uint64_t)(name[digits++] - '0');
	return digits && !strncmp(name + digits, "base", 4) ? mbps : 0;
}

struct nd_str duplex_word(uint8_t duplex)
{
	switch (duplex) {
	case DUPLEX_HALF:
		return nd_str("half");
	case DUPLEX_FULL:
		return nd_str("full");
	case DUPLEX_UNKNOWN:
		return nd_str_unknown(ND_NOT_SUPPORTED);
	default:
		return nd_str_unknown(ND_INVALID);
	}
}

struct nd_str port_word(uint8_t port)
{
	static const struct { uint8_t port; const char *word; } words[] = {
		{ PORT_TP, "tp" }, { PORT_AUI, "aui" }, { PORT_MII, "mii" },
		{ PORT_FIBRE, "fibre" }, { PORT_BNC, "bnc" }, { PORT_DA, "da" },
		{ PORT_NONE, "none" }, { PORT_OTHER, "other" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (words[i].port == port)
			return nd_str(words[i].word);
	}
	return nd_str_unknown(ND_INVALID);
}

struct nd_u64 link_speed_mbps(uint32_t speed)
{
	/* SPEED_UNKNOWN is -1, which older drivers squeeze into 16 bits. */
	if (!speed || speed == (uint32_t)SPEED_UNKNOWN || speed == UINT16_MAX)
		return nd_u64_unknown(ND_NOT_SUPPORTED);
	return nd_u64(speed);
}
