/* What a kernel reads, writes and computes. Layer-internal. */
#ifndef RIDGE_HLO_TRAFFIC_H
#define RIDGE_HLO_TRAFFIC_H

#include "hlo_kernel.h"
#include "hlo_work.h"

typedef struct hlo_traffic {
    double read_bytes, written_bytes; /* HBM */
    double fast_bytes, host_bytes;    /* VMEM, the host's memory */
    double padded_bytes;              /* HBM, with the padding of layouts */
    hlo_work work;                    /* without products */
    int n_operations;                 /* that it runs */
    int product;                      /* the largest product in it, a node; -1: none */
    int n_products;
    const int *products; /* nodes, in the meter's room until the next kernel */
} hlo_traffic;

typedef struct hlo_traffic_meter hlo_traffic_meter;

/** @param chip  NULL: none; a TPU tiles arrays whose layout says nothing
 *  @owner cx's scratch. @errors E_NOMEM */
RIDGE_NODISCARD ridge_status hlo_traffic_open(ridge_ctx *cx,
                                              const ridge_hlo_module *module,
                                              const hlo_kernels *kernels,
                                              const ridge_chip *chip, bool is_compiled,
                                              hlo_traffic_meter **out);
/** Each input counts once, and only the part of it that is used. */
hlo_traffic hlo_traffic_of(hlo_traffic_meter *meter, int kernel);

/** Shapes of a node's inputs as its instruction sees them, in the meter's room until
 * the next call. */
const ridge_hlo_shape *const *hlo_traffic_operands(hlo_traffic_meter *meter, int node);
/** The format in which an input of a node lies in memory, before what is computed
 * inside converts it. */
ridge_hlo_type hlo_traffic_stored(const hlo_kernels *kernels, int node, int input);

#endif
