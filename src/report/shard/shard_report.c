/* A sharded einsum for people: the best strategy step by step, all strategies, local
 * shapes, padding, and how the mesh lies. The JSON is in shard_json.c. */
#include "laid_text.h"
#include "shard_proof.h"

#include "ridge/report_shard.h"

static const char *text_of(const ridge_buf *b)
{
    return ridge_buf_text(b);
}

static ridge_buf new_buf(ridge_ctx *cx)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    return b;
}

static const char *title_of(ridge_ctx *cx, const ridge_shard_study *study)
{
    ridge_buf b = new_buf(cx);
    ridge_expr_write(&study->expr, &b);
    ridge_buf_puts(&b, " with ");
    ridge_buf_puts(&b, ridge__mesh_text(cx, &study->expr.mesh));
    if (study->slice)
        ridge_buf_printf(&b, " on %s", study->slice->text);
    return text_of(&b);
}

static const char *case_text(int kind)
{
    switch (kind) {
    case 1:
        return "Case 1: no contracted dim is cut; nothing has to move to multiply. ";
    case 2:
        return "Case 2: a contracted dim is cut in one operand alone, or differently; "
               "one of them has to move. ";
    case 3:
        return "Case 3: a contracted dim is cut alike; the local products are partial "
               "sums. ";
    case 4:
        return "Case 4: one axis cuts a free dim of both operands; one of them has to "
               "give way. ";
    default:
        return "";
    }
}

static const char *strategy_text(ridge_ctx *cx, const ridge_expr *expr,
                                 const ridge_strategy *s)
{
    ridge_buf b = new_buf(cx);
    ridge_strategy_write(expr, s, &b);
    return text_of(&b);
}

static double time_of(const ridge_shard_study *study, int which)
{
    const ridge_strategy_cost *cost = &study->strategies[which].cost;
    return study->has_overlap ? cost->overlapped_s : cost->time_s;
}

/* Which is best, and by how much. */
static const char *verdict(ridge_ctx *cx, const ridge_shard_study *study)
{
    ridge_buf b = new_buf(cx);
    ridge_buf_puts(&b, case_text(ridge_expr_case(&study->expr)));
    ridge_buf_printf(&b, "%s: %s",
                     study->n == 1  ? "The only strategy"
                     : study->slice ? "Fastest"
                                    : "Sends the least",
                     strategy_text(cx, &study->expr, &study->strategies[0].strategy));
    if (study->slice)
        ridge_buf_printf(&b, ", %s", ridge_format_seconds(time_of(study, 0)).s);
    ridge_buf_puts(&b, ".");
    if (study->slice && study->n > 1 && time_of(study, 0) > 0) {
        ridge_buf_printf(
            &b, " The next of %d takes %s more.", study->n,
            ridge_format_percent(time_of(study, 1) / time_of(study, 0) - 1).s);
    }
    return text_of(&b);
}

static void bytes_cell(ridge_table *t, double bytes)
{
    ridge_table_cellf(t, "%s", ridge_format_bytes(bytes).s);
}

static void seconds_cell(ridge_table *t, double s)
{
    ridge_table_cellf(t, "%s", ridge_format_seconds(s).s);
}

/* ---- the best strategy, step by step ------------------------------------------- */

static void add_product_row(const ridge_shard_study *study, ridge_table *t)
{
    const ridge_strategy_cost *cost = &study->strategies[0].cost;
    ridge_table_cell(t, "multiply");
    ridge_table_cell(t, "");
    ridge_table_cell(t, "");
    if (study->slice) {
        seconds_cell(t, cost->compute.expected_s);
        seconds_cell(t, cost->compute.bound_s);
    }
}

static void add_steps(ridge_ctx *cx, const ridge_shard_study *study,
                      ridge_sections *out)
{
    const ridge_strategy *s = &study->strategies[0].strategy;
    ridge_table *t = ridge__section_add(
        cx, out, study->slice ? "Fastest strategy" : "Strategy that sends the least",
        study->slice ? "step|>array of a group|>sent by a chip|>expected|>bound"
                     : "step|>array of a group|>sent by a chip");
    for (int i = 0; i <= s->n_steps; i++) {
        if (i == s->n_before)
            add_product_row(study, t);
        if (i == s->n_steps)
            break;
        ridge_buf b = new_buf(cx);
        ridge_reshard_write(&study->expr, &s->steps[i], &b);
        ridge_table_cell(t, text_of(&b));
        bytes_cell(t, s->steps[i].bytes);
        bytes_cell(t, ridge_reshard_sent_bytes(&study->expr.mesh, &s->steps[i]));
        if (study->slice) {
            seconds_cell(t, study->strategies[0].cost.steps[i].expected_s);
            seconds_cell(t, study->strategies[0].cost.steps[i].bound_s);
        }
    }
    if (!study->slice)
        return;
    const ridge_range range =
        ridge_strategy_range(s, &study->strategies[0].cost, study->has_overlap);
    ridge__section_note(out, ridge_sprintf(ridge_ctx_arena(cx),
                                           "Range %s to %s, as measured products and "
                                           "collectives of these kinds spread.",
                                           ridge_format_seconds(range.low_s).s,
                                           ridge_format_seconds(range.high_s).s));
}

