/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/peer/iperf3_users.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include "src/core/text.h"
#include "src/core/value.h"
#include "src/peer/iperf3_wire.h"

enum {
	MAX_FILE_BYTES = 1024 * 1024,
	MAX_BLOCK_BYTES = IPERF3_MAX_TOKEN / 4 * 3,	/* what a token decodes to */
	MIN_KEY_BITS = 2048,
	HASH_BYTES = 32
};

struct used_token { unsigned char hash[HASH_BYTES]; time_t until; };

struct peer_users {
	EVP_PKEY *key;
	bool pkcs1_padding;
	char *text;		/* lines of name,hash */

	pthread_mutex_t lock;
	struct used_token used[IPERF3_LOGINS_KEPT];	/* a ring, oldest first */
	size_t oldest, nused;
};

/* ---- files ---- */

/* The whole of a file that only its owner may use so: forbidden are mode bits.  -errno. */
static int read_file(const char *path, mode_t forbidden, char **out, struct error *err)
{
	/* Without O_NONBLOCK a FIFO would be waited for. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), rc = 0;
	struct stat st;
	ssize_t n = 0;

	*out = NULL;
	if (fd < 0)
		return error_set(err, errno, "%s: %s", path, strerror(errno));
	if (fstat(fd, &st) < 0)
		rc = error_set(err, errno, "%s: %s", path, strerror(errno));
	else if (!S_ISREG(st.st_mode) || st.st_size > MAX_FILE_BYTES)
		rc = error_set(err, EINVAL, "%s: not a file of a sensible size", path);
	else if (st.st_uid != 0 && st.st_uid != geteuid())
		rc = error_set(err, EPERM, "%s: belongs to somebody else", path);
	else if (st.st_mode & forbidden)
		rc = error_set(err, EPERM, "%s: others may %s it: chmod %s", path,
			       forbidden & 044 ? "read" : "write to",
			       forbidden & 044 ? "600" : "go-w");
	if (rc == 0 && !(*out = calloc(1, (size_t)st.st_size + 1)))
		rc = error_set(err, ENOMEM, "out of memory");
	for (size_t got = 0; rc == 0 && got < (size_t)st.st_size; got += (size_t)n) {
		n = read(fd, *out + got, (size_t)st.st_size - got);
		if (n <= 0)
			rc = error_set(err, n ? errno : EIO, "%s: cannot be read", path);
	}
	close(fd);
	return rc;
}

/* Never asks a terminal for a passphrase: a server has none. */
static int no_passphrase(char *buf, int size, int writing, void *state)
{
	(void)buf;
	(void)size;
	(void)writing;
	(void)state;
	return -1;
}

static int read_key(const char *path, EVP_PKEY **out, struct error *err)
{
	char *text = NULL;
	BIO *bio;
	int rc = read_file(path, 077, &text, err);

	*out = NULL;
	if (rc == 0) {
		bio = BIO_new_mem_buf(text, -1);
		*out = bio ? PEM_read_bio_PrivateKey(bio, NULL, no_passphrase, NULL) : NULL;
		BIO_free(bio);
		if (!*out || !EVP_PKEY_is_a(*out, "RSA") ||
		    EVP_PKEY_get_bits(*out) < MIN_KEY_BITS ||
		    EVP_PKEY_get_size(*out) > MAX_BLOCK_BYTES)
			rc = error_set(err, EINVAL, "%s: not a private RSA key of 2048 bits or "
				       "more, as PEM without a passphrase", path);
		ERR_clear_error();
	}
	if (text)
		OPENSSL_cleanse(text, strlen(text));
	free(text);
	return rc;
}

int peer_users_read(const struct peer_user_files *files, struct peer_users **out,
		    struct error *err)
{
	struct peer_users *u = calloc(1, sizeof(*u));
	int rc;

	*out = NULL;
	if (!u)
		return error_set(err, ENOMEM, "out of memory");
	pthread_mutex_init(&u->lock, NULL);
	u->pkcs1_padding = files->pkcs1_padding;
	rc = read_key(files->private_key_path, &u->key, err);
	/* Hashes without salt are guessed quickly, but iperf3's users leave them readable. */
	if (rc == 0)
		rc = read_file(files->users_path, 022, &u->text, err);
	if (rc == 0) {
		*out = u;
		return 0;
	}
	peer_users_free(u);
	return rc;
}

void peer_users_free(struct peer_users *u)
{
	if (!u)
		return;
	EVP_PKEY_free(u->key);
	pthread_mutex_destroy(&u->lock);
	free(u->text);
	free(u);
}

/* ---- a token ---- */

/* Base64 as it is encoded, without line breaks; bytes, or 0. */
static size_t decode(const char *token, unsigned char *out, size_t cap)
{
	unsigned char again[IPERF3_MAX_TOKEN + 1];
	size_t len = strlen(token), padding = 0;
	int n;

	if (len == 0 || len % 4 || len / 4 * 3 > cap)
		return 0;
	while (padding < 2 && token[len - 1 - padding] == '=')
		padding++;
	n = EVP_DecodeBlock(out, (const unsigned char *)token, (int)len) - (int)padding;
	if (n <= 0)
		return 0;
	/* One text for each block: what was used is known by its text. */
	EVP_EncodeBlock(again, out, n);
	return strcmp((const char *)again, token) ? 0 : (size_t)n;
}

/* One block; the length of its text in plain, which is NUL-terminated, or 0. */
static size_t decrypt(const struct peer_users *u, const unsigned char *block, size_t len,
		      char plain[MAX_BLOCK_BYTES + 1])
{
	int padding = u->pkcs1_padding ? RSA_PKCS1_PADDING : RSA_PKCS1_OAEP_PADDING;
	EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new(u->key, NULL);
	size_t n = MAX_BLOCK_BYTES;

	if (!ctx || len != (size_t)EVP_PKEY_get_size(u->key) || EVP_PKEY_decrypt_init(ctx) <= 0 ||
	    EVP_PKEY_CTX_set_rsa_padding(ctx, padding) <= 0 ||
	    EVP_PKEY_decrypt(ctx, (unsigned char *)plain, &n, block, len) <= 0)
		n = 0;
	EVP_PKEY_CTX_free(ctx);
	ERR_clear_error();
	plain[n] = '\0';
	return strlen(plain) == n ? n : 0;
}

/* Takes the line that begins so; NULL: it does not.  Cuts it off at its end. */
static char *take_line(char **at, const char *prefix)
{
	char *value, *end;

	if (strncmp(*at, prefix, strlen(prefix)) != 0)
		return NULL;
	value = *at + strlen(prefix);
	end = value + strcspn(value, "\n");
	*at = *end ? end + 1 : end;
	*end = '\0';
	return value;
}

struct login { char *user, *password, *ts; };

/* False: it is none, and each is empty. */
static bool read_login(char *plain, struct login *out)
{
	char *at = plain;

	out->user = take_line(&at, "user: ");
	out->password = out->user ? take_line(&at, "pwd:  ") : NULL;
	out->ts = out->password ? take_line(&at, "ts:   ") : NULL;
	if (out->ts && !*at)
		return true;
	*plain = '\0';
	*out = (struct login){ .user = plain, .password = plain, .ts = plain };
	return false;
}

static bool hash_texts(const char *const texts[], size_t n, unsigned char hash[HASH_BYTES])
{
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	bool ok = ctx && EVP_DigestInit_ex(ctx, EVP_sha256(), NULL) > 0;

	for (size_t i = 0; ok && i < n; i++)
		ok = EVP_DigestUpdate(ctx, texts[i], strlen(texts[i])) > 0;
	ok = ok && EVP_DigestFinal_ex(ctx, hash, NULL) > 0;
	EVP_MD_CTX_free(ctx);
	return ok;
}

/* The hash of {name}password in hexadecimal. */
static bool hash_login(const struct login *l, char hex[2 * HASH_BYTES + 1])
{
	const char *const texts[] = { "{", l->user, "}", l->password };
	unsigned char hash[HASH_BYTES];
	bool ok = hash_texts(texts, ARRAY_SIZE(texts), hash);

	for (size_t i = 0; ok && i < sizeof(hash); i++)
		snprintf(hex + 2 * i, 3, "%02x", hash[i]);
	return ok;
}

/* All lines are looked at whatever the first says: time must not tell which user exists. */
static bool listed(const char *text, const char *name, const char *hex)
{
	size_t name_len = strlen(name);
	bool found = false;

	for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		size_t len = strcspn(line, "\r\n");
		const char *comma = memchr(line, ',', len);
		size_t hash_len = comma ? len - (size_t)(comma - line) - 1 : 0;

		if (hash_len == 2 * HASH_BYTES && *line != '#' &&
		    (size_t)(comma - line) == name_len &&
		    (CRYPTO_memcmp(line, name, name_len) |
		     CRYPTO_memcmp(comma + 1, hex, 2 * HASH_BYTES)) == 0)
			found = true;
	}
	return found;
}

