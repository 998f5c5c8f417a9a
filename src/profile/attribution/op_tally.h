/*
 * What the sweeps of one trace's devices find of each operation. Layer-internal.
 */
#ifndef RIDGE_PROFILE_OP_TALLY_H
#define RIDGE_PROFILE_OP_TALLY_H

#include "ridge/profile.h"

#include "trace_store.h"

/** An operation within a context; a key of op_tally.keys. */
typedef struct tally_key {
    uint32_t op, context;
} tally_key;

typedef struct tally_op {
    ridge_profile_class class;
    ridge_profile_part part;
    int64_t count, time_ns, least_ns, most_ns, exposed_ns;
} tally_op;

/** One run of a collective. */
typedef struct tally_run {
    int64_t start_ns, length_ns;
    uint32_t number; /* of the operation */
    uint32_t device;
} tally_run;

/** Time without work by what the host did. */
typedef struct tally_gap {
    int64_t count, time_ns;
    bool is_sync;
} tally_gap;

typedef struct op_tally {
    trace_store *store;
    name_table keys; /* tally_key */
    tally_op *ops;   /* by number */
    uint32_t room;
    record_list runs; /* tally_run, of collectives within the steps */
    uint32_t device;  /* at hand */
    tally_gap *gaps;  /* by host_op of the cause */
    uint32_t n_gaps;
} op_tally;

RIDGE_NODISCARD ridge_status op_tally_init(trace_store *store, op_tally *out);
/** The number of an operation in a context; its row is there. NAME_NONE: memory. */
uint32_t op_tally_number(op_tally *tally, uint32_t op, uint32_t context);
const tally_key *op_tally_key(const op_tally *tally, uint32_t number);
/** The device waited for the host. */
void op_tally_gap(op_tally *tally, uint32_t thread, int64_t start_ns, int64_t end_ns);

#endif
