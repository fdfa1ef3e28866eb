/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/model/pcie.h"

#include <math.h>
#include <stddef.h>

/* One row per generation; symbol times are those of the base specification, section 2.6.1.2. */
static const struct generation {
	double mtps;
	double kernel_mbps;		/* per lane, as the kernel rounds it */
	double coding;			/* of the transfers, what is left after line coding */
	double internal_delay;		/* symbol times until a receiver acknowledges */
	bool flit;
} generations[] = {
	{ .mtps = 2500, .kernel_mbps = 2000, .coding = 8.0 / 10, .internal_delay = 19 },
	{ .mtps = 5000, .kernel_mbps = 4000, .coding = 8.0 / 10, .internal_delay = 70 },
	{ .mtps = 8000, .kernel_mbps = 7876, .coding = 128.0 / 130, .internal_delay = 115 },
	{ .mtps = 16000, .kernel_mbps = 15753, .coding = 128.0 / 130, .internal_delay = 115 },
	{ .mtps = 32000, .kernel_mbps = 31507, .coding = 128.0 / 130, .internal_delay = 115 },
	/* Of the 256 bytes of a flit 236 carry TLPs: DLLPs, CRC and FEC have their own 20. */
	{ .mtps = 64000, .kernel_mbps = 64000, .coding = 236.0 / 256, .flit = true },
};
#define NGENERATIONS (sizeof(generations) / sizeof(generations[0]))

#define ACK_BYTES 8.0		/* framing 2, DLLP 4, CRC 2 */
#define UPDATE_FC_BYTES 8.0
#define SKP_BYTES 4.0
#define SKP_INTERVAL 1538.0
#define ACK_TLP_OVERHEAD 28.0	/* header, sequence, LCRC, framing of the largest TLP, in symbols */

/* Headers with framing, sequence number and LCRC; 64-bit addresses. */
struct tlp_headers { double memory_write, memory_read, completion; };
static const struct tlp_headers framed_headers = { 24, 24, 20 };
/* A flit frames and protects what it carries. */
static const struct tlp_headers flit_headers = { 16, 16, 12 };

#define DESCRIPTOR_BYTES 16.0
#define REGISTER_BYTES 4.0
#define TRANSMIT_WRITEBACK_BATCH 8.0

const struct pcie_device pcie_device_default = {
	.writeback_batch = 1, .irq_batch = 32, .doorbell_batch = 1,
};

const struct pcie_device pcie_device_82599 = {
	.writeback_batch = 1, .irq_batch = 32, .doorbell_batch = 1,
	.receive_reads = 1.0 / 8, .transmit_reads = 1,
};

static const struct generation *generation_of(double mtps)
{
	size_t i;

	for (i = 0; i < NGENERATIONS; i++)
		if (fabs(generations[i].mtps - mtps) < 0.5)
			return &generations[i];
	return NULL;
}

static bool width_usable(double width)
{
	return width >= 1 && width <= 32;	/* 63 and 255 are how registers say unknown */
}

unsigned int pcie_generation(double mtps)
{
	const struct generation *g = generation_of(mtps);

	return g ? (unsigned int)(g - generations) + 1 : 0;
}

double pcie_lane_kernel_mbps(double mtps)
{
	const struct generation *g = generation_of(mtps);

	return g ? g->kernel_mbps : 0;
}

double pcie_raw_bps(double mtps, double width)
{
	const struct generation *g = generation_of(mtps);

	if (!g || !width_usable(width))
		return 0;
	return g->mtps * 1e6 * g->coding * width;
}

/* AckFactor of the base specification: how many TLPs may go unacknowledged. */
static double ack_factor(double width, double mps)
{
	if (width >= 12)
		return mps <= 256 ? 3.0 : 2.0;
	if (width >= 8)
		return mps <= 256 ? 2.5 : 1.0;
	return mps <= 256 ? 1.4 : 1.0;
}

