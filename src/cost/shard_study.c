/* All strategies of a sharded einsum, priced and in order, on the best placement. */
#include "ridge/cost_strategy.h"

#include <math.h>

static void set_bytes(const ridge_formats *formats, ridge_expr *e)
{
    for (int i = 0; i < e->n_inputs; i++) {
        e->inputs[i].element_bytes =
            ridge_dtype_bytes(i == 0 ? formats->activation : formats->weight);
    }
    e->output.element_bytes = ridge_dtype_bytes(formats->output);
}

static double local_bytes(const ridge_expr *e, int operand, const ridge_sharding *s)
{
    const ridge_expr_tensor *t = ridge_expr_operand(e, operand);
    int64_t sizes[RIDGE_TENSOR_DIM_MAX];
    ridge_expr_tensor_sizes(e, t, sizes);
    return ridge_sharding_local_elements(&e->mesh, s, sizes) * t->element_bytes;
}

static double held_bytes(const ridge_expr *e, const ridge_strategy *s)
{
    double bytes = local_bytes(e, e->n_inputs, &s->output);
    for (int i = 0; i < e->n_inputs; i++)
        bytes += local_bytes(e, i, &s->inputs[i]);
    return bytes;
}

static ridge_status find_strategies(ridge_ctx *cx, ridge_shard_study *study)
{
    ridge_arena *scratch = ridge_ctx_scratch(cx);
    const ridge_mark mark = ridge_arena_mark(scratch);
    ridge_strategy *all = ridge_new(scratch, ridge_strategy, RIDGE_STRATEGY_MAX);
    ridge_status st = RIDGE_OK;
    if (!all)
        return ridge_fail_nomem(cx);
    st = ridge_expr_strategies(cx, &study->expr, all, &study->n);
    if (st == RIDGE_OK) {
        study->strategies =
            ridge_new(ridge_ctx_arena(cx), ridge_priced_strategy, (size_t)study->n);
        if (!study->strategies)
            st = ridge_fail_nomem(cx);
    }
    for (int i = 0; st == RIDGE_OK && i < study->n; i++) {
        study->strategies[i] = (ridge_priced_strategy){
            .strategy = all[i],
            .sent_bytes = ridge_strategy_sent_bytes(&study->expr.mesh, &all[i]),
            .held_bytes = held_bytes(&study->expr, &all[i]),
        };
    }
    ridge_arena_rewind(scratch, mark);
    return st;
}

/* What strategies are ordered by; as a float, so that sums in another order are equal.
 */
static float rank_of(const ridge_shard_study *study, const ridge_strategy_cost *cost)
{
    return (float)(study->has_overlap ? cost->overlapped_s : cost->time_s);
}

/* Time of the best strategy on a placement. */
static float best_on(const ridge_shard_study *study, const ridge_laid_mesh *laid)
{
    float best = (float)INFINITY;
    for (int i = 0; i < study->n; i++) {
        const ridge_strategy_cost cost = ridge_strategy_price(
            &study->expr, &study->strategies[i].strategy, laid, &study->formats);
        best = fminf(best, rank_of(study, &cost));
    }
    return best;
}

/* Parts of network axes that the mesh axes lie on: fewer are plainer. */
static int spans_of(const ridge_mesh *mesh, const ridge_laid_mesh *laid)
{
    int n = 0;
    for (int a = 0; a < mesh->n; a++)
        n += laid->groups[a].n_spans;
    return n;
}

static ridge_status find_placement(ridge_ctx *cx, ridge_shard_study *study)
{
    const ridge_mesh *mesh = &study->expr.mesh;
    const int64_t count = ridge_mesh_place_count(mesh, study->slice);
    float best = (float)INFINITY;
    for (int64_t i = 0; i < count; i++) {
        ridge_laid_mesh laid;
        if (!ridge_mesh_place_try(mesh, study->slice, i, &laid))
            continue;
        const float time = best_on(study, &laid);
        study->placements++;
        const bool is_plainer = spans_of(mesh, &laid) < spans_of(mesh, &study->laid);
        if (study->placements == 1 || time < best || (time <= best && is_plainer)) {
            best = time;
            study->laid = laid;
        }
        if (ridge_ctx_is_cancelled(cx))
            return ridge_fail(cx, RIDGE_E_CANCELLED, "cancelled");
    }
    if (study->placements > 0)
        return RIDGE_OK;
    return ridge_fail(cx, RIDGE_E_ARG,
                      "the mesh does not lie on the axes of %s: axis sizes must be "
                      "products of their factors",
                      study->slice->text);
}

/* Best first; equal ones stay in the order of bytes. */
static void sort_strategies(ridge_shard_study *study)
{
    for (int i = 1; i < study->n; i++) {
        const ridge_priced_strategy moved = study->strategies[i];
        int at = i;
        while (at > 0 && rank_of(study, &moved.cost) <
                             rank_of(study, &study->strategies[at - 1].cost)) {
            study->strategies[at] = study->strategies[at - 1];
            at--;
        }
        study->strategies[at] = moved;
    }
}

static ridge_status price(ridge_ctx *cx, const char *place, ridge_shard_study *study)
{
    RIDGE_TRY(ridge_mesh_place_check(cx, &study->expr.mesh, study->slice));
    if (place) {
        study->placements = 1;
        RIDGE_TRY(ridge_mesh_place_parse(cx, place, &study->expr.mesh, study->slice,
                                         &study->laid));
    } else {
        RIDGE_TRY(find_placement(cx, study));
    }
    for (int i = 0; i < study->n; i++) {
        study->strategies[i].cost =
            ridge_strategy_price(&study->expr, &study->strategies[i].strategy,
                                 &study->laid, &study->formats);
    }
    sort_strategies(study);
    return RIDGE_OK;
}

ridge_status ridge_shard_study_find(ridge_ctx *cx, const ridge_shard_request *request,
                                    ridge_shard_study *out)
{
    ridge_shard_study study = {
        .expr = *request->expr,
        .slice = request->slice,
        .formats = request->formats,
        .has_overlap = request->has_overlap,
    };
    set_bytes(&request->formats, &study.expr);
    RIDGE_TRY(find_strategies(cx, &study));
    study.output_bytes =
        local_bytes(&study.expr, study.expr.n_inputs, &study.expr.output.sharding);
    if (study.slice)
        RIDGE_TRY(price(cx, request->place, &study));
    *out = study;
    return RIDGE_OK;
}
