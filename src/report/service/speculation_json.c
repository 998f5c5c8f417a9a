/* The study of drafting as JSON. */
#include "ridge/report_speculation.h"

#include "service_text.h"
#include "speculation_notes.h"

static void set_point(ridge_json *o, const ridge_speculation_point *p)
{
    ridge_json_set_i64(o, "depth", p->depth);
    ridge_json_set_i64(o, "nodes", p->nodes);
    ridge_json_set_double(o, "tokens", p->tokens);
    ridge_json_set_double(o, "iteration_s", p->iteration_s);
    ridge_json_set_double(o, "draft_s", p->draft_s);
    ridge_json_set_double(o, "tpot_s", p->tpot_s);
    ridge_json_set_double(o, "speedup", p->speedup);
}

static void set_contexts(ridge_ctx *cx, const ridge_speculation_query *q,
                         const ridge_speculation_row *row, ridge_json *o)
{
    ridge_json *list = ridge_json_set_array(cx, o, "contexts");
    for (int k = 0; k < q->n_contexts; k++) {
        const ridge_speculation_cell *cell = &row->contexts[k];
        if (!cell->fits)
            continue;
        ridge_json *one = ridge_json_push_object(cx, list);
        ridge_json_set_double(one, "context_tokens", q->contexts[k]);
        ridge_json_set_i64(one, "best_depth", cell->depth);
        ridge_json_set_double(one, "speedup", cell->speedup);
    }
}

static void set_row(ridge_ctx *cx, const ridge_speculation_study *s,
                    const ridge_speculation_row *row, ridge_json *o)
{
    ridge_json_set_double(o, "batch", row->batch);
    ridge_json_set_double(o, "plain_s", row->plain_s);
    ridge_json_set_text(o, "bound_by", ridge_bound_text(row->bound_by));
    ridge_json *chains = ridge_json_set_array(cx, o, "chains");
    for (int k = 0; k < (int)s->deepest; k++)
        set_point(ridge_json_push_object(cx, chains), &row->chains[k]);
    if (row->best < 0) {
        ridge_json_set_null(o, "best_depth");
    } else {
        ridge_json_set_i64(o, "best_depth", row->chains[row->best].depth);
    }
    if (row->tree.nodes == 0)
        return;
    ridge_json *tree = ridge_json_set_object(cx, o, "tree");
    set_point(tree, &row->tree);
    ridge_json *levels = ridge_json_set_array(cx, tree, "levels");
    for (int i = 0; i < (int)row->tree.depth; i++)
        ridge_json_push_i64(levels, row->widths[i]);
}

void ridge_speculation_write_json(ridge_ctx *cx, const ridge_speculation_view *view,
                                  ridge_json *object)
{
    const ridge_speculation_query *q = view->query;
    const ridge_speculation_study *s = view->study;
    ridge_json *o = ridge_json_set_object(cx, object, "speculation");
    ridge_json_set_text(o, "kind", ridge_draft_kind_text(q->speculation.draft.kind));
    ridge_json_set_text(o, "layout", ridge__serving_layout_text(cx, q->layout));
    ridge_json_set_double(o, "context_tokens", q->context_tokens);
    ridge_json_set_text(o, "acceptance_source", q->speculation.source);
    ridge_json *accept = ridge_json_set_array(cx, o, "acceptance");
    for (int k = 0; k < (int)s->deepest; k++)
        ridge_json_push_double(accept, q->speculation.draft.accept[k]);
    ridge_json_set_double(o, "next_candidate", q->speculation.next);
    ridge_json_set_double(o, "stops_paying_at", s->stops_at);
    ridge_json_set_double(o, "least_acceptance", s->floor_acceptance);
    const char *notes[RIDGE_SPECULATION_NOTES_MAX];
    const int n_notes = ridge__speculation_notes(cx, view, notes);
    ridge_json *words = ridge_json_set_array(cx, o, "notes");
    for (int i = 0; i < n_notes; i++)
        ridge_json_push_text(words, notes[i]);
    ridge_json *rows = ridge_json_set_array(cx, o, "rows");
    for (int i = 0; i < s->n_rows; i++) {
        ridge_json *row = ridge_json_push_object(cx, rows);
        set_row(cx, s, &s->rows[i], row);
        set_contexts(cx, q, &s->rows[i], row);
    }
}