double pcie_dllp_tax(double mtps, double width, double mps)
{
	const struct generation *g = generation_of(mtps);
	double limit;

	if (!g || g->flit || !width_usable(width) || !(mps > 0))
		return 0;
	/*
	 * Symbol times from one acknowledgement to the next; the guideline for
	 * UpdateFC is the same expression.  The specification tabulates it rounded down.
	 */
	limit = floor((mps + ACK_TLP_OVERHEAD) * ack_factor(width, mps) / width +
		      g->internal_delay);
	return ACK_BYTES / limit + UPDATE_FC_BYTES / limit + SKP_BYTES / SKP_INTERVAL;
}

double pcie_tlp_bps(double mtps, double width, double mps)
{
	return pcie_raw_bps(mtps, width) * (1 - pcie_dllp_tax(mtps, width, mps));
}

static const struct tlp_headers *headers_of(double mtps)
{
	const struct generation *g = generation_of(mtps);

	return g && g->flit ? &flit_headers : &framed_headers;
}

double pcie_receive_bps(const struct pcie_link *l, const struct pcie_device *d, double frame_bytes)
{
	const struct tlp_headers *h = headers_of(l->mtps);
	double up;

	if (!(l->mps > 0) || !(frame_bytes > 0) || !(d->writeback_batch > 0))
		return 0;
	up = frame_bytes + h->memory_write * ceil(frame_bytes / l->mps) +
	     (DESCRIPTOR_BYTES + h->memory_write) / d->writeback_batch +
	     (h->completion + REGISTER_BYTES) * d->receive_reads;
	if (d->irq_batch > 0)
		up += (h->memory_write + REGISTER_BYTES) / d->irq_batch;
	return pcie_tlp_bps(l->mtps, l->width, l->mps) * frame_bytes / up;
}

double pcie_transmit_bps(const struct pcie_link *l, const struct pcie_device *d, double frame_bytes)
{
	const struct tlp_headers *h = headers_of(l->mtps);
	double mrrs = l->mrrs > 0 ? l->mrrs : PCIE_MRRS_DEFAULT;
	double chunk = l->mps, completions, reads, down, up;

	if (!(l->mps > 0) || !(frame_bytes > 0) || !(d->doorbell_batch > 0))
		return 0;
	if (d->completion_bytes > 0)
		chunk = fmin(chunk, d->completion_bytes);
	completions = frame_bytes / chunk;
	reads = frame_bytes / mrrs;
	if (!d->contiguous_reads) {
		completions = ceil(completions);
		reads = ceil(reads);
	}
	/* Towards the device: data, descriptors, doorbells, and the driver's register reads. */
	down = frame_bytes + h->completion * completions + DESCRIPTOR_BYTES +
	       (h->memory_write + REGISTER_BYTES) / d->doorbell_batch +
	       h->memory_read * d->transmit_reads;
	/* Towards memory: read requests, descriptor write-backs, interrupts, register values. */
	up = h->memory_read * reads +
	     DESCRIPTOR_BYTES + h->memory_write / TRANSMIT_WRITEBACK_BATCH +
	     (h->completion + REGISTER_BYTES) * d->transmit_reads;
	if (d->irq_batch > 0)
		up += (h->memory_write + REGISTER_BYTES) / d->irq_batch;
	return pcie_tlp_bps(l->mtps, l->width, l->mps) * fmin(frame_bytes / down, frame_bytes / up);
}

bool pcie_goodput(const struct pcie_link *l, bool receive, double frame_bytes,
		  double payload_bytes, double *low_bps, double *high_bps)
{
	double (*rate)(const struct pcie_link *, const struct pcie_device *, double) =
		receive ? pcie_receive_bps : pcie_transmit_bps;
	struct pcie_link low = *l, high = *l;
	double share;

	if (!(pcie_raw_bps(l->mtps, l->width) > 0) || !(frame_bytes > 0) || !(payload_bytes > 0))
		return false;
	if (!(l->mps > 0)) {
		low.mps = PCIE_MPS_LOW;
		high.mps = PCIE_MPS_HIGH;
	}
	share = payload_bytes / frame_bytes;
	*low_bps = rate(&low, &pcie_device_default, frame_bytes) * share;
	*high_bps = rate(&high, &pcie_device_default, frame_bytes) * share * PCIE_MODEL_SLACK;
	return true;
}
