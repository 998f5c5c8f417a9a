/* A partitioned program that was run: how far its tensors are from the whole one's. */
#include "partition_proof.h"

enum { SHOWN = 12 };

/* The check with the largest error below the ones shown; -1: none is left. */
static int next_worst(const ridge_partition_result *r, const int *shown, int n)
{
    int best = -1;
    for (int i = 0; i < r->n; i++) {
        bool is_shown = false;
        for (int k = 0; k < n; k++)
            is_shown = is_shown || shown[k] == i;
        if (!is_shown &&
            (best < 0 || r->checks[i].max_rel_error > r->checks[best].max_rel_error))
            best = i;
    }
    return best;
}

static int count_unlike(const ridge_partition_result *r)
{
    int n = 0;
    for (int i = 0; i < r->n; i++)
        n += !r->checks[i].has_equal_replicas;
    return n;
}

void ridge__partition_proof_add(ridge_ctx *cx, const ridge_partition_view *view,
                                ridge_sections *out)
{
    const ridge_partition_result *r = view->result;
    const ridge_program *program = view->run->program;
    const int most = r->n < SHOWN ? r->n : SHOWN;
    int shown[SHOWN];
    ridge_table *t = ridge__section_add(
        cx, out, "Run", "tensor|>largest error|>of its largest number|replicas");
    for (int i = 0; i < most; i++) {
        shown[i] = next_worst(r, shown, i);
        const ridge_tensor_check *c = &r->checks[shown[i]];
        ridge_table_cell(t, program->tensors[c->tensor].name);
        ridge_table_cellf(t, "%.2g", c->max_abs_error);
        ridge_table_cellf(t, "%.2g", c->max_rel_error);
        ridge_table_cell(t, c->has_equal_replicas ? "alike" : "differ");
    }
    const int unlike = count_unlike(r);
    const char *replicas = unlike == 0 ? "replicas agree bit for bit"
                                       : ridge_sprintf(ridge_ctx_arena(cx),
                                                       "replicas of %d differ", unlike);
    ridge__section_note(
        out,
        ridge_sprintf(ridge_ctx_arena(cx),
                      "%s: %d tensors on %d ranks (%s) against the whole program on "
                      "one, the worst shown; %s. It took %s, on one rank %s.",
                      r->is_right ? "Right" : "WRONG", r->n, view->run->ranks.ranks,
                      ridge_engine_text(view->run->ranks.engine),
                      replicas ? replicas : "", ridge_format_seconds(r->measured_s).s,
                      ridge_format_seconds(r->whole_s).s));
}

void ridge__partition_proof_set(ridge_ctx *cx, const ridge_partition_view *view,
                                ridge_json *object)
{
    const ridge_partition_result *r = view->result;
    ridge_json *run = ridge_json_set_object(cx, object, "run");
    ridge_json_set_text(run, "engine", ridge_engine_text(view->run->ranks.engine));
    ridge_json_set_i64(run, "ranks", view->run->ranks.ranks);
    ridge_json_set_bool(run, "is_right", r->is_right);
    ridge_json_set_double(run, "max_abs_error", r->max_abs_error);
    ridge_json_set_double(run, "max_rel_error", r->max_rel_error);
    ridge_json_set_double(run, "measured_s", r->measured_s);
    ridge_json_set_double(ridge_json_set_object(cx, run, "one_rank"), "measured_s",
                          r->whole_s);
    ridge_json *rows = ridge_json_set_array(cx, run, "tensors");
    for (int i = 0; i < r->n; i++) {
        const ridge_tensor_check *c = &r->checks[i];
        ridge_json *row = ridge_json_push_object(cx, rows);
        ridge_json_set_text(row, "name", view->run->program->tensors[c->tensor].name);
        ridge_json_set_double(row, "max_abs_error", c->max_abs_error);
        ridge_json_set_double(row, "max_rel_error", c->max_rel_error);
        ridge_json_set_bool(row, "has_equal_replicas", c->has_equal_replicas);
    }
}
