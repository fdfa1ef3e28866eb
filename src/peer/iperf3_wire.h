/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * iperf3's control protocol: states, error codes, parameters and results as
 * JSON both ways.  Internal to src/peer.  All of it is pure and takes any bytes.
 *
 * One TCP connection carries it: 37 bytes of cookie, then state bytes, and
 * JSON texts behind a 32 bit length.  The files iperf3_client.c and
 * iperf3_session.c play the two ends.
 */
#ifndef ND_PEER_IPERF3_WIRE_H
#define ND_PEER_IPERF3_WIRE_H

#include <sys/types.h>

#include "src/peer/peer.h"
#include "src/peer/results.h"

/* State bytes, a signed char on the wire. */
enum iperf3_state {
	IPERF3_TEST_START = 1,
	IPERF3_TEST_RUNNING = 2,
	IPERF3_TEST_END = 4,
	IPERF3_PARAM_EXCHANGE = 9,
	IPERF3_CREATE_STREAMS = 10,
	IPERF3_SERVER_TERMINATE = 11,
	IPERF3_CLIENT_TERMINATE = 12,
	IPERF3_EXCHANGE_RESULTS = 13,
	IPERF3_DISPLAY_RESULTS = 14,
	IPERF3_DONE = 16,
	IPERF3_SERVER_ERROR = 0xfe,	/* int32 iperf3 error code and int32 errno follow */
	IPERF3_ACCESS_DENIED = 0xff
};

/* Error codes that we send. */
enum iperf3_error {
	IPERF3_EDURATION = 5,
	IPERF3_ENUMSTREAMS = 6,
	IPERF3_EBLOCKSIZE = 7,
	IPERF3_EBUFSIZE = 8,
	IPERF3_EMSS = 10,
	IPERF3_EOMIT = 12,
	IPERF3_EUNIMP = 13,
	IPERF3_EBURST = 15,
	IPERF3_EUDPBLOCKSIZE = 20,
	IPERF3_EBADTOS = 21,
	IPERF3_EREVERSEBIDIR = 25,
	IPERF3_ETOTALRATE = 27,
	IPERF3_EMAXDURATION = 37,
	IPERF3_ENEWTEST = 100,
	IPERF3_EINITTEST = 101,
	IPERF3_EACCESSDENIED = 121,
	IPERF3_ERECVPARAMS = 114,
	IPERF3_ESETFLOW = 127,
	IPERF3_EPROTOCOL = 131,
	IPERF3_ESETCONGESTION = 134,
	IPERF3_EAUTHTEST = 142,
	IPERF3_EDURATIONEXPIRED = 160,
	IPERF3_ESETBUF2 = 141,
	IPERF3_ERECVRESULTS = 117,
	IPERF3_ECREATESTREAM = 200,
	IPERF3_EINITSTREAM = 201
};

enum {
	IPERF3_MAX_STREAMS = 128,
	IPERF3_MAX_OMIT_S = 600,
	IPERF3_MAX_TCP_BLOCK_BYTES = 1024 * 1024,
	IPERF3_MAX_BUFFER_BYTES = 512 * 1024 * 1024,
	IPERF3_HELLO_BYTES = 4,	/* of a UDP stream, and of the answer */
	IPERF3_MAX_TOKEN = 2048,	/* bytes of base64: RSA keys up to 12288 bits */
	IPERF3_MAX_RESULTS = 8 * 1024 * 1024	/* bytes of JSON, the server's output in it */
};

/* Bytes of the results of a client, who proves nothing: a stream takes about 250. */
static inline size_t iperf3_max_client_results(size_t streams)
{
	return 16384 + streams * 1024;
}

enum {
	IPERF3_MESSAGE_S = 10,	/* what iperf3 waits for a message beyond what the test takes */
	/* A client's clock ends a test; if it does not, we stop sending so much after that ... */
	IPERF3_OVERRUN_S = 2,
	IPERF3_GUARD_S = 5	/* ... and then wait so long for its word */
};

/* Ids of streams are 1, 3, 4, 5 ...: 2 was skipped by mistake once, and stays so for all time. */
static inline int64_t iperf3_stream_id(size_t flow)
{
	return flow == 0 ? 1 : (int64_t)flow + 2;
}

struct iperf3_parameters {
	/* warm-up: omit.  window_ms: time, 0 while bytes or blocks alone end the test. */
	struct run_spec spec;
	bool get_server_output;
	bool udp_64bit_counters;
	char token[IPERF3_MAX_TOKEN + 1];	/* authtoken, "": none */
	char client_version[32];	/* printable; "": not given */
	bool netdoctor;			/* send our own key too: a netdoctor answers it */
};

/* 0, or the enum iperf3_error that says what is wrong with them. */
int iperf3_parse_parameters(const char *text, size_t len, struct iperf3_parameters *out);
/*
 * iperf3 sends whole blocks only, and a receiver of one may wait for all of it: an amount is what
 * its blocks hold.
 */
void iperf3_round_amount(struct run_spec *s);
/* Length and JSON; the caller frees *out.  0 or -ENOMEM. */
int iperf3_format_parameters(const struct iperf3_parameters *p, unsigned char **out, size_t *len);

/*
 * Results of a run of n flows, each told exactly once: 0, -EINVAL, -ENOMEM.  Free *out also after
 * an error.
 */
int iperf3_parse_results(const char *text, size_t len, size_t n, struct peer_results *out);
/* sender: this end sends in at least one flow.  output may be NULL.  0 or -ENOMEM. */
int iperf3_format_results(const struct peer_results *r, bool sender, unsigned char **out,
			  size_t *len);

/* What a client opens a UDP stream with: all servers take it. */
#define IPERF3_HELLO "9876"
/* Either end before 3.12 wrote a number as its machine has it: the answer to it is of its kind. */
bool iperf3_hello_answer(const char *hello, char answer[IPERF3_HELLO_BYTES]);	/* false: none */
/* The answer of any release's server. */
bool iperf3_is_hello_answer(const char *bytes, size_t len);

/* The length and JSON of any object; 0 or -ENOMEM. */
int iperf3_frame(const cJSON *obj, unsigned char **out, size_t *len);

/* What an error code of a server's means, for people; never NULL. */
const char *iperf3_error_text(uint32_t code);

#endif
