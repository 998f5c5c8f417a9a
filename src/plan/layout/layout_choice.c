/* Names of a layout's choices: optimizers, offload, exchanges of context parallelism,
 * overlap. */
#include "ridge/plan_layout.h"

#include <string.h>

typedef struct choice {
    const char *text;
    const char *what;
} choice;

/* @source kingma2015 (Adam), dettmers2022 (8 bits in blocks of 256), deepseek-v3-2024
 *         (moments in bf16), shazeer2018 (Adafactor, whose rows and columns are left
 *         out: below a thousandth of the matrix), jordan2024-muon */
static const struct {
    choice name;
    double state_bytes; /* a parameter, beside a master copy */
} optimizers[] = {
#define OPTIMIZER_ROW(name, text, what, bytes) {{text, what}, bytes},
    RIDGE_OPTIMIZER_LIST(OPTIMIZER_ROW)
#undef OPTIMIZER_ROW
};

static const choice overlaps[] = {
#define OVERLAP_ROW(name, text, what) {text, what},
    RIDGE_OVERLAP_LIST(OVERLAP_ROW)
#undef OVERLAP_ROW
};

static const choice exchanges[] = {
#define EXCHANGE_ROW(name, text, what) {text, what},
    RIDGE_CONTEXT_LIST(EXCHANGE_ROW)
#undef EXCHANGE_ROW
};

static const choice dispatches[] = {
#define DISPATCH_ROW(name, text, what) {text, what},
    RIDGE_DISPATCH_LIST(DISPATCH_ROW)
#undef DISPATCH_ROW
};

/* By flags. */
static const char *const offloads[RIDGE_OFFLOAD_ALL + 1] = {
    "none",
    "optimizer",
    "activations",
    "optimizer+activations",
    "weights",
    "optimizer+weights",
    "activations+weights",
    "optimizer+activations+weights"};

/* ---- optimizers ------------------------------------------------------------------ */

const char *ridge_optimizer_text(ridge_optimizer optimizer)
{
    return optimizers[optimizer].name.text;
}

const char *ridge_optimizer_what(ridge_optimizer optimizer)
{
    return optimizers[optimizer].name.what;
}

ridge_status ridge_optimizer_parse(ridge_ctx *cx, const char *text,
                                   ridge_optimizer *out)
{
    const char *names[RIDGE_OPTIMIZER_COUNT];
    for (int i = 0; i < RIDGE_OPTIMIZER_COUNT; i++) {
        names[i] = optimizers[i].name.text;
        if (strcmp(text, names[i]) == 0) {
            *out = (ridge_optimizer)i;
            return RIDGE_OK;
        }
    }
    return ridge_fail_name(cx, RIDGE_E_ARG, "optimizer", text, names,
                           RIDGE_OPTIMIZER_COUNT);
}

ridge_policy ridge_policy_with_optimizer(const ridge_policy *policy,
                                         ridge_optimizer optimizer)
{
    ridge_policy p = *policy;
    if (optimizer != RIDGE_OPTIMIZER_ADAMW)
        p.moment_bytes = optimizers[optimizer].state_bytes;
    if (optimizer == RIDGE_OPTIMIZER_LORA) {
        p.is_frozen = true;
        p.gradient_bytes = p.master_bytes = p.reduce_bytes = 0;
    }
    return p;
}

/* ---- offload --------------------------------------------------------------------- */

const char *ridge_offload_text(unsigned offload)
{
    return offloads[offload & RIDGE_OFFLOAD_ALL];
}

ridge_status ridge_offload_parse(ridge_ctx *cx, const char *text, unsigned *out)
{
    /* any: the knob's own word */
    static const char *const names[] = {"none", "optimizer", "activations", "weights",
                                        "any"};
    static const unsigned flags[] = {RIDGE_OFFLOAD_NONE, RIDGE_OFFLOAD_OPTIMIZER,
                                     RIDGE_OFFLOAD_ACTIVATIONS, RIDGE_OFFLOAD_WEIGHTS};
    unsigned all = 0;
    for (const char *at = text; at != NULL;) {
        const size_t n = strcspn(at, "+,");
        size_t i = 0;
        while (i < RIDGE_COUNT_OF(flags) &&
               (strlen(names[i]) != n || strncmp(names[i], at, n) != 0))
            i++;
        if (i == RIDGE_COUNT_OF(flags))
            return ridge_fail_name(cx, RIDGE_E_ARG, "offload", text, names,
                                   RIDGE_COUNT_OF(names));
        all |= flags[i];
        at = at[n] == '\0' ? NULL : at + n + 1;
    }
    *out = all;
    return RIDGE_OK;
}

