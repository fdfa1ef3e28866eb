/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/peer/iperf3_wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/core/value.h"
#include "src/peer/wire.h"

int peer_results_init(struct peer_results *r, size_t n)
{
	memset(r, 0, sizeof(*r));
	r->flows = calloc(n ? n : 1, sizeof(*r->flows));
	if (!r->flows)
		return -ENOMEM;
	r->nflows = n;
	for (size_t i = 0; i < n; i++)
		r->flows[i] = (struct peer_flow_result){
			.retransmits = RESULTS_UNKNOWN,
			.seconds = -1
		};
	return 0;
}

void peer_results_free(struct peer_results *r)
{
	free(r->flows);
	free(r->output);
	memset(r, 0, sizeof(*r));
}

int iperf3_frame(const cJSON *obj, unsigned char **out, size_t *len)
{
	char *text = obj ? cJSON_PrintUnformatted(obj) : NULL;
	size_t n = text ? strlen(text) : 0;

	*out = text ? malloc(4 + n) : NULL;
	if (*out) {
		wire_put_be32(*out, (uint32_t)n);
		memcpy(*out + 4, text, n);
		*len = 4 + n;
	}
	cJSON_free(text);
	return *out ? 0 : -ENOMEM;
}

/* 123456789 and 987654321, of a little-endian and of a big-endian machine. */
static const struct { char hello[IPERF3_HELLO_BYTES + 1], answer[IPERF3_HELLO_BYTES + 1]; }
greetings[] = {
	{ IPERF3_HELLO, "6789" },
	{ "\x15\xcd\x5b\x07", "\xb1\x68\xde\x3a" },
	{ "\x07\x5b\xcd\x15", "\x3a\xde\x68\xb1" },
};

bool iperf3_hello_answer(const char *hello, char answer[IPERF3_HELLO_BYTES])
{
	for (size_t i = 0; i < ARRAY_SIZE(greetings); i++) {
		if (memcmp(greetings[i].hello, hello, IPERF3_HELLO_BYTES) != 0)
			continue;
		memcpy(answer, greetings[i].answer, IPERF3_HELLO_BYTES);
		return true;
	}
	return false;
}

bool iperf3_is_hello_answer(const char *bytes, size_t len)
{
	for (size_t i = 0; len == IPERF3_HELLO_BYTES && i < ARRAY_SIZE(greetings); i++)
		if (memcmp(greetings[i].answer, bytes, len) == 0)
			return true;
	return false;
}

/* A code may come from any release; what it says must be of use to who sees it. */
static const struct { uint32_t code; const char *text; } errors[] = {
	{ IPERF3_EDURATION, "it does not allow a run this long" },
	{ IPERF3_ENUMSTREAMS, "it does not allow this many streams" },
	{ IPERF3_EBLOCKSIZE, "it does not allow blocks this large" },
	{ IPERF3_EBUFSIZE, "it does not allow socket buffers this large" },
	{ IPERF3_EMSS, "it does not allow this segment size" },
	{ IPERF3_EOMIT, "it does not allow this warm-up" },
	{ IPERF3_EUNIMP, "it does not know how to do that" },
	{ IPERF3_EUDPBLOCKSIZE, "it does not allow datagrams of this size" },
	{ IPERF3_EBADTOS, "it does not allow this type of service" },
	{ IPERF3_EREVERSEBIDIR, "it cannot do both directions and reverse" },
	{ IPERF3_ETOTALRATE, "it limits the total rate" },
	{ IPERF3_EMAXDURATION, "it does not allow a run this long" },
	{ IPERF3_ENEWTEST, "it could not set a test up" },
	{ IPERF3_EINITTEST, "it could not set a test up" },
	{ 106, "it got no cookie" },
	{ 109, "it lost the control connection" },
	{ IPERF3_ERECVPARAMS, "it could not read our parameters" },
	{ 115, "it could not put its results together" },
	{ 116, "it could not send its results" },
	{ 117, "it could not read our results" },
	{ 119, "another client had ended its test" },
	{ IPERF3_EACCESSDENIED, "it is busy with another test" },
	{ 124, "it could not set the socket buffers asked for" },
	{ IPERF3_EPROTOCOL, "it does not know that protocol" },
	{ IPERF3_ESETCONGESTION, "it has no such congestion control" },
	{ 140, "it could not set the pacing rate asked for" },
	{ 141, "its kernel gives smaller socket buffers than asked for" },
	{ IPERF3_EAUTHTEST, "it wants a user name and a password" },
	{ 144, "it heard nothing from us for too long" },
	{ IPERF3_EDURATIONEXPIRED, "a run there took too long" },
	{ IPERF3_ECREATESTREAM, "it could not make a stream" },
	{ 201, "it could not make a stream" },
	{ 202, "it could not listen for streams" },
	{ 203, "it could not make a stream" },
	{ 204, "it could not accept our streams" },
	{ 205, "it could not write to a stream" },
	{ 206, "it could not read from a stream" },
	{ 208, "it does not know one of the streams in our results" },
};

const char *iperf3_error_text(uint32_t code)
{
	for (size_t i = 0; i < ARRAY_SIZE(errors); i++)
		if (errors[i].code == code)
			return errors[i].text;
	return "it gave no reason that we know";
}
