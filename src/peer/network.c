/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/peer/network.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "src/core/text.h"

enum { MAPPED_BITS = 96 };	/* of ::ffff:0:0/96, where IPv4 lives in IPv6 (RFC 4291) */

/* Its 16 bytes, IPv4 as v4-mapped IPv6. */
static bool parse_address(const char *text, unsigned char out[16], bool *v4)
{
	static const unsigned char prefix[12] = { [10] = 0xff, [11] = 0xff };

	*v4 = inet_pton(AF_INET, text, out + sizeof(prefix)) == 1;
	if (*v4)
		memcpy(out, prefix, sizeof(prefix));
	return *v4 || inet_pton(AF_INET6, text, out) == 1;
}

static bool is_mapped(const unsigned char bytes[16])
{
	static const unsigned char prefix[12] = { [10] = 0xff, [11] = 0xff };

	return memcmp(bytes, prefix, sizeof(prefix)) == 0;
}

static bool same_bits(const unsigned char *a, const unsigned char *b, unsigned int bits)
{
	unsigned int rest = bits % 8;

	return memcmp(a, b, bits / 8) == 0 &&
	       (!rest || (a[bits / 8] ^ b[bits / 8]) >> (8 - rest) == 0);
}

static int parse_one(char *word, struct peer_network *out)
{
	char *slash = strchr(word, '/');
	uint64_t bits = 0;
	bool v4;

	if (slash)
		*slash++ = '\0';
	if (!parse_address(word, out->address, &v4))
		return -EINVAL;
	out->bits = 128;
	if (!slash)
		return 0;
	if (!*slash || slash[strspn(slash, "0123456789")] || parse_u64(slash, &bits) ||
	    bits > (v4 ? 32 : 128))
		return -EINVAL;
	out->bits = (unsigned int)bits + (v4 ? MAPPED_BITS : 0);
	return 0;
}

int peer_networks_parse(const char *text, struct peer_network out[PEER_MAX_NETWORKS], size_t *n,
			struct error *err)
{
	*n = 0;
	for (;;) {
		size_t len = strcspn(text, ",");
		char word[64];

		if (*n == PEER_MAX_NETWORKS)
			return error_set(err, E2BIG, "more than %d networks", PEER_MAX_NETWORKS);
		if (len >= sizeof(word))
			return error_set(err, EINVAL, "'%.*s...' is no network", 40, text);
		memcpy(word, text, len);
		word[len] = '\0';
		if (parse_one(word, &out[*n]))
			return error_set(err, EINVAL, "'%.*s' is no network: want 192.0.2.0/24, "
					 "2001:db8::/32 or an address, joined by commas",
					 (int)len, text);
		(*n)++;
		if (!text[len])
			return 0;
		text += len + 1;
	}
}

bool networks_have(const struct peer_network *networks, size_t n, const char *address)
{
	unsigned char bytes[16];
	bool v4;

	if (n == 0)
		return true;
	if (!parse_address(address, bytes, &v4))
		return false;
	for (size_t i = 0; i < n; i++) {
		/* ::/0 is all of IPv6, and IPv4 is not in it for having a mapped form. */
		if (is_mapped(bytes) && networks[i].bits < MAPPED_BITS)
			continue;
		if (same_bits(networks[i].address, bytes, networks[i].bits))
			return true;
	}
	return false;
}
