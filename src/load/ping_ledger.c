/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The pure half of ping.h. */
#include "src/load/ping.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

void ping_message_put(unsigned char to[PING_MESSAGE_BYTES], const struct ping_message *m)
{
	uint64_t words[2] = { htobe64(m->number), htobe64(m->held_ns) };

	memcpy(to, words, sizeof(words));
}

void ping_message_get(const unsigned char from[PING_MESSAGE_BYTES], struct ping_message *m)
{
	uint64_t words[2];

	memcpy(words, from, sizeof(words));
	m->number = be64toh(words[0]);
	m->held_ns = be64toh(words[1]);
}

bool ping_ledger_ask(struct ping_ledger *l, enum ping_phase phase, uint64_t now_ns)
{
	size_t at = l->sent % PING_IN_FLIGHT, before = (l->sent - 1) % PING_IN_FLIGHT;

	if (l->sent > l->answered && l->open[before].phase == PING_LOADED) {
		l->open[before].beats++;
		return false;
	}
	if (l->sent - l->answered >= PING_IN_FLIGHT)
		return false;
	l->open[at].sent_ns = now_ns;
	l->open[at].beats = 1;
	l->open[at].phase = phase;
	l->sent++;
	return true;
}

int ping_ledger_answer(struct ping_ledger *l, const struct ping_message *m, uint64_t now_ns,
		       uint64_t queued_ns)
{
	size_t at = l->answered % PING_IN_FLIGHT;

	if (l->answered == l->sent || m->number != l->answered)
		return -EBADMSG;
	enum ping_phase phase = l->open[at].phase;
	uint64_t sent = l->open[at].sent_ns;
	uint64_t took = now_ns > sent ? now_ns - sent : 0;
	l->answered++;
	/* Half of it was under load: it belongs to neither. */
	if (phase == PING_IDLE && now_ns > l->idle_until_ns) {
		l->result.unanswered[PING_IDLE]++;
		return 0;
	}
	if (queued_ns < took)
		took -= queued_ns;
	if (m->held_ns < took)
		took -= m->held_ns;
	for (uint64_t i = 0; i < l->open[at].beats; i++)
		histogram_add(&l->result.times[phase], took);
	return 0;
}

void ping_ledger_close(struct ping_ledger *l)
{
	while (l->answered < l->sent)
		l->result.unanswered[l->open[l->answered++ % PING_IN_FLIGHT].phase]++;
}
