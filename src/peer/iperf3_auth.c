/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/peer/iperf3_auth.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

enum { MAX_PLAIN = 1024 };	/* bytes before encryption; RSA-8192 takes no more */

static int ssl_error(struct error *err, int rc, const char *what)
{
	char text[128] = "no reason given";
	unsigned long e = ERR_get_error();

	if (e)
		ERR_error_string_n(e, text, sizeof(text));
	ERR_clear_error();
	return error_set(err, rc, "%s: %s", what, text);
}

static int read_public_key(const char *path, EVP_PKEY **out, struct error *err)
{
	BIO *file = BIO_new_file(path, "r");

	*out = NULL;
	if (!file)
		return ssl_error(err, ENOENT, path);
	*out = PEM_read_bio_PUBKEY(file, NULL, NULL, NULL);
	BIO_free(file);
	if (!*out)
		return ssl_error(err, EINVAL, path);
	if (EVP_PKEY_is_a(*out, "RSA"))
		return 0;
	EVP_PKEY_free(*out);
	*out = NULL;
	return error_set(err, EINVAL, "%s: not an RSA key", path);
}

static int use_padding(EVP_PKEY_CTX *ctx, bool pkcs1)
{
	/* OAEP with SHA-1 and MGF1, OpenSSL's default and so iperf3's. */
	return EVP_PKEY_CTX_set_rsa_padding(ctx, pkcs1 ? RSA_PKCS1_PADDING :
							 RSA_PKCS1_OAEP_PADDING);
}

/* *out_len: in, the room in out. */
static int encrypt(EVP_PKEY *key, bool pkcs1, const char *plain, size_t len, unsigned char *out,
		   size_t *out_len, struct error *err)
{
	EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new(key, NULL);
	int rc = 0;

	if (!ctx || EVP_PKEY_encrypt_init(ctx) <= 0 || use_padding(ctx, pkcs1) <= 0 ||
	    EVP_PKEY_encrypt(ctx, out, out_len, (const unsigned char *)plain, len) <= 0)
		rc = ssl_error(err, EINVAL, "cannot encrypt the login (too long for this key?)");
	EVP_PKEY_CTX_free(ctx);
	return rc;
}

int iperf3_auth_token(const struct peer_login *login, char *out, size_t cap, struct error *err)
{
	unsigned char block[1536];	/* of an RSA key of up to 12288 bits */
	char plain[MAX_PLAIN];
	size_t len = sizeof(block);
	EVP_PKEY *key;
	int rc = read_public_key(login->public_key_path, &key, err), n;

	*out = '\0';
	if (rc < 0)
		return rc;
	/* The server reads it with these very spaces. */
	n = snprintf(plain, sizeof(plain), "user: %s\npwd:  %s\nts:   %" PRId64, login->user,
		     login->password, (int64_t)time(NULL));
	if (n < 0 || (size_t)n >= sizeof(plain) || strchr(login->user, '\n') ||
	    EVP_PKEY_get_size(key) > (int)sizeof(block))
		rc = error_set(err, EINVAL, "the user name, the password or the key is too long");
	else
		rc = encrypt(key, login->pkcs1_padding, plain, (size_t)n, block, &len, err);
	OPENSSL_cleanse(plain, sizeof(plain));
	EVP_PKEY_free(key);
	/* Base64: four letters for three bytes. */
	if (rc == 0 && (len + 2) / 3 * 4 + 1 > cap)
		rc = error_set(err, EINVAL, "the key is too long");
	if (rc == 0)
		EVP_EncodeBlock((unsigned char *)out, block, (int)len);
	return rc;
}
