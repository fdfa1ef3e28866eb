/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Interrupt vectors of NICs and the queues they serve, as screens name them.  Pure. */
#ifndef ND_UI_VECTORS_H
#define ND_UI_VECTORS_H

#include "ui/scene.h"

/* "eth0-TxRx-3" -> 3, "mlx5_comp3@pci:0000:3b:00.0" -> 3; false: it ends in no number. */
bool vector_queue(const char *name, unsigned int *queue);
/* The CPU that serves it: its one effective CPU, else its one allowed; false: not one. */
bool vector_cpu(const struct irq_facts *irq, unsigned int *cpu);
/* "eth0 queue 3", "eth0 q3" (brief), or the vector's own name. */
void vector_name(const struct facts *f, const struct irq_facts *irq, bool brief,
		 struct text *out);
/*
 * Per-queue packets among a driver's counters: "rx_queue_3_packets", "rx3_packets",
 * "queue_3_rx_cnt", "[3]: rx_ucast_packets".
 */
bool queue_packets_name(const char *name, bool *receive, unsigned int *queue);

#endif
