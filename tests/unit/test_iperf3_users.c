/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who may test here: tokens of our own client's making, and what is wrong with others. */
#include "src/peer/iperf3_users.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include "src/core/value.h"
#include "src/peer/iperf3_auth.h"
#include "src/peer/iperf3_wire.h"

struct login_test { char dir[32], private[64], public[64], users[64], other[64]; EVP_PKEY *key; };

static void write_file(const char *path, const char *text, mode_t mode)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(path, mode), 0);
}

static void write_keys(EVP_PKEY *key, const char *private, const char *public)
{
	FILE *f = fopen(public, "w");

	assert_non_null(f);
	assert_int_equal(PEM_write_PUBKEY(f, key), 1);
	fclose(f);
	if (!private)
		return;
	f = fopen(private, "w");
	assert_non_null(f);
	assert_int_equal(PEM_write_PrivateKey(f, key, NULL, NULL, 0, NULL, NULL), 1);
	fclose(f);
	assert_int_equal(chmod(private, 0600), 0);
}

static void hash_of(const char *text, char hex[65])
{
	unsigned char hash[32];
	unsigned int n = 0;

	assert_int_equal(EVP_Digest(text, strlen(text), hash, &n, EVP_sha256(), NULL), 1);
	for (unsigned int i = 0; i < n; i++)
		snprintf(hex + 2 * (size_t)i, 3, "%02x", hash[i]);
}

static int set_up(void **state)
{
	struct login_test *t = calloc(1, sizeof(*t));
	char alice[65], text[512];
	EVP_PKEY *other = EVP_RSA_gen(2048);

	assert_non_null(t);
	snprintf(t->dir, sizeof(t->dir), "/tmp/netdoctor-test-XXXXXX");
	assert_non_null(mkdtemp(t->dir));
	snprintf(t->private, sizeof(t->private), "%s/private", t->dir);
	snprintf(t->public, sizeof(t->public), "%s/public", t->dir);
	snprintf(t->users, sizeof(t->users), "%s/users", t->dir);
	snprintf(t->other, sizeof(t->other), "%s/other", t->dir);
	t->key = EVP_RSA_gen(2048);
	assert_non_null(t->key);
	write_keys(t->key, t->private, t->public);
	write_keys(other, NULL, t->other);
	EVP_PKEY_free(other);
	hash_of("{alice}s3cret", alice);
	snprintf(text, sizeof(text), "# alice,%s\n\nno comma\nbob,short\n#eve,%s\n,%s\nalice,%s\r\n"
		 "carol,%s", alice, alice, alice, alice, alice);
	write_file(t->users, text, 0644);
	*state = t;
	return 0;
}

static int tear_down(void **state)
{
	struct login_test *t = *state;

	unlink(t->private);
	unlink(t->public);
	unlink(t->users);
	unlink(t->other);
	rmdir(t->dir);
	EVP_PKEY_free(t->key);
	free(t);
	return 0;
}

static struct peer_users *users_of(const struct login_test *t, bool pkcs1)
{
	struct peer_user_files files = { .private_key_path = t->private, .users_path = t->users,
					 .pkcs1_padding = pkcs1 };
	struct peer_users *u;
	struct error err = { "" };

	if (peer_users_read(&files, &u, &err) < 0)
		fail_msg("%s", err.text);
	return u;
}

static void make_token(const struct peer_login *login, char out[IPERF3_MAX_TOKEN + 1])
{
	struct error err = { "" };

	if (iperf3_auth_token(login, out, IPERF3_MAX_TOKEN + 1, &err) < 0)
		fail_msg("%s", err.text);
}

static int check(struct peer_users *u, const char *token, time_t now)
{
	char name[IPERF3_MAX_USER + 1] = "";
	int rc = iperf3_users_check(u, token, now, name);

	assert_string_equal(name, rc ? "" : "alice");
	return rc;
}

static void both_paddings(void **state)
{
	const struct login_test *t = *state;
	struct peer_login login = { .user = "alice", .password = "s3cret",
				    .public_key_path = t->public };
	char token[IPERF3_MAX_TOKEN + 1];

	for (int pkcs1 = 0; pkcs1 < 2; pkcs1++) {
		struct peer_users *u = users_of(t, pkcs1);

		login.pkcs1_padding = pkcs1;
		make_token(&login, token);
		assert_int_equal(check(u, token, time(NULL)), 0);
		login.pkcs1_padding = !pkcs1;
		make_token(&login, token);
		assert_int_equal(check(u, token, time(NULL)), -EACCES);
		peer_users_free(u);
	}
}

