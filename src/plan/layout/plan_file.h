/* Parts of plan files that plans of one kind of chip and of fleets share. */
#ifndef RIDGE_PLAN_PLAN_FILE_H
#define RIDGE_PLAN_PLAN_FILE_H

#include "ridge/plan.h"

/* clang-format off */
/** Keys of what was asked. */
#define PLAN_FILE_HEAD_KEYS                                                          \
    "format", "version", "model", "slice", "batch_tokens", "seq_tokens",              \
    "total_tokens", "convention", "expert_imbalance", "documents", "stack"
/** Keys of a layout. */
#define PLAN_FILE_LAYOUT_KEYS                                                        \
    "mesh", "placement", "placement_index", "zero_stage", "sp", "vpp", "schedule",    \
    "first_layers", "last_layers", "mtp", "cp_exchange", "ep_dispatch",               \
    "microbatch_seqs",                                                                \
    "remat", "remat_layers", "offload", "precision", "optimizer", "lora_rank",        \
    "lora_targets", "tp_overlap",                                                     \
    "fsdp_overlap", "dp_overlap", "pp_overlap", "ep_overlap"
/* clang-format on */

/** Set PLAN_FILE_HEAD_KEYS but for format and version. */
void plan_file_set_head(ridge_ctx *cx, ridge_json *object,
                        const ridge_train_request *request, const char *model_name,
                        const char *slice_text);
/** Set PLAN_FILE_LAYOUT_KEYS. */
void plan_file_set_layout(ridge_ctx *cx, ridge_json *object,
                          const ridge_train_request *request,
                          const ridge_layout *layout);

/** @param out  all but its layout. @errors E_PARSE with file:line */
RIDGE_NODISCARD ridge_status plan_file_read_head(ridge_ctx *cx, const ridge_node *root,
                                                 ridge_plan *out);
/** What the reader of a name said of it, with its place in the file.
 *  @errors E_PARSE with file:line */
RIDGE_NODISCARD ridge_status plan_file_fail_name(ridge_ctx *cx, ridge_node name);
/** @errors E_PARSE with file:line */
RIDGE_NODISCARD ridge_status plan_file_read_layout(ridge_ctx *cx,
                                                   const ridge_node *root,
                                                   ridge_layout *out);

#endif