static bool is_now(const char *ts, time_t now)
{
	int64_t t;

	return parse_i64(ts, &t) == 0 && t >= (int64_t)now - IPERF3_SKEW_S &&
	       t <= (int64_t)now + IPERF3_SKEW_S;
}

/*
 * The tokens that were taken are remembered for as long as their time would be right: whoever has
 * overheard one must not get in with it.
 */
static bool is_first_use(struct peer_users *u, const char *token, time_t now)
{
	struct used_token t = { .until = now + 2 * IPERF3_SKEW_S };
	bool first = hash_texts(&token, 1, t.hash);

	pthread_mutex_lock(&u->lock);
	while (u->nused && u->used[u->oldest].until < now) {
		u->oldest = (u->oldest + 1) % IPERF3_LOGINS_KEPT;
		u->nused--;
	}
	for (size_t i = 0; i < u->nused; i++)
		if (!memcmp(u->used[(u->oldest + i) % IPERF3_LOGINS_KEPT].hash, t.hash,
			    sizeof(t.hash)))
			first = false;
	first = first && u->nused < IPERF3_LOGINS_KEPT;
	if (first)
		u->used[(u->oldest + u->nused++) % IPERF3_LOGINS_KEPT] = t;
	pthread_mutex_unlock(&u->lock);
	return first;
}

int iperf3_users_check(struct peer_users *u, const char *token, time_t now,
		       char name[IPERF3_MAX_USER + 1])
{
	unsigned char block[MAX_BLOCK_BYTES];
	char plain[MAX_BLOCK_BYTES + 1], hex[2 * HASH_BYTES + 1] = "";
	struct login login;
	bool ok = decrypt(u, block, decode(token, block, sizeof(block)), plain);

	/* All of it whatever the first says: how long it takes must not tell what was wrong. */
	ok = read_login(plain, &login) && ok;
	ok = hash_login(&login, hex) && ok;
	ok = listed(u->text, login.user, hex) && ok;
	ok = is_now(login.ts, now) && ok;
	ok = ok && is_first_use(u, token, now);
	if (ok) {
		snprintf(name, IPERF3_MAX_USER + 1, "%s", login.user);
		text_make_printable(name);
	}
	OPENSSL_cleanse(plain, sizeof(plain));
	OPENSSL_cleanse(hex, sizeof(hex));
	return ok ? 0 : -EACCES;
}
