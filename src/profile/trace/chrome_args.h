/*
 * What is read of the "args" of an event, whatever its dialect. Layer-internal.
 */
#ifndef RIDGE_PROFILE_CHROME_ARGS_H
#define RIDGE_PROFILE_CHROME_ARGS_H

#include "json_scan.h"

/** Values as they stand in the text; a kind of 0: not there. */
typedef struct chrome_args {
    scan_value correlation;              /* "correlation", "correlation_id" */
    scan_value bytes;                    /* "bytes", "bytes_accessed" */
    scan_value flops;                    /* "model_flops", "matmul_flops" */
    scan_value dims, types;              /* "Input Dims", "Input type" */
    scan_value values;                   /* "Concrete Inputs" */
    scan_value sequence, forward_thread; /* "Sequence number", "Fwd thread id" */
    scan_value collective, in_elements, out_elements, ranks, dtype, group;
    scan_value long_name, category, source, scope, op, module; /* of XLA */
    scan_value name, labels;                                   /* of metadata */
    scan_value stage;                                          /* of Ridge */
} chrome_args;

/** The object at s. @return as scan_any */
scan_result chrome_args_scan(json_scan *s, chrome_args *out);

#endif
