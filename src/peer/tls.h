/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * TLS 1.3 with an external pre-shared key, over a non-blocking socket.
 * Internal to src/peer; tls.c alone knows OpenSSL's session layer.
 *
 * There are no certificates: both ends prove that they hold the key, and a
 * fresh Diffie-Hellman exchange keeps old sessions secret should it leak.  In
 * open mode the key is all zeroes, which stops listeners and nobody else.
 *
 * A context may be shared by threads; one struct tls is used by one thread at a time.
 */
#ifndef ND_PEER_TLS_H
#define ND_PEER_TLS_H

#include <sys/types.h>

#include "src/peer/peer.h"

struct tls_context;
struct tls;

int tls_context_new(const struct peer_key *key, bool server, struct tls_context **out,
		    struct error *err);
/* After every struct tls made from it.  NULL is fine. */
void tls_context_free(struct tls_context *ctx);

/* The socket stays the caller's.  0 or -ENOMEM. */
int tls_new(struct tls_context *ctx, int fd, struct tls **out);
void tls_free(struct tls *t);		/* NULL is fine */

/*
 * All three: -EAGAIN when the socket must first be ready for *events (POLLIN or POLLOUT).
 *
 * tls_handshake(): 0 when the other side has proved the key;
 *   -EKEYREJECTED  it has another key
 *   -ENOKEY        one side is open, the other wants a key
 *   -ECONNRESET    it went away
 *   -EPROTO        it is not speaking this TLS
 * tls_read(): bytes, -ECONNRESET at the end, -EPROTO; tls_write() likewise.  A write that said
 * -EAGAIN must be repeated with the same bytes.
 */
int tls_handshake(struct tls *t, short *events);
ssize_t tls_read(struct tls *t, void *buf, size_t len, short *events);
ssize_t tls_write(struct tls *t, const void *buf, size_t len, short *events);

#endif
