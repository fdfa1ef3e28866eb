/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/peer/tls.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <openssl/err.h>
#include <openssl/ssl.h>

#define CIPHER_SUITE "TLS_AES_128_GCM_SHA256"	/* its SHA-256 is the hash of the PSK binder */
#define IDENTITY_KEY "netdoctor-1"
#define IDENTITY_OPEN "netdoctor-open"

/* TLS_AES_128_GCM_SHA256 on the wire (RFC 8446 B.4). */
static const unsigned char cipher_id[2] = { 0x13, 0x01 };

struct tls_context {
	SSL_CTX *ssl;
	BIO_METHOD *bio;
	bool server;
	struct peer_key key;	/* open: the all-zero bytes are the key */
};

struct tls {
	SSL *ssl;
	int fd;
	const struct tls_context *ctx;
	bool other_identity;	/* server: the client named the other mode */
};

static const char *own_identity(const struct tls_context *ctx)
{
	return ctx->key.open ? IDENTITY_OPEN : IDENTITY_KEY;
}

/* A "session to resume" that never was: that is how TLS 1.3 carries an external key. */
static SSL_SESSION *make_psk(SSL *ssl, const struct tls_context *ctx)
{
	const SSL_CIPHER *cipher = SSL_CIPHER_find(ssl, cipher_id);
	SSL_SESSION *s = cipher ? SSL_SESSION_new() : NULL;

	if (s && SSL_SESSION_set1_master_key(s, ctx->key.bytes, sizeof(ctx->key.bytes)) &&
	    SSL_SESSION_set_cipher(s, cipher) &&
	    SSL_SESSION_set_protocol_version(s, TLS1_3_VERSION))
		return s;
	SSL_SESSION_free(s);
	return NULL;
}

static int psk_use(SSL *ssl, const EVP_MD *md, const unsigned char **id, size_t *id_len,
		   SSL_SESSION **out)
{
	const struct tls *t = SSL_get_app_data(ssl);

	*out = NULL;
	*id = NULL;
	*id_len = 0;
	/* Asked again after a HelloRetryRequest, with the hash then chosen; ours is SHA-256. */
	if (md && EVP_MD_get_type(md) != NID_sha256)
		return 1;
	*out = make_psk(ssl, t->ctx);
	if (!*out)
		return 0;
	*id = (const unsigned char *)own_identity(t->ctx);
	*id_len = strlen(own_identity(t->ctx));
	return 1;
}

static bool identity_is(const unsigned char *id, size_t len, const char *name)
{
	return len == strlen(name) && memcmp(id, name, len) == 0;
}

static int psk_find(SSL *ssl, const unsigned char *id, size_t len, SSL_SESSION **out)
{
	struct tls *t = SSL_get_app_data(ssl);

	*out = NULL;
	if (identity_is(id, len, own_identity(t->ctx))) {
		*out = make_psk(ssl, t->ctx);
		return *out != NULL;
	}
	t->other_identity = identity_is(id, len,
					t->ctx->key.open ? IDENTITY_KEY : IDENTITY_OPEN);
	return 1;	/* no such key; with no certificate either, this ends in an alert */
}

/* ---- socket BIO: OpenSSL's own uses write(), and a vanished peer would be a SIGPIPE ---- */

static int bio_fd(BIO *b)
{
	const struct tls *t = BIO_get_data(b);

	return t->fd;
}

static int bio_write(BIO *b, const char *buf, int len)
{
	ssize_t n = send(bio_fd(b), buf, (size_t)len, MSG_NOSIGNAL | MSG_DONTWAIT);

	BIO_clear_retry_flags(b);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		BIO_set_retry_write(b);
	return (int)n;
}

static int bio_read(BIO *b, char *buf, int len)
{
	ssize_t n = recv(bio_fd(b), buf, (size_t)len, MSG_DONTWAIT);

	BIO_clear_retry_flags(b);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		BIO_set_retry_read(b);
	return (int)n;
}

static long bio_ctrl(BIO *b, int cmd, long num, void *ptr)
{
	(void)b, (void)num, (void)ptr;
	return cmd == BIO_CTRL_FLUSH;
}

static BIO_METHOD *make_bio_method(void)
{
	BIO_METHOD *m = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "netdoctor socket");

	if (m && BIO_meth_set_write(m, bio_write) && BIO_meth_set_read(m, bio_read) &&
	    BIO_meth_set_ctrl(m, bio_ctrl))
		return m;
	BIO_meth_free(m);
	return NULL;
}

/* ---- contexts ---- */

