/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The end of a plain iperf3 client's test: its results for ours. */
#include <errno.h>
#include <stdlib.h>

#include "src/peer/iperf3_output.h"
#include "src/peer/iperf3_session.h"
#include "src/peer/server.h"
#include "src/peer/wire.h"

enum { FIRST_TEXT_BYTES = 64 * 1024 };

/* A text of a length that came before it, its buffer growing with what arrives. */
static int receive_text(struct iperf3_session *is, char **out, size_t *len)
{
	uint64_t deadline = deadline_in_ms(IPERF3_MESSAGE_S * 1000);
	unsigned char length[4];
	size_t got = 0;
	int rc = iperf3_receive(is, length, sizeof(length), deadline);

	*out = NULL;
	if (rc < 0)
		return rc;
	*len = wire_get_be32(length);
	if (*len < 2 || *len > iperf3_max_client_results(run_flows(&is->parameters.spec)))
		return -EMSGSIZE;
	while (rc == 0 && got < *len) {
		size_t n = got ? got : FIRST_TEXT_BYTES;
		char *grown;

		if (n > *len - got)
			n = *len - got;
		grown = realloc(*out, got + n);
		if (!grown)
			return -ENOMEM;
		*out = grown;
		rc = iperf3_receive(is, *out + got, n, deadline);
		got += n;
	}
	return rc;
}

static int send_results(struct iperf3_session *is)
{
	const struct run_spec *s = &is->parameters.spec;
	bool sender = run_server_sends(s);
	unsigned char *frame;
	size_t len;
	int rc;

	if (is->parameters.get_server_output)
		is->ours.output = iperf3_output(s, &is->ours, is->info.address);
	rc = iperf3_format_results(&is->ours, sender, &frame, &len);
	if (rc < 0)
		return rc;
	rc = wire_send(is->fd, frame, len, deadline_in_ms(is->server->timing->send_ms));
	free(frame);
	return rc;
}

static int exchange(struct iperf3_session *is, struct peer_results *theirs)
{
	unsigned char state;
	char *text = NULL;
	size_t len = 0;
	int rc = iperf3_say(is, IPERF3_EXCHANGE_RESULTS);

	if (rc == 0)
		rc = receive_text(is, &text, &len);
	if (rc == 0)
		rc = iperf3_parse_results(text, len, run_flows(&is->parameters.spec), theirs);
	free(text);
	if (rc == -EINVAL || rc == -EMSGSIZE)
		return iperf3_refuse(is, IPERF3_ERECVRESULTS, "its results make no sense");
	if (rc == -EUSERS)
		return iperf3_refuse(is, IPERF3_ERECVRESULTS,
				     "its results do not come, and another client needs its "
				     "place");
	if (rc == 0)
		rc = send_results(is);
	if (rc == 0)
		rc = iperf3_say(is, IPERF3_DISPLAY_RESULTS);
	/* Its 16, or that it hangs up: closing first could cost it our last bytes. */
	if (rc == 0)
		iperf3_receive(is, &state, 1, deadline_in_ms(is->server->timing->send_ms));
	return rc;
}

int iperf3_exchange(struct iperf3_session *is, struct peer_results *theirs)
{
	int rc;

	is->exchanges = true;
	iperf3_begin_due(is, (uint64_t)is->server->timing->silence_ms * 1000000u);
	rc = exchange(is, theirs);
	iperf3_end_due(is);
	return rc;
}
