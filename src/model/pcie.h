/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * PCIe: what a link carries for a NIC.
 *
 * Pure arithmetic after Neugebauer et al., "Understanding PCIe performance for
 * end host networking" (SIGCOMM 2018), with the acknowledge and flow-control
 * rates of the PCI Express base specification.  Rates are bit/s per direction
 * of the link, sizes bytes, speeds megatransfers per second (8000 = 8 GT/s).
 */
#ifndef ND_MODEL_PCIE_H
#define ND_MODEL_PCIE_H

#include <stdbool.h>

/* Payload sizes found in the field when DevCtl cannot be read. */
#define PCIE_MPS_LOW 128
#define PCIE_MPS_HIGH 512
#define PCIE_MRRS_DEFAULT 512
/*
 * Measured rates are up to this much above the model: acknowledgements travel
 * against the data, and most devices batch more than the modelled one.
 */
#define PCIE_MODEL_SLACK 1.05

/* Generation 1..6 of a link speed, 0 when it is none of them. */
unsigned int pcie_generation(double mtps);
/* The kernel's bandwidth of one lane, Mbit/s (dmesg, PCIE_SPEED2MBS_ENC); 0 unknown. */
double pcie_lane_kernel_mbps(double mtps);
/* Bits per second after line coding (generation 6: what a flit carries of TLPs); 0 unknown. */
double pcie_raw_bps(double mtps, double width);
/* Share of the raw rate taken by ACK and UpdateFC DLLPs and SKP sets; 0 in flit mode. */
double pcie_dllp_tax(double mtps, double width, double mps);
/* Rate left for TLPs: raw x (1 - tax). */
double pcie_tlp_bps(double mtps, double width, double mps);

/* How a device and its driver use the link besides the packets' bytes. */
struct pcie_device {
	double writeback_batch;		/* receive descriptors written back at once */
	double irq_batch;		/* packets per interrupt message; 0: none (polling) */
	double doorbell_batch;		/* packets per tail pointer write */
	double receive_reads;		/* register reads by the driver per received packet */
	double transmit_reads;		/* the same per sent packet */
	double completion_bytes;	/* largest completion; 0: MPS (old roots split at 64) */
	bool contiguous_reads;		/* segmentation offload: no rounding per packet */
};

/* Today's drivers: descriptors one by one, an interrupt per 32, no register reads. */
extern const struct pcie_device pcie_device_default;
/* The 82599 with its kernel driver of 2018, which the published tables are for. */
extern const struct pcie_device pcie_device_82599;

struct pcie_link { double mtps, width, mps, mrrs; };	/* mrrs 0: PCIE_MRRS_DEFAULT */

/* Layer-2 bytes per second (as bit/s) that packets of frame_bytes (no FCS) can reach. */
double pcie_receive_bps(const struct pcie_link *l, const struct pcie_device *d, double frame_bytes);
double pcie_transmit_bps(const struct pcie_link *l, const struct pcie_device *d,
			 double frame_bytes);

/*
 * Goodput of a NIC in one direction, as an interval: [model, model x PCIE_MODEL_SLACK], and over
 * PCIE_MPS_LOW..PCIE_MPS_HIGH when l->mps is 0 (not known).  payload_bytes of frame_bytes are
 * the application's.  False, and nothing written, when speed or width is unknown (0).
 */
bool pcie_goodput(const struct pcie_link *l, bool receive, double frame_bytes,
		  double payload_bytes, double *low_bps, double *high_bps);

#endif
