/* Knobs that the user fixes, from "key=value". */
#include "ridge/plan_layout.h"

#include <stddef.h>
#include <string.h>

enum { DEGREE_MOST = 100000000 };

ridge_knobs ridge_knobs_free(void)
{
    ridge_knobs k = {.zero_stage = RIDGE_ZERO_FREE,
                     .remat = RIDGE_REMAT_FREE,
                     .has_sp = RIDGE_FLAG_FREE,
                     .schedule = RIDGE_KNOB_FREE,
                     .offload = RIDGE_KNOB_FREE,
                     .cp_exchange = RIDGE_KNOB_FREE,
                     .ep_dispatch = RIDGE_KNOB_FREE,
                     .placement = RIDGE_KNOB_FREE,
                     .precision = RIDGE_PRECISION_BF16,
                     .optimizer = RIDGE_OPTIMIZER_ADAMW};
    for (int i = 0; i < RIDGE_OVERLAP_COUNT; i++)
        k.overlap[i] = RIDGE_FLAG_FREE;
    return k;
}

typedef enum knob_kind {
    KNOB_DEGREE,
    KNOB_STAGE,
    KNOB_FLAG,
    KNOB_ZERO,
    KNOB_MTP,
    KNOB_REMAT,
    KNOB_PRECISION,
    KNOB_OPTIMIZER,
    KNOB_LORA,
    KNOB_SCHEDULE,
    KNOB_OFFLOAD,
    KNOB_CP,
    KNOB_PLACEMENT,
    KNOB_DISPATCH
} knob_kind;

typedef struct knob {
    const char *name;
    knob_kind kind;
    size_t offset; /* of the field in ridge_knobs */
} knob;

