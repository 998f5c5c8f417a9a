/* Shardings of a program's intermediates that were searched, for people. The JSON is in
 * chain_json.c. */
#include "laid_text.h"

#include "ridge/report_shard.h"

static const char *title_of(ridge_ctx *cx, const ridge_chain_study *study)
{
    const ridge_chain_plan *plan = &study->plan;
    return ridge_sprintf(ridge_ctx_arena(cx), "%s with %s%s%s", plan->program->name,
                         ridge__mesh_text(cx, &plan->mesh), study->slice ? " on " : "",
                         study->slice ? study->slice->text : "");
}

static const char *verdict(ridge_ctx *cx, const ridge_chain_study *study)
{
    const ridge_chain_plan *plan = &study->plan;
    const ridge_text ways = ridge_format_count(plan->ways);
    if (!study->slice) {
        return ridge_sprintf(ridge_ctx_arena(cx),
                             "A chip sends %s, the least of %s combinations of "
                             "shardings.",
                             ridge_format_bytes(plan->sent_bytes).s, ways.s);
    }
    return ridge_sprintf(
        ridge_ctx_arena(cx),
        "%s, the least of %s combinations of shardings: %s of operations and %s of the "
        "network, one after the other.",
        ridge_format_seconds(plan->cost).s, ways.s,
        ridge_format_seconds(plan->compute_s).s,
        ridge_format_seconds(plan->network_s).s);
}

static void add_operations(ridge_ctx *cx, const ridge_chain_study *study,
                           ridge_sections *out)
{
    const ridge_chain_plan *plan = &study->plan;
    ridge_table *t = ridge__section_add(cx, out, "Operations",
                                        study->slice ? "operation|takes|gives|>expected"
                                                     : "operation|takes|gives");
    for (int i = 0; i < plan->n_ops; i++) {
        const ridge_chain_op *o = &plan->ops[i];
        const ridge_operation *op = &plan->program->ops[o->op];
        ridge_buf takes;
        ridge_buf_init(&takes, ridge_ctx_arena(cx));
        for (int k = 0; k < o->n_inputs; k++) {
            ridge_buf_printf(&takes, "%s%s", k ? " " : "",
                             ridge__laid_tensor(cx, plan->program, &plan->mesh,
                                                op->inputs[k], &o->inputs[k]));
        }
        ridge_table_cell(t, op->name);
        ridge_table_cell(t, ridge_buf_text(&takes));
        ridge_table_cell(t, ridge__laid_tensor(cx, plan->program, &plan->mesh,
                                               op->outputs[0], &o->output));
        if (study->slice)
            ridge_table_cellf(t, "%s", ridge_format_seconds(o->compute_s).s);
    }
}

/* Who a tensor is moved for. */
static const char *reader_of(const ridge_program *program, const ridge_chain_move *m)
{
    if (m->reader >= 0)
        return program->ops[m->reader].name;
    for (int i = 0; i < program->n_ops; i++) {
        for (int k = 0; k < program->ops[i].n_inputs; k++) {
            if (program->ops[i].inputs[k] == m->tensor)
                return "all readers";
        }
    }
    return "the result";
}

static void add_move(ridge_ctx *cx, const ridge_chain_study *study,
                     const ridge_chain_move *m, ridge_table *t)
{
    const ridge_chain_plan *plan = &study->plan;
    for (int k = 0; k < m->n_steps; k++) {
        const ridge_reshard *step = &m->steps[k];
        ridge_table_cell(
            t, ridge__laid_step(cx, plan->program, &plan->mesh, m->tensor, step));
        ridge_table_cell(t, reader_of(plan->program, m));
        ridge_table_cellf(t, "%s", ridge_format_bytes(step->bytes).s);
        ridge_table_cellf(
            t, "%s", ridge_format_bytes(ridge_reshard_sent_bytes(&plan->mesh, step)).s);
        if (study->slice)
            ridge_table_cellf(t, "%s", k == 0 ? ridge_format_seconds(m->time_s).s : "");
    }
}

static void add_moves(ridge_ctx *cx, const ridge_chain_study *study,
                      ridge_sections *out)
{
    const ridge_chain_plan *plan = &study->plan;
    if (plan->n_moves == 0) {
        ridge__section_note(out, "Nothing moves.");
        return;
    }
    ridge_table *t = ridge__section_add(
        cx, out, "Collectives",
        study->slice ? "step|for|>array of a group|>sent by a chip|>expected"
                     : "step|for|>array of a group|>sent by a chip");
    for (int i = 0; i < plan->n_moves; i++)
        add_move(cx, study, &plan->moves[i], t);
}

static ridge_sections sections_of(ridge_ctx *cx, const ridge_chain_study *study)
{
    ridge_sections out = {.title = title_of(cx, study), .subtitle = verdict(cx, study)};
    add_operations(cx, study, &out);
    add_moves(cx, study, &out);
    if (study->slice) {
        ridge__placement_add(cx, &study->plan.mesh, &study->laid, study->placements,
                             &out);
    }
    return out;
}

void ridge_chain_write_text(ridge_ctx *cx, const ridge_chain_study *study,
                            bool with_colour, ridge_buf *out)
{
    const ridge_sections sections = sections_of(cx, study);
    ridge__sections_write_text(&sections, with_colour, out);
}

void ridge_chain_write_html(ridge_ctx *cx, const ridge_chain_study *study,
                            ridge_buf *out)
{
    const ridge_sections sections = sections_of(cx, study);
    ridge__page_write(&sections, out);
}