static bool configure(SSL_CTX *ssl, bool server)
{
	if (!SSL_CTX_set_min_proto_version(ssl, TLS1_3_VERSION) ||
	    !SSL_CTX_set_max_proto_version(ssl, TLS1_3_VERSION) ||
	    !SSL_CTX_set_ciphersuites(ssl, CIPHER_SUITE))
		return false;
	SSL_CTX_set_session_cache_mode(ssl, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_options(ssl, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION);
	SSL_CTX_set_mode(ssl, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
			 SSL_MODE_RELEASE_BUFFERS);
	if (!server) {
		/*
		 * Without this a server that ignores the key and shows any certificate would be
		 * believed.  There is no trust store, so no certificate can pass.
		 */
		SSL_CTX_set_verify(ssl, SSL_VERIFY_PEER, NULL);
		SSL_CTX_set_psk_use_session_callback(ssl, psk_use);
		return true;
	}
	SSL_CTX_set_psk_find_session_callback(ssl, psk_find);
	return SSL_CTX_set_num_tickets(ssl, 0) && SSL_CTX_set_max_early_data(ssl, 0) &&
	       SSL_CTX_set_recv_max_early_data(ssl, 0);
}

int tls_context_new(const struct peer_key *key, bool server, struct tls_context **out,
		    struct error *err)
{
	struct tls_context *ctx = calloc(1, sizeof(*ctx));

	*out = NULL;
	if (!ctx)
		return error_set(err, ENOMEM, "TLS: out of memory");
	ctx->server = server;
	ctx->key.open = key->open;
	if (!key->open)
		memcpy(ctx->key.bytes, key->bytes, sizeof(ctx->key.bytes));
	ctx->bio = make_bio_method();
	ctx->ssl = SSL_CTX_new(server ? TLS_server_method() : TLS_client_method());
	if (!ctx->bio || !ctx->ssl || !configure(ctx->ssl, server)) {
		ERR_clear_error();
		tls_context_free(ctx);
		return error_set(err, ENOTSUP, "TLS: this OpenSSL cannot do TLS 1.3 with "
				 CIPHER_SUITE);
	}
	*out = ctx;
	return 0;
}

void tls_context_free(struct tls_context *ctx)
{
	if (!ctx)
		return;
	SSL_CTX_free(ctx->ssl);
	BIO_meth_free(ctx->bio);
	OPENSSL_cleanse(&ctx->key, sizeof(ctx->key));
	free(ctx);
}

int tls_new(struct tls_context *ctx, int fd, struct tls **out)
{
	struct tls *t = calloc(1, sizeof(*t));
	BIO *b = BIO_new(ctx->bio);

	*out = NULL;
	if (!t || !b)
		goto fail;
	t->ctx = ctx;
	t->fd = fd;
	t->ssl = SSL_new(ctx->ssl);
	if (!t->ssl || !SSL_set_app_data(t->ssl, t))
		goto fail;
	BIO_set_data(b, t);
	BIO_set_init(b, 1);
	SSL_set_bio(t->ssl, b, b);
	if (ctx->server)
		SSL_set_accept_state(t->ssl);
	else
		SSL_set_connect_state(t->ssl);
	*out = t;
	return 0;
fail:
	BIO_free(b);
	tls_free(t);
	return -ENOMEM;
}

void tls_free(struct tls *t)
{
	if (!t)
		return;
	SSL_free(t->ssl);
	free(t);
}

/* ---- input and output ---- */

/* Turns the result of a failed call into -EAGAIN with events, or -ECONNRESET, or -EPROTO. */
static int failure(struct tls *t, int ret, short *events)
{
	switch (SSL_get_error(t->ssl, ret)) {
	case SSL_ERROR_WANT_READ:
		*events = POLLIN;
		return -EAGAIN;
	case SSL_ERROR_WANT_WRITE:
		*events = POLLOUT;
		return -EAGAIN;
	case SSL_ERROR_ZERO_RETURN:
	case SSL_ERROR_SYSCALL:
		return -ECONNRESET;
	default:
		return ERR_GET_REASON(ERR_peek_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING ?
		       -ECONNRESET : -EPROTO;
	}
}

/* Which of our own failures an error in the handshake is; alerts as in RFC 8446 4.2.11. */
static int handshake_failure(const struct tls *t)
{
	switch (ERR_GET_REASON(ERR_peek_error())) {
	case SSL_R_BINDER_DOES_NOT_VERIFY:
	case SSL_R_SSLV3_ALERT_ILLEGAL_PARAMETER:
	case SSL_R_TLSV1_ALERT_DECRYPT_ERROR:
		return -EKEYREJECTED;
	case SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE:
		return -ENOKEY;
	default:
		return t->other_identity ? -ENOKEY : -EPROTO;
	}
}

int tls_handshake(struct tls *t, short *events)
{
	int ret, rc;

	ERR_clear_error();
	ret = SSL_do_handshake(t->ssl);
	if (ret == 1) {
		/* True only when the key was used; a belt to SSL_VERIFY_PEER's braces. */
		if (SSL_session_reused(t->ssl))
			return 0;
		rc = -EPROTO;
	} else {
		rc = failure(t, ret, events);
		if (rc == -EPROTO)
			rc = handshake_failure(t);
	}
	ERR_clear_error();
	return rc;
}

ssize_t tls_read(struct tls *t, void *buf, size_t len, short *events)
{
	size_t n = 0;
	int ret, rc;

	ERR_clear_error();
	ret = SSL_read_ex(t->ssl, buf, len, &n);
	if (ret == 1)
		return (ssize_t)n;
	rc = failure(t, ret, events);
	ERR_clear_error();
	return rc;
}

ssize_t tls_write(struct tls *t, const void *buf, size_t len, short *events)
{
	size_t n = 0;
	int ret, rc;

	ERR_clear_error();
	ret = SSL_write_ex(t->ssl, buf, len, &n);
	if (ret == 1)
		return (ssize_t)n;
	rc = failure(t, ret, events);
	ERR_clear_error();
	return rc;
}
