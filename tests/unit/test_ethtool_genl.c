/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "probes/ethtool_genl.h"
#include "tests/unit/fake_netlink.h"

static void test_family(void **state)
{
	static const uint8_t commands[] = { ETHTOOL_MSG_LINKMODES_GET, ETHTOOL_MSG_RINGS_GET, 200 };
	struct bytes b = family_reply(commands, ARRAY_SIZE(commands));
	struct ethtool_family family;

	(void)state;
	assert_int_equal(ethtool_family_parse(&b, &family), 0);
	assert_int_equal(family.id, FAKE_FAMILY);
	assert_true(ethtool_family_has(&family, ETHTOOL_MSG_LINKMODES_GET));
	assert_true(ethtool_family_has(&family, ETHTOOL_MSG_RINGS_GET));
	assert_true(ethtool_family_has(&family, 200));
	assert_false(ethtool_family_has(&family, ETHTOOL_MSG_CHANNELS_GET));
	bytes_free(&b);
}

static void test_family_cut_anywhere(void **state)
{
	static const uint8_t commands[] = { ETHTOOL_MSG_LINKMODES_GET, ETHTOOL_MSG_RINGS_GET };
	struct bytes whole = family_reply(commands, ARRAY_SIZE(commands));
	struct ethtool_family family;

	(void)state;
	for (size_t len = 0; len < whole.len; len++) {
		unsigned char *copy = malloc(len ? len : 1);
		struct bytes b = { copy, len, len };

		assert_non_null(copy);
		memcpy(copy, whole.data, len);
		assert_int_equal(ethtool_family_parse(&b, &family), -EBADMSG);
		/* The message admits to being short: attributes end early. */
		if (len >= sizeof(struct nlmsghdr)) {
			((struct nlmsghdr *)(void *)copy)->nlmsg_len = (uint32_t)len;
			ethtool_family_parse(&b, &family);
		}
		free(copy);
	}
	bytes_free(&whole);
}

static void test_family_refuses(void **state)
{
	struct nlmsghdr *nlh = message_begin(GENL_ID_CTRL, CTRL_CMD_NEWFAMILY);
	struct ethtool_family family;
	struct bytes b;

	(void)state;
	/* NLMSG_DONE as a family id would make every end of a dump an answer. */
	mnl_attr_put_u16(nlh, CTRL_ATTR_FAMILY_ID, NLMSG_DONE);
	b = message_bytes(nlh);
	assert_int_equal(ethtool_family_parse(&b, &family), -EBADMSG);
	bytes_free(&b);
	free(nlh);

	nlh = message_begin(GENL_ID_CTRL, CTRL_CMD_NEWFAMILY);
	mnl_attr_put_u32(nlh, CTRL_ATTR_FAMILY_ID, FAKE_FAMILY);
	b = message_bytes(nlh);
	assert_int_equal(ethtool_family_parse(&b, &family), -EBADMSG);
	bytes_free(&b);
	free(nlh);
}

static void test_reply_is_found(void **state)
{
	struct nlmsghdr *other = message_begin(FAKE_FAMILY, ETHTOOL_MSG_RINGS_NTF);
	struct nlmsghdr *nlh = message_begin(FAKE_FAMILY, ETHTOOL_MSG_RINGS_GET_REPLY);
	const struct nlattr *tb[ETHTOOL_A_RINGS_RX + 1];
	struct bytes b;

	(void)state;
	mnl_attr_put_u32(other, ETHTOOL_A_RINGS_RX, 1);
	mnl_attr_put_u32(nlh, ETHTOOL_A_RINGS_RX, 512);
	mnl_attr_put_u32(nlh, 9999, 7);	/* newer than us */
	b = message_bytes(other);
	assert_int_equal(bytes_append(&b, nlh, nlh->nlmsg_len), 0);
	assert_int_equal(ethtool_reply(&b, FAKE_FAMILY, ETHTOOL_MSG_RINGS_GET_REPLY, tb,
				       ARRAY_SIZE(tb)), 0);
	assert_true(nd_u64_is(attribute_u32(tb[ETHTOOL_A_RINGS_RX]), 512));
	assert_null(tb[ETHTOOL_A_RINGS_RX_MAX]);
	assert_int_equal(ethtool_reply(&b, FAKE_FAMILY + 1, ETHTOOL_MSG_RINGS_GET_REPLY, tb,
				       ARRAY_SIZE(tb)), -EBADMSG);
	bytes_free(&b);
	free(other);
	free(nlh);
}

static void test_reply_hostile_lengths(void **state)
{
	const struct nlattr *tb[4];
	struct nlmsghdr h[4] = { 0 };
	struct bytes b = { (unsigned char *)h, sizeof(h), sizeof(h) };
	static const uint32_t lengths[] = { 0, 1, 15, 16, 17, 19, sizeof(h) + 1, UINT32_MAX };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		memset(h, 0, sizeof(h));
		h[0].nlmsg_len = lengths[i];
		h[0].nlmsg_type = FAKE_FAMILY;
		assert_int_equal(ethtool_reply(&b, FAKE_FAMILY, 1, tb, 4), -EBADMSG);
	}
	b.len = 0;
	b.data = NULL;
	assert_int_equal(ethtool_reply(&b, FAKE_FAMILY, 1, tb, 4), -EBADMSG);
}