/* ---- context parallelism --------------------------------------------------------- */

const char *ridge_cp_text(ridge_cp_exchange exchange)
{
    return exchanges[exchange].text;
}

ridge_status ridge_cp_parse(ridge_ctx *cx, const char *text, ridge_cp_exchange *out)
{
    const char *names[RIDGE_CP_COUNT];
    for (int i = 0; i < RIDGE_CP_COUNT; i++) {
        names[i] = exchanges[i].text;
        if (strcmp(text, names[i]) == 0) {
            *out = (ridge_cp_exchange)i;
            return RIDGE_OK;
        }
    }
    return ridge_fail_name(cx, RIDGE_E_ARG, "exchange of cp", text, names,
                           RIDGE_CP_COUNT);
}

/* ---- experts --------------------------------------------------------------------- */

const char *ridge_ep_dispatch_text(ridge_ep_dispatch dispatch)
{
    return dispatches[dispatch].text;
}

const char *ridge_ep_dispatch_what(ridge_ep_dispatch dispatch)
{
    return dispatches[dispatch].what;
}

ridge_status ridge_ep_dispatch_parse(ridge_ctx *cx, const char *text,
                                     ridge_ep_dispatch *out)
{
    const char *names[RIDGE_DISPATCH_COUNT];
    for (int i = 0; i < RIDGE_DISPATCH_COUNT; i++) {
        names[i] = dispatches[i].text;
        if (strcmp(text, names[i]) == 0) {
            *out = (ridge_ep_dispatch)i;
            return RIDGE_OK;
        }
    }
    return ridge_fail_name(cx, RIDGE_E_ARG, "dispatch of experts", text, names,
                           RIDGE_DISPATCH_COUNT);
}

/* ---- overlap and schedule -------------------------------------------------------- */

const char *ridge_overlap_kind_text(ridge_overlap_kind overlap)
{
    return overlaps[overlap].text;
}

const char *ridge_overlap_kind_what(ridge_overlap_kind overlap)
{
    return overlaps[overlap].what;
}

bool ridge_layout_has_overlap(const ridge_layout *l, ridge_overlap_kind overlap)
{
    switch (overlap) {
    case RIDGE_OVERLAP_TP:
        return l->has_tp_overlap;
    case RIDGE_OVERLAP_FSDP:
        return !l->is_fsdp_exposed;
    case RIDGE_OVERLAP_DP:
        return !l->is_dp_exposed;
    case RIDGE_OVERLAP_PP:
        return l->has_pp_overlap;
    case RIDGE_OVERLAP_EP:
        break;
    }
    return l->has_ep_overlap;
}

void ridge_layout_set_overlap(ridge_layout *l, ridge_overlap_kind overlap, bool is_on)
{
    switch (overlap) {
    case RIDGE_OVERLAP_TP:
        l->has_tp_overlap = is_on;
        break;
    case RIDGE_OVERLAP_FSDP:
        l->is_fsdp_exposed = !is_on;
        break;
    case RIDGE_OVERLAP_DP:
        l->is_dp_exposed = !is_on;
        break;
    case RIDGE_OVERLAP_PP:
        l->has_pp_overlap = is_on;
        break;
    case RIDGE_OVERLAP_EP:
        l->has_ep_overlap = is_on;
        break;
    }
}

bool ridge_layout_has_two_chunks(const ridge_layout *l)
{
    return l->pp > 1 && (l->schedule == RIDGE_SCHEDULE_ZB_V ||
                         l->schedule == RIDGE_SCHEDULE_DUALPIPE);
}

ridge_schedule ridge_layout_schedule(const ridge_layout *l)
{
    return l->schedule == RIDGE_SCHEDULE_1F1B && l->vpp > 1 ? RIDGE_SCHEDULE_INTERLEAVED
                                                            : l->schedule;
}

const char *ridge_layout_remat_text(ridge_ctx *cx, const ridge_layout *l)
{
    return (int)l->remat == RIDGE_REMAT_OPERATIONS
               ? ridge_remat_ops_text(cx, l->remat_ops)
               : ridge_remat_text(l->remat);
}