/* ---- all strategies -------------------------------------------------------------- */

static void add_strategy_row(ridge_ctx *cx, const ridge_shard_study *study, int which,
                             ridge_table *t)
{
    const ridge_priced_strategy *p = &study->strategies[which];
    ridge_table_cell(t, strategy_text(cx, &study->expr, &p->strategy));
    bytes_cell(t, p->sent_bytes);
    bytes_cell(t, p->held_bytes);
    if (!study->slice)
        return;
    seconds_cell(t, p->cost.time_s);
    seconds_cell(t, p->cost.overlapped_s);
    seconds_cell(t, p->cost.exposed_s);
    seconds_cell(t, p->cost.bound_s);
    ridge_table_cell(t, ridge_bound_text(p->cost.bound_by));
}

static void add_strategies(ridge_ctx *cx, const ridge_shard_view *view,
                           ridge_sections *out)
{
    const ridge_shard_study *study = view->study;
    const int shown =
        view->has_all || study->n < RIDGE_SHARD_SHOWN ? study->n : RIDGE_SHARD_SHOWN;
    ridge_table *t = ridge__section_add(
        cx, out, "Strategies",
        study->slice
            ? "steps|>sent|>held|>one by one|>overlapped|>exposed|>bound|bound by"
            : "steps|>sent|>held");
    for (int i = 0; i < shown; i++)
        add_strategy_row(cx, study, i, t);
    ridge_buf b = new_buf(cx);
    if (shown < study->n)
        ridge_buf_printf(&b, "%d more: --all or --json. ", study->n - shown);
    ridge_buf_puts(&b, "Sent and held (operands as multiplied, and the product) are of "
                       "one chip.");
    if (study->slice) {
        ridge_buf_puts(&b, " One by one: nothing is hidden. Overlapped: gathers and "
                           "scatters beside the product run in chunks behind it, all "
                           "but one chunk; exposed is what remains of the network. "
                           "Bound: everything at once, at nominal rates.");
    }
    ridge__section_note(out, text_of(&b));
}

/* ---- shapes ---------------------------------------------------------------------- */

static const char *notation_of(ridge_ctx *cx, const ridge_expr *expr,
                               const ridge_expr_tensor *t, const ridge_sharding *s)
{
    ridge_expr_tensor lying = *t;
    ridge_buf b = new_buf(cx);
    lying.sharding = *s;
    ridge_expr_tensor_write(expr, &lying, &b);
    return text_of(&b);
}

static const char *shape_of(ridge_ctx *cx, const ridge_expr *expr,
                            const ridge_expr_tensor *t, const ridge_sharding *s)
{
    ridge_buf b = new_buf(cx);
    for (int d = 0; d < t->n_dims; d++) {
        ridge_buf_printf(&b, "%s%lld", d ? " x " : "",
                         (long long)ridge_dim_local(&expr->mesh, &s->dims[d],
                                                    expr->dims[t->dims[d]].size));
    }
    return t->n_dims ? text_of(&b) : "1";
}

static double bytes_of(const ridge_expr *expr, const ridge_expr_tensor *t,
                       const ridge_sharding *s)
{
    int64_t sizes[RIDGE_TENSOR_DIM_MAX];
    ridge_expr_tensor_sizes(expr, t, sizes);
    return ridge_sharding_local_elements(&expr->mesh, s, sizes) * t->element_bytes;
}

/* How often the mesh holds an array whose shards several chips have alike. */
static void add_copies(ridge_ctx *cx, const ridge_shard_study *study,
                       ridge_sections *out)
{
    const ridge_expr *e = &study->expr;
    const double chips = (double)ridge_mesh_size(&e->mesh);
    ridge_buf b = new_buf(cx);
    for (int i = 0; i <= e->n_inputs; i++) {
        const ridge_expr_tensor *a = ridge_expr_operand(e, i);
        const ridge_sharding whole = {.n_dims = a->sharding.n_dims};
        const double all = chips * bytes_of(e, a, &a->sharding);
        const double copies = all / bytes_of(e, a, &whole);
        if (copies < 2 || a->sharding.partial != 0)
            continue;
        ridge_buf_printf(&b, "%s%s %s times, %s in all", b.n ? "; " : "The mesh holds ",
                         a->name, ridge_format_double(copies).s,
                         ridge_format_bytes(all).s);
    }
    if (b.n == 0)
        return;
    ridge_buf_puts(&b, ".");
    ridge__section_note(out, ridge_buf_text(&b));
}

