/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMRIG_VM_NUMA_H
#define MMRIG_VM_NUMA_H
/* A NUMA node of a guest. Nodes hold memory and CPUs in order: node 0 has the first of both. */
#include <stdint.h>

#define VM_NODES_MAX 8
#define VM_NODE_LOCAL 10     /* the distance to itself */
#define VM_NODE_FARTHEST 254 /* 255 would mean unreachable */

struct vm_node {
	uint64_t memory_bytes; /* 0: a memory-less node */
	unsigned int cpus;     /* 0: a node of memory alone */
};

#endif