static void wrong_logins(void **state)
{
	const struct login_test *t = *state;
	static const char *const pairs[][2] = {
		{ "alice", "guess" }, { "alice", "" }, { "alice", "s3cret " },
		{ "Alice", "s3cret" },
		{ "bob", "s3cret" }, { "carol", "s3cret" }, { "# alice", "s3cret" },
		{ "eve", "s3cret" }, { "", "s3cret" }, { "", "" }, { "no comma", "" },
		{ "alice", "s3cret\nts:   0" },
	};
	struct peer_users *u = users_of(t, false);
	char token[IPERF3_MAX_TOKEN + 1];
	struct peer_login login = { .public_key_path = t->public };

	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		login.user = pairs[i][0];
		login.password = pairs[i][1];
		make_token(&login, token);
		if (check(u, token, time(NULL)) != -EACCES)
			fail_msg("%s, %s: let in", login.user, login.password);
	}
	login = (struct peer_login){ .user = "alice", .password = "s3cret",
				     .public_key_path = t->other };
	make_token(&login, token);
	assert_int_equal(check(u, token, time(NULL)), -EACCES);
	peer_users_free(u);
}

/* Any text, encrypted with the right key. */
static void encrypt(const struct login_test *t, const char *plain, size_t len,
		    char out[IPERF3_MAX_TOKEN + 1])
{
	EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new(t->key, NULL);
	unsigned char block[512];
	size_t n = sizeof(block);

	assert_non_null(ctx);
	assert_int_equal(EVP_PKEY_encrypt_init(ctx), 1);
	assert_true(EVP_PKEY_CTX_set_rsa_padding(ctx, RSA_PKCS1_OAEP_PADDING) > 0);
	assert_int_equal(EVP_PKEY_encrypt(ctx, block, &n, (const unsigned char *)plain, len), 1);
	EVP_PKEY_CTX_free(ctx);
	EVP_EncodeBlock((unsigned char *)out, block, (int)n);
}

static void clocks(void **state)
{
	const struct login_test *t = *state;
	static const struct { int ahead, rc; } cases[] = {
		{ -IPERF3_SKEW_S - 1, -EACCES }, { -IPERF3_SKEW_S, 0 }, { 0, 0 },
		{ IPERF3_SKEW_S, 0 }, { IPERF3_SKEW_S + 1, -EACCES }, { 86400 * 365, -EACCES },
	};
	static const char plain[] = "user: alice\npwd:  s3cret\nts:   1700000000";
	char token[IPERF3_MAX_TOKEN + 1];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct peer_users *u = users_of(t, false);

		encrypt(t, plain, strlen(plain), token);
		assert_int_equal(check(u, token, 1700000000 + cases[i].ahead), cases[i].rc);
		peer_users_free(u);
	}
}

static void once_only(void **state)
{
	const struct login_test *t = *state;
	const struct peer_login login = { .user = "alice", .password = "s3cret",
					  .public_key_path = t->public };
	struct peer_users *u = users_of(t, false);
	char one[IPERF3_MAX_TOKEN + 1], two[IPERF3_MAX_TOKEN + 1];
	time_t now = time(NULL);

	make_token(&login, one);
	make_token(&login, two);
	assert_string_not_equal(one, two);
	assert_int_equal(check(u, one, now), 0);
	assert_int_equal(check(u, one, now), -EACCES);
	assert_int_equal(check(u, one, now + IPERF3_SKEW_S - 2), -EACCES);
	assert_int_equal(check(u, two, now), 0);
	/* Nor forgotten while others come, nor made room for. */
	for (int i = 2; i < IPERF3_LOGINS_KEPT; i++) {
		make_token(&login, two);
		assert_int_equal(check(u, two, now), 0);
	}
	assert_int_equal(check(u, one, now), -EACCES);
	make_token(&login, two);
	assert_int_equal(check(u, two, now), -EACCES);
	peer_users_free(u);
}