static const knob knobs_known[] = {
    {"dp", KNOB_DEGREE, offsetof(ridge_knobs, dp)},
    {"fsdp", KNOB_DEGREE, offsetof(ridge_knobs, fsdp)},
    {"tp", KNOB_DEGREE, offsetof(ridge_knobs, tp)},
    {"cp", KNOB_DEGREE, offsetof(ridge_knobs, cp)},
    {"pp", KNOB_DEGREE, offsetof(ridge_knobs, pp)},
    {"ep", KNOB_DEGREE, offsetof(ridge_knobs, ep)},
    {"vpp", KNOB_DEGREE, offsetof(ridge_knobs, vpp)},
    {"microbatch", KNOB_DEGREE, offsetof(ridge_knobs, microbatch_seqs)},
    {"zero", KNOB_ZERO, offsetof(ridge_knobs, zero_stage)},
    {"sp", KNOB_FLAG, offsetof(ridge_knobs, has_sp)},
    {"cp_exchange", KNOB_CP, offsetof(ridge_knobs, cp_exchange)},
    {"ep_dispatch", KNOB_DISPATCH, offsetof(ridge_knobs, ep_dispatch)},
    {"placement", KNOB_PLACEMENT, offsetof(ridge_knobs, placement)},
    {"schedule", KNOB_SCHEDULE, offsetof(ridge_knobs, schedule)},
    {"first_layers", KNOB_STAGE, offsetof(ridge_knobs, first_layers)},
    {"last_layers", KNOB_STAGE, offsetof(ridge_knobs, last_layers)},
    {"mtp", KNOB_MTP, offsetof(ridge_knobs, mtp)},
    {"remat", KNOB_REMAT, offsetof(ridge_knobs, remat)},
    {"remat_layers", KNOB_DEGREE, offsetof(ridge_knobs, remat_layers)},
    {"offload", KNOB_OFFLOAD, offsetof(ridge_knobs, offload)},
    {"precision", KNOB_PRECISION, offsetof(ridge_knobs, precision)},
    {"optimizer", KNOB_OPTIMIZER, offsetof(ridge_knobs, optimizer)},
    {"lora_rank", KNOB_DEGREE, offsetof(ridge_knobs, lora.rank)},
    {"lora_targets", KNOB_LORA, offsetof(ridge_knobs, lora.targets)},
#define OVERLAP_KNOB(name, text, what)                                                 \
    {text, KNOB_FLAG,                                                                  \
     offsetof(ridge_knobs, overlap) + RIDGE_OVERLAP_##name * sizeof(int)},
    RIDGE_OVERLAP_LIST(OVERLAP_KNOB)
#undef OVERLAP_KNOB
};

static ridge_status set_degree(ridge_ctx *cx, int64_t *field, const char *key,
                               const char *value)
{
    int64_t v;
    if (!ridge_parse_i64(ridge_str_of(value), &v) || v < 1 || v > DEGREE_MOST) {
        return ridge_fail(cx, RIDGE_E_ARG,
                          "%s=%s: expected a whole number from 1 to %d", key, value,
                          DEGREE_MOST);
    }
    *field = v;
    return RIDGE_OK;
}

static ridge_status set_small(ridge_ctx *cx, int *field, const char *key,
                              const char *value, int most)
{
    int64_t v;
    if (!ridge_parse_i64(ridge_str_of(value), &v) || v < 0 || v > most) {
        return ridge_fail(cx, RIDGE_E_ARG,
                          "%s=%s: expected a whole number from 0 to %d", key, value,
                          most);
    }
    *field = (int)v;
    return RIDGE_OK;
}

/* A policy, names of operations, or "operations": the search chooses them. */
static ridge_status set_remat(ridge_ctx *cx, ridge_knobs *knobs, const char *value)
{
    ridge_remat remat;
    ridge_remat_ops ops = 0;
    const bool is_list = strpbrk(value, "+,") != NULL;
    if (!is_list && ridge_remat_parse(cx, value, &remat) == RIDGE_OK) {
        knobs->remat = (int)remat;
        knobs->remat_ops = 0;
        return RIDGE_OK;
    }
    if (strcmp(value, "operations") != 0 &&
        ridge_remat_ops_parse(cx, value, &ops) != RIDGE_OK) {
        RIDGE_TRY(is_list ? ridge_remat_ops_parse(cx, value, &ops)
                          : ridge_remat_parse(cx, value, &remat));
    }
    knobs->remat = RIDGE_REMAT_OPERATIONS;
    knobs->remat_ops = ops;
    return RIDGE_OK;
}

/* Layers of an end stage: 0 leaves it the embedding or the head alone. */
static ridge_status set_stage(ridge_ctx *cx, ridge_knobs *knobs, int64_t *field,
                              const char *key, const char *value)
{
    int64_t v;
    if (!ridge_parse_i64(ridge_str_of(value), &v) || v < 0 || v > DEGREE_MOST) {
        return ridge_fail(cx, RIDGE_E_ARG,
                          "%s=%s: expected the layers of that stage, 0 or more", key,
                          value);
    }
    *field = v == 0 ? RIDGE_STAGE_NONE : v;
    *(field == &knobs->first_layers ? &knobs->is_first_fixed : &knobs->is_last_fixed) =
        true;
    return RIDGE_OK;
}

static ridge_status set_schedule(ridge_ctx *cx, int *field, const char *value)
{
    ridge_schedule schedule;
    if (strcmp(value, "any") == 0) {
        *field = RIDGE_KNOB_ANY;
        return RIDGE_OK;
    }
    RIDGE_TRY(ridge_schedule_parse(cx, value, &schedule));
    *field = (int)schedule;
    return RIDGE_OK;
}

static ridge_status set_offload(ridge_ctx *cx, int *field, const char *value)
{
    unsigned flags;
    if (strcmp(value, "any") == 0) {
        *field = RIDGE_KNOB_ANY;
        return RIDGE_OK;
    }
    RIDGE_TRY(ridge_offload_parse(cx, value, &flags));
    *field = (int)flags;
    return RIDGE_OK;
}

/* As plans have it in placement_index; which there are, the slice says. */
static ridge_status set_placement(ridge_ctx *cx, int *field, const char *value)
{
    if (strcmp(value, "any") == 0) {
        *field = RIDGE_KNOB_ANY;
        return RIDGE_OK;
    }
    return set_small(cx, field, "placement", value, RIDGE_PLACEMENT_MOST - 1);
}

static ridge_status set_cp(ridge_ctx *cx, int *field, const char *value)
{
    ridge_cp_exchange exchange;
    RIDGE_TRY(ridge_cp_parse(cx, value, &exchange));
    *field = (int)exchange;
    return RIDGE_OK;
}

static ridge_status set_dispatch(ridge_ctx *cx, int *field, const char *value)
{
    ridge_ep_dispatch dispatch;
    RIDGE_TRY(ridge_ep_dispatch_parse(cx, value, &dispatch));
    *field = (int)dispatch;
    return RIDGE_OK;
}

static ridge_status set_knob(ridge_ctx *cx, ridge_knobs *knobs, const knob *k,
                             const char *value)
{
    void *field = (char *)knobs + k->offset;
    switch (k->kind) {
    case KNOB_DEGREE:
        return set_degree(cx, field, k->name, value);
    case KNOB_STAGE:
        return set_stage(cx, knobs, field, k->name, value);
    case KNOB_FLAG:
        return set_small(cx, field, k->name, value, 1);
    case KNOB_ZERO:
        return set_small(cx, field, k->name, value, 3);
    case KNOB_MTP:
        return set_small(cx, field, k->name, value, RIDGE_MTP_MOST);
    case KNOB_REMAT:
        return set_remat(cx, knobs, value);
    case KNOB_PRECISION:
        return ridge_precision_parse(cx, value, field);
    case KNOB_OPTIMIZER:
        return ridge_optimizer_parse(cx, value, field);
    case KNOB_LORA:
        return ridge_lora_parse(cx, value, field);
    case KNOB_SCHEDULE:
        return set_schedule(cx, field, value);
    case KNOB_OFFLOAD:
        return set_offload(cx, field, value);
    case KNOB_CP:
        return set_cp(cx, field, value);
    case KNOB_PLACEMENT:
        return set_placement(cx, field, value);
    case KNOB_DISPATCH:
        break;
    }
    return set_dispatch(cx, field, value);
}

ridge_status ridge_knobs_set(ridge_ctx *cx, ridge_knobs *knobs, const char *key,
                             const char *value)
{
    const char *names[RIDGE_COUNT_OF(knobs_known)];
    for (size_t i = 0; i < RIDGE_COUNT_OF(knobs_known); i++) {
        const knob *k = &knobs_known[i];
        names[i] = k->name;
        if (strcmp(key, k->name) == 0)
            return set_knob(cx, knobs, k, value);
    }
    return ridge_fail_name(cx, RIDGE_E_ARG, "knob", key, names,
                           RIDGE_COUNT_OF(knobs_known));
}
