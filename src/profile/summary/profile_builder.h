/*
 * A profile gathered from one or several files: each file's store is summed up and let
 * go before the next is read. Layer-internal.
 */
#ifndef RIDGE_PROFILE_PROFILE_BUILDER_H
#define RIDGE_PROFILE_PROFILE_BUILDER_H

#include "op_tally.h"
#include "step_find.h"

/** One run of a collective, kept to be matched with those of other ranks. */
typedef struct built_run {
    int64_t start_ns, length_ns;
    int64_t sequence;    /* among those of its group, of any kind, on its device */
    uint32_t collective; /* in profile_builder.collectives */
    uint32_t device;
} built_run;

typedef struct profile_builder {
    ridge_ctx *cx;
    const ridge_profile_request *request;
    ridge_profile *out;
    name_table texts;   /* kept for good */
    name_table op_keys; /* numbers of texts, and the kind */
    record_list ops;    /* ridge_profile_op */
    name_table collective_keys;
    record_list collectives; /* ridge_profile_collective */
    record_list runs;        /* built_run */
    record_list devices;     /* ridge_profile_device */
    name_table gap_keys;
    record_list gaps;   /* ridge_profile_gap */
    record_list losses; /* ridge_profile_loss */
    record_list ranks;  /* ridge_profile_rank */
} profile_builder;

RIDGE_NODISCARD ridge_status profile_builder_init(ridge_ctx *cx,
                                                  const ridge_profile_request *request,
                                                  ridge_profile *out,
                                                  profile_builder *builder);
/** Sum up a file that was read. @param path  kept by copy */
RIDGE_NODISCARD ridge_status profile_builder_add(profile_builder *b, const char *path,
                                                 trace_store *store);
/** Put all together: totals, orders, waits between ranks. */
RIDGE_NODISCARD ridge_status profile_builder_end(profile_builder *b);

/** Keep the operations of a device's middle step. @errors E_NOMEM */
RIDGE_NODISCARD ridge_status builder_step_keep(profile_builder *b, op_tally *tally,
                                               const device_tracks *device,
                                               const found_steps *found,
                                               const launch_index *launches);
/** Operations of a store into the builder. @param tally  of all its devices */
RIDGE_NODISCARD ridge_status builder_ops_add(profile_builder *b, op_tally *tally);
/** The same of collectives' runs. @param first_device  number of the tally's device 0
 */
RIDGE_NODISCARD ridge_status builder_runs_add(profile_builder *b, op_tally *tally,
                                              uint32_t first_device);
/** Medians, waits and rates of the collectives. */
RIDGE_NODISCARD ridge_status builder_runs_end(profile_builder *b);
/** The text in memory that stays; "" once memory is short. */
const char *builder_text(profile_builder *b, const char *text);

/** Chip and limits: rooflines of operations, network of collectives. */
RIDGE_NODISCARD ridge_status profile_roofline_set(ridge_ctx *cx,
                                                  const ridge_profile_request *request,
                                                  ridge_profile *profile);
/** What to do, in profile->advice. */
RIDGE_NODISCARD ridge_status profile_advice_set(ridge_ctx *cx, ridge_profile *profile);

#endif
