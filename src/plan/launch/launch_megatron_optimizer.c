/* The optimizer in Megatron's options: its kind, the bits of its moments, and where
 * they lie. @source megatron-lm-2025, megatron/training/arguments.py */
#include "launch_read.h"

#include <string.h>

static const launch_word optimizers[] = {{"adam", RIDGE_OPTIMIZER_ADAMW},
                                         {"sgd", RIDGE_OPTIMIZER_MOMENTUM},
                                         {"muon", RIDGE_OPTIMIZER_MUON},
                                         {"dist_muon", RIDGE_OPTIMIZER_MUON}};

/* Adam's moments in fewer bits, where they are alike. */
static ridge_status read_moments(launch_sheet *s, ridge_knobs *k)
{
    static const launch_word words[] = {{"fp32", RIDGE_OPTIMIZER_ADAMW},
                                        {"bf16", RIDGE_OPTIMIZER_ADAMW_BF16},
                                        {"fp16", RIDGE_OPTIMIZER_ADAMW_BF16},
                                        {"fp8", RIDGE_OPTIMIZER_ADAMW_8BIT}};
    const char *first = "fp32";
    const char *second = "fp32";
    if (launch_sheet_has(s, LAUNCH_FIRST_MOMENT))
        RIDGE_TRY(launch_sheet_text(s, LAUNCH_FIRST_MOMENT, &first));
    if (launch_sheet_has(s, LAUNCH_SECOND_MOMENT))
        RIDGE_TRY(launch_sheet_text(s, LAUNCH_SECOND_MOMENT, &second));
    const int found = launch_word_find(words, RIDGE_COUNT_OF(words), first);
    if (found < 0) {
        return launch_sheet_fail(s, RIDGE_E_PARSE, LAUNCH_FIRST_MOMENT,
                                 "'%.40s': expected fp32, bf16, fp16 or fp8", first);
    }
    k->optimizer = (ridge_optimizer)found;
    if (strcmp(first, second) != 0) {
        launch_notes_add(s->cx, &s->launch->differing,
                         "%s: moments in %.20s and %.20s; priced as both in %.20s",
                         s->file, first, second, first);
    }
    return RIDGE_OK;
}

static ridge_status read_optimizer(launch_sheet *s, ridge_knobs *k)
{
    const char *name = "adam";
    double momentum = 0.9;
    RIDGE_TRY(launch_sheet_text(s, LAUNCH_OPTIMIZER, &name));
    const int found = launch_word_find(optimizers, RIDGE_COUNT_OF(optimizers), name);
    if (found == RIDGE_OPTIMIZER_ADAMW)
        return read_moments(s, k);
    if (found < 0) {
        launch_notes_add(s->cx, &s->launch->differing, "%s: %s %.60s; priced as adam",
                         s->file, launch_sheet_name(s, LAUNCH_OPTIMIZER), name);
        return RIDGE_OK;
    }
    k->optimizer = (ridge_optimizer)found;
    if (found == RIDGE_OPTIMIZER_MOMENTUM)
        RIDGE_TRY(launch_sheet_double(s, LAUNCH_MOMENTUM, 0, 1, &momentum));
    if (momentum == 0)
        k->optimizer = RIDGE_OPTIMIZER_SGD;
    return RIDGE_OK;
}

static ridge_status read_offload(launch_sheet *s, ridge_knobs *k)
{
    bool is_offloaded = false;
    double fraction = 1;
    RIDGE_TRY(launch_sheet_flag(s, LAUNCH_OPTIMIZER_OFFLOAD, &is_offloaded));
    if (!is_offloaded)
        return RIDGE_OK;
    RIDGE_TRY(launch_sheet_double(s, LAUNCH_OFFLOAD_FRACTION, 0, 1, &fraction));
    k->offload = RIDGE_OFFLOAD_OPTIMIZER;
    if (fraction < 1) {
        launch_notes_add(s->cx, &s->launch->differing,
                         "%s: %g of the optimizer on the host; priced as all of it",
                         s->file, fraction);
    }
    return RIDGE_OK;
}

ridge_status launch_megatron_optimizer(launch_sheet *s, ridge_knobs *k)
{
    RIDGE_TRY(read_optimizer(s, k));
    return read_offload(s, k);
}
