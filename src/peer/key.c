/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The shared key: 128 random bits, written as 32 hex digits, or "open".
 */
#include "src/peer/peer.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/crypto.h>

#include "src/core/text.h"
#include "src/peer/wire.h"

#define OPEN_WORD "open"

int peer_key_generate(struct peer_key *out)
{
	memset(out, 0, sizeof(*out));
	return wire_random(out->bytes, sizeof(out->bytes));
}

int peer_key_parse(const char *text, struct peer_key *out)
{
	memset(out, 0, sizeof(*out));
	if (strcmp(text, OPEN_WORD) == 0) {
		out->open = true;
		return 0;
	}
	if (strnlen(text, 2 * PEER_KEY_BYTES + 1) != 2 * PEER_KEY_BYTES)
		return -EINVAL;
	for (size_t i = 0; i < PEER_KEY_BYTES; i++) {
		int high = hex_digit(text[2 * i]), low = hex_digit(text[2 * i + 1]);

		if (high < 0 || low < 0) {
			OPENSSL_cleanse(out, sizeof(*out));
			return -EINVAL;
		}
		out->bytes[i] = (unsigned char)(high << 4 | low);
	}
	return 0;
}

void peer_key_format(const struct peer_key *key, char out[2 * PEER_KEY_BYTES + 1])
{
	static const char digits[] = "0123456789abcdef";

	if (key->open) {
		memcpy(out, OPEN_WORD, sizeof(OPEN_WORD));
		return;
	}
	for (size_t i = 0; i < PEER_KEY_BYTES; i++) {
		out[2 * i] = digits[key->bytes[i] >> 4];
		out[2 * i + 1] = digits[key->bytes[i] & 15];
	}
	out[2 * PEER_KEY_BYTES] = '\0';
}

/* Looks at the open file, not at its name, so that it cannot be swapped in between. */
static int check_key_file(int fd, const char *path, struct error *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return error_set(err, errno, "key file %s: %s", path, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return error_set(err, EISDIR, "key file %s: is a directory", path);
	/* A pipe (process substitution) is private to its two ends, whatever its mode says. */
	if (S_ISREG(st.st_mode) && (st.st_mode & 077))
		return error_set(err, EPERM, "key file %s: others can read it (mode %03o); run "
				 "'chmod 600' on it and use a new key", path,
				 (unsigned int)st.st_mode & 0777);
	return 0;
}

int peer_key_read(int fd, const char *name, struct peer_key *out, struct error *err)
{
	char buf[256] = "";
	size_t got = 0;
	ssize_t n;
	int rc;

	while (got < sizeof(buf) - 1 && !memchr(buf, '\n', got)) {
		n = read(fd, buf + got, sizeof(buf) - 1 - got);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			rc = error_set(err, errno, "key file %s: %s", name, strerror(errno));
			goto out;
		}
		if (n == 0)
			break;
		got += (size_t)n;
	}
	buf[got] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
	rc = peer_key_parse(trim(buf), out);
	if (rc < 0)
		error_set(err, EINVAL, "key file %s: the first line is no key (32 hex digits)",
			  name);
out:
	OPENSSL_cleanse(buf, sizeof(buf));
	return rc;
}

int peer_key_read_file(const char *path, struct peer_key *out, struct error *err)
{
	/* Not blocking: a FIFO nobody writes to must not hang the program. */
	int rc, fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return error_set(err, errno, "key file %s: %s", path, strerror(errno));
	rc = check_key_file(fd, path, err);
	if (rc == 0)
		rc = peer_key_read(fd, path, out, err);
	close(fd);
	return rc;
}
