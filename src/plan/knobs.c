/* Knobs that the user fixes, from "key=value". */
#include "ridge/plan.h"

#include <stddef.h>
#include <string.h>

enum { DEGREE_MOST = 100000000 };

ridge_knobs ridge_knobs_free(void)
{
    return (ridge_knobs){.zero_stage = RIDGE_ZERO_FREE,
                         .remat = RIDGE_REMAT_FREE,
                         .has_sp = RIDGE_FLAG_FREE,
                         .has_tp_overlap = RIDGE_FLAG_FREE,
                         .precision = RIDGE_PRECISION_BF16};
}

typedef enum knob_kind {
    KNOB_DEGREE,
    KNOB_FLAG,
    KNOB_ZERO,
    KNOB_REMAT,
    KNOB_PRECISION
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
    {"tp_overlap", KNOB_FLAG, offsetof(ridge_knobs, has_tp_overlap)},
    {"remat", KNOB_REMAT, offsetof(ridge_knobs, remat)},
    {"precision", KNOB_PRECISION, offsetof(ridge_knobs, precision)},
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

static ridge_status set_remat(ridge_ctx *cx, int *field, const char *value)
{
    ridge_remat remat;
    RIDGE_TRY(ridge_remat_parse(cx, value, &remat));
    *field = (int)remat;
    return RIDGE_OK;
}

ridge_status ridge_knobs_set(ridge_ctx *cx, ridge_knobs *knobs, const char *key,
                             const char *value)
{
    const char *names[RIDGE_COUNT_OF(knobs_known)];
    for (size_t i = 0; i < RIDGE_COUNT_OF(knobs_known); i++) {
        const knob *k = &knobs_known[i];
        names[i] = k->name;
        if (strcmp(key, k->name) != 0)
            continue;
        void *field = (char *)knobs + k->offset;
        switch (k->kind) {
        case KNOB_DEGREE:
            return set_degree(cx, field, key, value);
        case KNOB_FLAG:
            return set_small(cx, field, key, value, 1);
        case KNOB_ZERO:
            return set_small(cx, field, key, value, 3);
        case KNOB_REMAT:
            return set_remat(cx, field, value);
        case KNOB_PRECISION:
            return ridge_precision_parse(cx, value, field);
        }
    }
    const char *hint = ridge_suggestion(ridge_ctx_scratch(cx), key, names,
                                        RIDGE_COUNT_OF(knobs_known));
    return ridge_fail(cx, RIDGE_E_ARG,
                      "unknown knob '%s': use dp, fsdp, tp, cp, pp, ep, vpp, "
                      "microbatch, zero, sp, tp_overlap, remat or precision%s%s",
                      key, hint == NULL || hint[0] == '\0' ? "" : "; ",
                      hint == NULL ? "" : hint);
}