/* An operand as given and as multiplied; the product as it comes out and as wanted. */
static void add_shapes(ridge_ctx *cx, const ridge_shard_study *study,
                       ridge_sections *out)
{
    const ridge_expr *e = &study->expr;
    const ridge_strategy *s = &study->strategies[0].strategy;
    ridge_table *t = ridge__section_add(
        cx, out, "Local shapes", "array|>shape|>bytes|when multiplied|>shape|>bytes");
    for (int i = 0; i <= e->n_inputs; i++) {
        const ridge_expr_tensor *a = ridge_expr_operand(e, i);
        const ridge_sharding *then = i < e->n_inputs ? &s->inputs[i] : &s->output;
        ridge_table_cell(t, notation_of(cx, e, a, &a->sharding));
        ridge_table_cell(t, shape_of(cx, e, a, &a->sharding));
        bytes_cell(t, bytes_of(e, a, &a->sharding));
        ridge_table_cell(t, notation_of(cx, e, a, then));
        ridge_table_cell(t, shape_of(cx, e, a, then));
        bytes_cell(t, bytes_of(e, a, then));
    }
    add_copies(cx, study, out);
}

/* Dims that the best strategy cuts and that do not divide. */
static void add_padding(ridge_ctx *cx, const ridge_shard_study *study,
                        ridge_sections *out)
{
    const ridge_expr *e = &study->expr;
    const ridge_strategy *s = &study->strategies[0].strategy;
    const double share = ridge_strategy_padding(e, s);
    if (share <= 0)
        return;
    ridge_table *t = ridge__section_add(cx, out, "Padding",
                                        "dim|>size|>ways|>local|>padding|>share");
    for (int d = 0; d < e->n_dims; d++) {
        const ridge_dim_axes axes = ridge_strategy_dim_axes(e, s, d);
        const int64_t size = e->dims[d].size;
        const int64_t padding = ridge_dim_padding(&e->mesh, &axes, size);
        if (padding == 0)
            continue;
        ridge_table_cell(t, e->dims[d].name);
        ridge_table_cellf(t, "%s", ridge_format_exact(size).s);
        ridge_table_cellf(t, "%s",
                          ridge_format_exact(ridge_dim_ways(&e->mesh, &axes)).s);
        ridge_table_cellf(t, "%s",
                          ridge_format_exact(ridge_dim_local(&e->mesh, &axes, size)).s);
        ridge_table_cellf(t, "%s", ridge_format_exact(padding).s);
        ridge_table_cellf(
            t, "%s",
            ridge_format_percent((double)padding / (double)(size + padding)).s);
    }
    ridge_buf b = new_buf(cx);
    ridge_buf_printf(&b, "%s of the product is computed on padding",
                     ridge_format_percent(share).s);
    if (study->slice) {
        ridge_buf_printf(
            &b, ", about %s",
            ridge_format_seconds(share * study->strategies[0].cost.compute.expected_s)
                .s);
    }
    ridge_buf_puts(&b, "; steps carry it too.");
    ridge__section_note(out, text_of(&b));
}

static ridge_sections sections_of(ridge_ctx *cx, const ridge_shard_view *view)
{
    const ridge_shard_study *study = view->study;
    ridge_sections out = {.title = title_of(cx, study), .subtitle = verdict(cx, study)};
    add_steps(cx, study, &out);
    if (view->proof)
        ridge__shard_proof_add(cx, view, &out);
    if (study->n > 1)
        add_strategies(cx, view, &out);
    add_shapes(cx, study, &out);
    add_padding(cx, study, &out);
    if (study->slice) {
        ridge__placement_add(cx, &study->expr.mesh, &study->laid, study->placements,
                             &out);
    }
    return out;
}

void ridge_shard_write_text(ridge_ctx *cx, const ridge_shard_view *view,
                            bool with_colour, ridge_buf *out)
{
    const ridge_sections sections = sections_of(cx, view);
    ridge__sections_write_text(&sections, with_colour, out);
}

void ridge_shard_write_html(ridge_ctx *cx, const ridge_shard_view *view, ridge_buf *out)
{
    const ridge_sections sections = sections_of(cx, view);
    ridge__page_write(&sections, out);
}
