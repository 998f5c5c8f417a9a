/*
 * A pool as TGI's options: shards alone divide it.
 *
 * @source tgi-source-2024, docs/source/reference/launcher.md
 */
#include "server_draft.h"

static ridge_status draft_speculation(server_draft *d)
{
    const ridge_draft *s = &d->layout->draft;
    if (s->kind == RIDGE_DRAFT_NONE)
        return RIDGE_OK;
    if (s->kind != RIDGE_DRAFT_MEDUSA && s->kind != RIDGE_DRAFT_NGRAM) {
        return launch_draft_refuse(&d->sheet, "drafts by n-grams or Medusa's heads: "
                                              "plan with --draft ngram");
    }
    if (s->kind == RIDGE_DRAFT_MEDUSA)
        launch_draft_note(&d->sheet,
                          "Medusa's heads are those of the checkpoint: put "
                          "one that has them in the place of %s",
                          d->sheet.model_name);
    launch_draft_i64(&d->sheet, LAUNCH_DRAFT_DEPTH, s->depth);
    return server_draft_check_chain(d);
}

ridge_status server_tgi_write(server_draft *d)
{
    ridge_buf *b = &d->sheet.out->text;
    RIDGE_TRY(server_draft_tp_alone(d));
    RIDGE_TRY(server_draft_formats(d));
    server_draft_limits(d, 1);
    if (d->deployment->prompt_tokens > 0)
        launch_draft_i64(&d->sheet, LAUNCH_PROMPT,
                         (int64_t)d->deployment->prompt_tokens);
    launch_draft_i64(&d->sheet, LAUNCH_BUDGET, d->layout->budget_tokens);
    RIDGE_TRY(draft_speculation(d));
    server_draft_heading(d);
    ridge_buf_printf(b, "text-generation-launcher --model-id %s", d->sheet.model_name);
    server_draft_put_flags(d, server_tgi_options);
    return RIDGE_OK;
}