static void test_attributes(void **state)
{
	struct nlmsghdr *nlh = message_begin(FAKE_FAMILY, 1);
	const struct nlattr *tb[8];
	struct bytes b;

	(void)state;
	mnl_attr_put_u8(nlh, 1, 2);
	mnl_attr_put_u32(nlh, 2, 77);
	mnl_attr_put(nlh, 3, 4, "abcd");
	mnl_attr_put_strz(nlh, 4, "name");
	mnl_attr_put(nlh, 5, 0, NULL);
	b = message_bytes(nlh);
	assert_int_equal(ethtool_reply(&b, FAKE_FAMILY, 1, tb, ARRAY_SIZE(tb)), 0);
	assert_true(nd_u64_is(attribute_u8(tb[1]), 2));
	assert_true(nd_is_true(attribute_bool(tb[1])));
	assert_true(nd_u64_is(attribute_u32(tb[2]), 77));
	assert_int_equal(attribute_u8(tb[2]).k, ND_INVALID);
	assert_int_equal(attribute_bool(tb[2]).k, ND_INVALID);
	assert_int_equal(attribute_u32(tb[1]).k, ND_INVALID);
	assert_int_equal(attribute_u32(tb[6]).k, ND_NOT_SUPPORTED);
	assert_int_equal(attribute_bool(NULL).k, ND_NOT_SUPPORTED);
	assert_null(attribute_text(tb[3]));
	assert_null(attribute_text(tb[5]));
	assert_null(attribute_text(NULL));
	assert_string_equal(attribute_text(tb[4]), "name");
	bytes_free(&b);
	free(nlh);
}

struct seen { char text[256]; };

static void note(void *user, const char *name, bool set)
{
	struct seen *s = user;
	size_t len = strlen(s->text);

	snprintf(s->text + len, sizeof(s->text) - len, "%c%s ", set ? '+' : '-', name);
}

static void test_bitset(void **state)
{
	static const char *const masked[] = { "+rx-gro", "-rx-lro" };
	static const char *const list[] = { "rx-gro", "tx-lockless" };
	struct nlmsghdr *nlh = message_begin(FAKE_FAMILY, 1);
	const struct nlattr *tb[5];
	struct seen s = { "" };
	struct nlattr *compact;
	struct bytes b;

	(void)state;
	put_bitset(nlh, 1, masked, 2, true);
	put_bitset(nlh, 2, list, 2, false);
	compact = mnl_attr_nest_start(nlh, 3);
	mnl_attr_put_u32(nlh, ETHTOOL_A_BITSET_SIZE, 8);
	mnl_attr_put_u32(nlh, ETHTOOL_A_BITSET_VALUE, 0xff);
	mnl_attr_nest_end(nlh, compact);
	mnl_attr_put_u32(nlh, 4, 0xffffffff);	/* not a nest at all */
	b = message_bytes(nlh);
	assert_int_equal(ethtool_reply(&b, FAKE_FAMILY, 1, tb, ARRAY_SIZE(tb)), 0);
	assert_int_equal(bitset_for_each(tb[1], note, &s), 0);
	assert_string_equal(s.text, "+rx-gro -rx-lro ");
	s.text[0] = 0;
	assert_int_equal(bitset_for_each(tb[2], note, &s), 0);
	assert_string_equal(s.text, "+rx-gro +tx-lockless ");
	assert_int_equal(bitset_for_each(tb[3], note, &s), -EBADMSG);
	assert_int_equal(bitset_for_each(tb[4], note, &s), -EBADMSG);
	assert_int_equal(bitset_for_each(NULL, note, &s), -EBADMSG);
	bytes_free(&b);
	free(nlh);
}

/* Every byte of a good answer changed in turn: nothing outside is read. */
static void test_flipped_bytes(void **state)
{
	static const char *const masked[] = { "+rx-gro", "-rx-lro", "+tx-tcp-segmentation" };
	struct nlmsghdr *nlh = message_begin(FAKE_FAMILY, 1);
	struct bytes whole;

	(void)state;
	put_bitset(nlh, 1, masked, 3, true);
	whole = message_bytes(nlh);
	for (size_t i = 0; i < whole.len; i++) {
		for (int v = 0; v < 256; v += 17) {
			unsigned char *copy = malloc(whole.len);
			struct bytes b = { copy, whole.len, whole.len };
			const struct nlattr *tb[2];
			struct seen s = { "" };

			assert_non_null(copy);
			memcpy(copy, whole.data, whole.len);
			copy[i] = (unsigned char)v;
			if (!ethtool_reply(&b, FAKE_FAMILY, 1, tb, 2))
				bitset_for_each(tb[1], note, &s);
			free(copy);
		}
	}
	bytes_free(&whole);
	free(nlh);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_family),
		cmocka_unit_test(test_family_cut_anywhere),
		cmocka_unit_test(test_family_refuses),
		cmocka_unit_test(test_reply_is_found),
		cmocka_unit_test(test_reply_hostile_lengths),
		cmocka_unit_test(test_attributes),
		cmocka_unit_test(test_bitset),
		cmocka_unit_test(test_flipped_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
