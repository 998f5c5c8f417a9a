/* Drafts of what a launcher is given. */
#include "launch_draft.h"
#include "group_placement.h"

#include "launch_sheet.h"
#include "train_case.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MESSAGE_BYTES = 512 };

ridge_status launch_draft_open(ridge_ctx *cx, const ridge_train_request *request,
                               const char *model_name, const ridge_layout *layout,
                               ridge_launch_text *out, launch_draft *draft)
{
    const double seqs = round(request->batch_tokens / floor(request->seq_tokens));
    *draft = (launch_draft){.cx = cx,
                            .request = request,
                            .model_name = model_name,
                            .layout = layout,
                            .batch_seqs = seqs < 1 ? 1 : (int64_t)seqs,
                            .seq_tokens = (int64_t)request->seq_tokens,
                            .replicas = layout->dp * layout->fsdp,
                            .out = out};
    *out = (ridge_launch_text){0};
    ridge_buf_init(&out->text, ridge_ctx_arena(cx));
    const int64_t round_seqs = draft->replicas * layout->microbatch_seqs;
    if (draft->batch_seqs % round_seqs != 0) {
        return ridge_fail(cx, RIDGE_E_ARG,
                          "a batch of %" PRId64 " sequences is no multiple of %" PRId64
                          " replicas x microbatches of %" PRId64
                          ", as launchers want it: plan with --batch %" PRId64,
                          draft->batch_seqs, draft->replicas, layout->microbatch_seqs,
                          ridge_ceil_div(draft->batch_seqs, round_seqs) * round_seqs *
                              draft->seq_tokens);
    }
    draft->microbatches = draft->batch_seqs / round_seqs;
    return RIDGE_OK;
}

static bool has_bit(unsigned bits, int value)
{
    return (bits >> value & 1u) != 0;
}

static ridge_status check_pipeline(launch_draft *d, const launch_ability *a)
{
    const ridge_layout *l = d->layout;
    if (l->pp == 1)
        return RIDGE_OK;
    if (!has_bit(a->schedules, (int)l->schedule)) {
        return launch_draft_refuse(d,
                                   "does not run the schedule %s: plan with "
                                   "schedule=1f1b",
                                   ridge_schedule_text(l->schedule));
    }
    if (!a->has_ends &&
        (l->first_layers != RIDGE_STAGE_EVEN || l->last_layers != RIDGE_STAGE_EVEN)) {
        const int64_t layers = d->request->model->layer_count;
        return launch_draft_refuse(
            d,
            "has no stages of chosen sizes: plan with first_layers=%lld last_layers="
            "%lld",
            (long long)train_stage_size(layers, l->pp, 0),
            (long long)train_stage_size(layers, l->pp, l->pp - 1));
    }
    return RIDGE_OK;
}

ridge_status launch_draft_check(launch_draft *d, const launch_ability *a)
{
    const ridge_layout *l = d->layout;
    RIDGE_TRY(check_pipeline(d, a));
    if (l->cp > 1 && !has_bit(a->exchanges, (int)l->cp_exchange)) {
        return launch_draft_refuse(d, "has no cp_exchange=%s: plan with another",
                                   ridge_cp_text(l->cp_exchange));
    }
    if (!has_bit(a->optimizers, (int)l->optimizer)) {
        return launch_draft_refuse(d, "has no optimizer %s: plan with optimizer=adamw",
                                   ridge_optimizer_text(l->optimizer));
    }
    if ((l->offload & ~a->offload) != 0) {
        return launch_draft_refuse(d,
                                   "does not put %s on the host: plan with "
                                   "offload=none",
                                   ridge_offload_text(l->offload & ~a->offload));
    }
    if (l->mtp > 0 && !a->has_mtp)
        return launch_draft_refuse(d, "trains no prediction layers: plan with mtp=0");
    if (l->remat_ops != 0 && !a->has_named_remat) {
        return launch_draft_refuse(d,
                                   "does not choose single operations: plan with a "
                                   "policy, as remat=full, for remat=%s",
                                   ridge_layout_remat_text(d->cx, l));
    }
    if (l->remat != RIDGE_REMAT_NONE && l->remat_layers > 0 && !a->has_partial_remat) {
        return launch_draft_refuse(d,
                                   "recomputes in all layers or in none: plan with "
                                   "remat=%s",
                                   ridge_layout_remat_text(d->cx, l));
    }
    return RIDGE_OK;
}

void launch_draft_i64(launch_draft *draft, launch_field field, int64_t v)
{
    draft->value[field] = ridge_sprintf(ridge_ctx_arena(draft->cx), "%" PRId64, v);
    draft->out->text.is_short |= draft->value[field] == NULL;
}

void launch_draft_text(launch_draft *draft, launch_field field, const char *z)
{
    draft->value[field] = z;
}

void launch_draft_flag(launch_draft *draft, launch_field field, bool is_on)
{
    draft->value[field] = is_on ? "" : NULL;
}

void launch_draft_note(launch_draft *draft, const char *fmt, ...)
{
    char text[MESSAGE_BYTES];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    launch_notes_add(draft->cx, &draft->out->notes, "%s", text);
}

ridge_status launch_draft_refuse(launch_draft *draft, const char *fmt, ...)
{
    char text[MESSAGE_BYTES];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return ridge_fail(draft->cx, RIDGE_E_ARG, "%s %s", draft->launcher, text);
}

void launch_draft_comments(launch_draft *draft)
{
    ridge_buf *b = &draft->out->text;
    ridge_buf_printf(b, "# %s on %s, planned by ridge " RIDGE_VERSION ".\n",
                     draft->model_name, draft->request->slice->text);
    for (int i = 0; i < draft->out->notes.n; i++)
        ridge_buf_printf(b, "# Note: %s.\n", draft->out->notes.text[i]);
}