static void hostile_tokens(void **state)
{
	const struct login_test *t = *state;
	struct peer_users *u = users_of(t, false);
	char token[IPERF3_MAX_TOKEN + 1], plain[128];
	time_t now = time(NULL);
	static const char *const fixed[] = { "", "=", "====", "A", "AAAA", "AA==",
					     "\xff\xff\xff\xff", "    ", "AAA\n" };

	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++)
		assert_int_equal(check(u, fixed[i], now), -EACCES);
	memset(token, 'A', IPERF3_MAX_TOKEN);
	token[IPERF3_MAX_TOKEN] = '\0';
	assert_int_equal(check(u, token, now), -EACCES);
	memset(token, '=', IPERF3_MAX_TOKEN);
	assert_int_equal(check(u, token, now), -EACCES);

	/* The right text, and around it what makes it another. */
	int n = snprintf(plain, sizeof(plain), "user: alice\npwd:  s3cret\nts:   %lld",
			 (long long)now);
	encrypt(t, plain, (size_t)n + 1, token);
	assert_int_equal(check(u, token, now), -EACCES);
	plain[n] = 'x';
	encrypt(t, plain, (size_t)n + 1, token);
	assert_int_equal(check(u, token, now), -EACCES);
	encrypt(t, plain, 0, token);
	assert_int_equal(check(u, token, now), -EACCES);
	encrypt(t, plain, 18, token);
	assert_int_equal(check(u, token, now), -EACCES);
	encrypt(t, "user: alice\npwd:  s3cret\nts:   99999999999999999999", 50, token);
	assert_int_equal(check(u, token, now), -EACCES);

	encrypt(t, plain, (size_t)n, token);
	assert_int_equal(check(u, token, now), 0);
	/* Another text of the same bytes: it would not be known again. */
	size_t len = strlen(token);

	assert_true(token[len - 1] == '=');
	token[len - 1 - (token[len - 2] == '=') - 1]++;
	assert_int_equal(check(u, token, now), -EACCES);
	peer_users_free(u);
}

static void refused(const struct login_test *t, const char *key, const char *users, int rc,
		    const char *text)
{
	struct peer_user_files files = { .private_key_path = key ? key : t->private,
					 .users_path = users ? users : t->users };
	struct peer_users *u;
	struct error err = { "" };

	assert_int_equal(peer_users_read(&files, &u, &err), rc);
	assert_null(u);
	if (!strstr(err.text, text))
		fail_msg("%s (not %s)", err.text, text);
}

static void files(void **state)
{
	const struct login_test *t = *state;
	EVP_PKEY *weak = EVP_RSA_gen(1024);
	char path[80];

	refused(t, "/nonexistent", NULL, -ENOENT, "/nonexistent: No such file");
	refused(t, t->dir, NULL, -EINVAL, "not a file");
	snprintf(path, sizeof(path), "%s/x", t->dir);
	assert_int_equal(mkfifo(path, 0600), 0);
	refused(t, path, NULL, -EINVAL, "not a file");
	unlink(path);
	assert_int_equal(chmod(t->private, 0640), 0);
	refused(t, NULL, NULL, -EPERM, "others may read it: chmod 600");
	assert_int_equal(chmod(t->private, 0600), 0);
	assert_int_equal(chmod(t->users, 0664), 0);
	refused(t, NULL, NULL, -EPERM, "others may write to it: chmod go-w");
	assert_int_equal(chmod(t->users, 0644), 0);
	assert_int_equal(chmod(t->public, 0600), 0);
	refused(t, t->public, NULL, -EINVAL, "not a private RSA key");
	write_file(path, "", 0600);
	refused(t, path, NULL, -EINVAL, "not a private RSA key");
	if (weak) {
		write_keys(weak, path, t->other);
		refused(t, path, NULL, -EINVAL, "of 2048 bits");
	}
	EVP_PKEY_free(weak);
	unlink(path);
	if (geteuid() == 0) {
		write_file(path, "alice,x\n", 0600);
		assert_int_equal(chown(path, 65534, 65534), 0);
		refused(t, NULL, path, -EPERM, "belongs to somebody else");
		unlink(path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_paddings),
		cmocka_unit_test(wrong_logins),
		cmocka_unit_test(clocks),
		cmocka_unit_test(once_only),
		cmocka_unit_test(hostile_tokens),
		cmocka_unit_test(files),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
