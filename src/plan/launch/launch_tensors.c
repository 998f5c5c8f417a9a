/*
 * MaxText checkpoints a whole layer and keeps the tensors that are named: norms, rotary
 * turns and activations are always computed again.
 */
#include "launch_tensors.h"

#include "launch_modules.h"

#include <string.h>

static const struct {
    launch_field field;
    const char *operations; /* that make it */
} tensors[] = {{LAUNCH_KEEP_CONTEXT, "o"},
               {LAUNCH_KEEP_Q, "q+q_raw"},
               {LAUNCH_KEEP_K, "k+k_raw"},
               {LAUNCH_KEEP_V, "v+v_raw"},
               {LAUNCH_KEEP_OUT, "attention"},
               {LAUNCH_KEEP_GATE, "gate+rows_gate+shared_g"},
               {LAUNCH_KEEP_UP, "up+rows_up+shared_u"},
               {LAUNCH_KEEP_DOWN, "ffn+rows_out+shared_out"}};

/* Fields that speak of several. */
static const struct {
    launch_field both, parts[3];
    int n;
} groups[] = {{LAUNCH_KEEP_QKV, {LAUNCH_KEEP_Q, LAUNCH_KEEP_K, LAUNCH_KEEP_V}, 3},
              {LAUNCH_KEEP_GATE_UP, {LAUNCH_KEEP_GATE, LAUNCH_KEEP_UP}, 2}};

static ridge_status ops_of(ridge_ctx *cx, size_t tensor, ridge_remat_ops *out)
{
    return ridge_remat_ops_parse(cx, tensors[tensor].operations, out);
}

static ridge_status read_place(launch_sheet *s, launch_field field, bool *is_kept,
                               bool *is_offloaded)
{
    const char *place = "remat";
    if (!launch_sheet_has(s, field))
        return RIDGE_OK;
    RIDGE_TRY(launch_sheet_text(s, field, &place));
    *is_kept = strcmp(place, "device") == 0 || strcmp(place, "offload") == 0;
    *is_offloaded = *is_offloaded || strcmp(place, "offload") == 0;
    if (!*is_kept && strcmp(place, "remat") != 0)
        return launch_sheet_fail(s, RIDGE_E_PARSE, field,
                                 "'%.60s': expected device, remat or offload", place);
    return RIDGE_OK;
}

/* The same of the groups that a tensor is part of: they may name its place instead. */
static ridge_status read_group_place(launch_sheet *s, launch_field field, bool *is_kept,
                                     bool *is_offloaded)
{
    for (size_t g = 0; g < RIDGE_COUNT_OF(groups); g++) {
        for (int p = 0; p < groups[g].n; p++) {
            if (groups[g].parts[p] == field && !*is_kept)
                RIDGE_TRY(read_place(s, groups[g].both, is_kept, is_offloaded));
        }
    }
    return RIDGE_OK;
}

ridge_status launch_tensors_read(launch_sheet *s, ridge_knobs *k)
{
    ridge_remat_ops known, kept = 0;
    bool is_offloaded = false;
    RIDGE_TRY(launch_model_ops(s->cx, s->launch->model, &known));
    for (size_t i = 0; i < RIDGE_COUNT_OF(tensors); i++) {
        bool is_kept = false;
        ridge_remat_ops ops;
        RIDGE_TRY(read_place(s, tensors[i].field, &is_kept, &is_offloaded));
        RIDGE_TRY(read_group_place(s, tensors[i].field, &is_kept, &is_offloaded));
        RIDGE_TRY(ops_of(s->cx, i, &ops));
        kept |= is_kept ? ops : 0;
    }
    if (is_offloaded)
        k->offload |= RIDGE_OFFLOAD_ACTIVATIONS;
    k->remat = kept == 0 ? RIDGE_REMAT_FULL : RIDGE_REMAT_OPERATIONS;
    k->remat_ops = kept == 0 ? 0 : known & ~kept;
    return RIDGE_OK;
}

ridge_status launch_tensors_write(launch_draft *d)
{
    const ridge_remat_ops again = d->layout->remat_ops;
    ridge_remat_ops known, told = 0;
    RIDGE_TRY(launch_model_ops(d->cx, d->request->model, &known));
    launch_draft_text(d, LAUNCH_REMAT, "custom");
    for (size_t i = 0; i < RIDGE_COUNT_OF(tensors); i++) {
        ridge_remat_ops ops;
        RIDGE_TRY(ops_of(d->cx, i, &ops));
        ops &= known;
        told |= ops;
        if ((again & ops) != 0 && (again & ops) != ops)
            return launch_draft_refuse(d,
                                       "keeps %s together or not at all: name all or "
                                       "none of them in remat",
                                       ridge_remat_ops_text(d->cx, ops));
        if (ops != 0)
            launch_draft_text(d, tensors[i].field,
                              (again & ops) != 0 ? "remat" : "device");
    }
    if ((known & ~told & ~again) != 0)
        launch_draft_note(d,
                          "norms, rotary turns and activations are computed again; "
                          "the plan keeps %s",
                          ridge_remat_ops_text(d->cx, known & ~told & ~again));
    return RIDGE_OK;
}
