/*
 * A plan on its way into a framework's options: a value for each field that the
 * framework is to be told, and the writers of the formats.
 */
#ifndef RIDGE_PLAN_LAUNCH_DRAFT_H
#define RIDGE_PLAN_LAUNCH_DRAFT_H

#include "launch_dims.h"
#include "launch_field.h"
#include "ridge/plan_launch.h"

typedef struct launch_draft {
    ridge_ctx *cx;
    const char *launcher; /* for messages: "Megatron-LM" */
    const ridge_train_request *request;
    const char *model_name;
    const ridge_layout *layout;
    int64_t batch_seqs, seq_tokens;
    int64_t replicas;     /* dp x fsdp */
    int64_t microbatches; /* of a replica in a step */
    launch_dims dims;
    const char *value[LAUNCH_FIELD_COUNT]; /* NULL: not written; "": a flag alone */
    ridge_launch_text *out;
} launch_draft;

/** What all frameworks need of a plan.
 * @errors E_ARG a batch that its replicas do not share evenly; a fleet that is mixed */
RIDGE_NODISCARD ridge_status launch_draft_open(
    ridge_ctx *cx, const ridge_train_request *request, const char *model_name,
    const ridge_layout *layout, ridge_launch_text *out, launch_draft *draft);

/** Choices that a framework has, as bits 1 << ridge_schedule and so on. What a plan
 * chooses beside them is refused, with what to plan instead. */
typedef struct launch_ability {
    unsigned schedules, exchanges, optimizers;
    unsigned offload; /* RIDGE_OFFLOAD_* */
    bool has_ends;    /* stages of chosen sizes */
    bool has_partial_remat;
    bool has_named_remat; /* of single operations, at least of some sets */
    bool has_mtp;         /* layers that predict further tokens */
} launch_ability;

RIDGE_NODISCARD ridge_status launch_draft_check(launch_draft *draft,
                                                const launch_ability *ability);

void launch_draft_i64(launch_draft *draft, launch_field field, int64_t v);
void launch_draft_text(launch_draft *draft, launch_field field, const char *z);
/** Set a flag if @p is_on. */
void launch_draft_flag(launch_draft *draft, launch_field field, bool is_on);
RIDGE_PRINTF(2, 3) void launch_draft_note(launch_draft *draft, const char *fmt, ...);
/** "LAUNCHER has no X: Y instead". @return E_ARG */
RIDGE_NODISCARD RIDGE_PRINTF(2, 3) ridge_status
    launch_draft_refuse(launch_draft *draft, const char *fmt, ...);

/** "# " before each line of a title and of the notes, where the format has comments. */
void launch_draft_comments(launch_draft *draft);

/** Fill the draft as Megatron's options say it: also for Megatron-Bridge. */
RIDGE_NODISCARD ridge_status launch_megatron_fill(launch_draft *draft);

/* Writers: the whole text. @errors E_ARG what the framework cannot express; E_NOMEM */
RIDGE_NODISCARD ridge_status launch_megatron_write(launch_draft *draft);
RIDGE_NODISCARD ridge_status launch_bridge_write(launch_draft *draft);
RIDGE_NODISCARD ridge_status launch_maxtext_write(launch_draft *draft);
RIDGE_NODISCARD ridge_status launch_torchtitan_write(launch_draft *draft);
RIDGE_NODISCARD ridge_status launch_deepspeed_write(launch_draft *draft);
RIDGE_NODISCARD ridge_status launch_jax_write(launch_draft *draft);
/** What launch_jax_write refuses: a mesh of those axes cannot be made. */
RIDGE_NODISCARD ridge_status launch_jax_check(launch_draft *draft);

#endif
