/*
 * Batches: sequences drawn by (seed, step, sequence), so that every rank and every
 * stage can tell its own part of them, and where documents begin in it.
 */
#include "training_batch.h"

/* Which sequence stands at a place of the global batch; false: none, filled up. */
static bool draw(const ridge__rank_state *s, int64_t sequence, int32_t *inputs,
                 int32_t *labels)
{
    const ridge_train_run *run = s->run;
    if (s->is_evaluation) {
        const int64_t windows =
            ridge_token_data_windows(run->data, RIDGE_DATA_EVAL, run->seq_tokens);
        if (sequence >= run->eval_seqs || s->eval_first + sequence >= windows)
            return false;
        ridge_token_data_window(run->data, RIDGE_DATA_EVAL, s->eval_first + sequence,
                                run->seq_tokens, inputs, labels);
        return true;
    }
    const ridge_draw at = {.part = RIDGE_DATA_TRAIN,
                           .seed = run->seed,
                           .step = s->step,
                           .sequence = sequence,
                           .seq_tokens = run->seq_tokens};
    if (sequence >= run->batch_seqs)
        return false;
    ridge_token_data_draw(run->data, &at, inputs, labels);
    return true;
}

static ridge_status upload(ridge__chunk *c, ridge__flight *flight, int tensor,
                           const int32_t *from)
{
    ridge__value *v = &flight->values[c->m->unrolled.first_value[tensor]];
    ridge__device *d = c->m->device;
    RIDGE_TRY(ridge__value_make(c->m, v, tensor));
    return d->ops->upload(d, v->p, from, (size_t)v->elements * sizeof *from);
}

ridge_status ridge__batch_feed(void *payload, ridge__runner *r, ridge__chunk *c,
                               int microbatch, ridge__flight *flight)
{
    const ridge__rank_state *s = payload;
    const int tensor = c->tokens >= 0 ? c->tokens : c->labels;
    if (tensor < 0)
        return RIDGE_OK;
    const ridge__tensor_part *part = &c->m->parts[tensor];
    const int64_t seqs = part->spans[0].length, own = part->spans[1].length;
    const int64_t whole = s->run->seq_tokens;
    const int64_t first =
        microbatch * ridge_run_layout_sequences(r->layout) + part->spans[0].start;
    const ridge_mark mark = ridge_arena_mark(ridge_ctx_scratch(r->cx));
    int32_t *line = ridge_new(ridge_ctx_scratch(r->cx), int32_t, (size_t)(2 * whole));
    int32_t *all =
        ridge_new(ridge_ctx_scratch(r->cx), int32_t, (size_t)(2 * seqs * own));
    if (!line || !all)
        return ridge_fail_nomem(r->cx);
    for (int64_t b = 0; b < seqs; b++) {
        const bool is_there = draw(s, first + b, line, line + whole);
        for (int64_t t = 0; t < own; t++) {
            const int64_t at = part->spans[1].start + t;
            all[b * own + t] = is_there ? line[at] : 0;
            all[(seqs + b) * own + t] = is_there ? line[whole + at] : -1;
        }
    }
    ridge_status st = c->tokens >= 0 ? upload(c, flight, c->tokens, all) : RIDGE_OK;
    if (st == RIDGE_OK && c->labels >= 0)
        st = upload(c, flight, c->labels, all + seqs * own);
    ridge_arena_rewind(ridge_ctx_scratch(r->cx), mark);
    return st;
}

ridge_status ridge__batch_documents(void *payload, int microbatch,
                                    ridge__span sequences, ridge__span tokens,
                                    int32_t *out)
{
    const ridge__rank_state *s = payload;
    const int64_t whole = s->run->seq_tokens;
    const int64_t first =
        microbatch * ridge_run_layout_sequences(&s->run->layout) + sequences.start;
    const ridge_mark mark = ridge_arena_mark(ridge_ctx_scratch(s->r->cx));
    int32_t *line =
        ridge_new(ridge_ctx_scratch(s->r->cx), int32_t, (size_t)(2 * whole));
    if (line == NULL)
        return ridge_fail_nomem(s->r->cx);
    for (int64_t b = 0; b < sequences.length; b++) {
        const bool is_there = draw(s, first + b, line, line + whole);
        int32_t begin = 0;
        for (int64_t t = 0; t < tokens.start + tokens.length; t++) {
            if (t >= tokens.start)
                out[b * tokens.length + t - tokens.start] = begin;
            if (is_there && t < whole && line[t] == s->run->document_end)
                begin = (int32_t)t + 1;
        }
    }
    ridge_arena_rewind(ridge_ctx_scratch(s->r->cx), mark);
    return RIDGE_OK;
}
