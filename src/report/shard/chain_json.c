/* Programs on a mesh as JSON: the keys of `ridge shard --program --json`, searched or
 * partitioned by rules. */
#include "laid_text.h"
#include "partition_proof.h"

#include "ridge/report_shard.h"

static void set_mesh(ridge_ctx *cx, const ridge_mesh *mesh, ridge_json *object)
{
    ridge_json *axes = ridge_json_set_object(cx, object, "mesh");
    for (int i = 0; i < mesh->n; i++)
        ridge_json_set_i64(axes, mesh->axes[i].name, mesh->axes[i].size);
}

/* ---- searched ------------------------------------------------------------------- */

static void push_chain_op(ridge_ctx *cx, const ridge_chain_plan *plan,
                          const ridge_chain_op *o, bool has_times, ridge_json *rows)
{
    const ridge_operation *op = &plan->program->ops[o->op];
    ridge_json *row = ridge_json_push_object(cx, rows);
    ridge_json_set_text(row, "name", op->name);
    ridge_json *takes = ridge_json_set_array(cx, row, "takes");
    for (int k = 0; k < o->n_inputs; k++) {
        ridge_json_push_text(takes, ridge__laid_tensor(cx, plan->program, &plan->mesh,
                                                       op->inputs[k], &o->inputs[k]));
    }
    ridge_json_set_text(
        row, "gives",
        ridge__laid_tensor(cx, plan->program, &plan->mesh, op->outputs[0], &o->output));
    if (has_times)
        ridge_json_set_double(row, "compute_s", o->compute_s);
}

static void push_move(ridge_ctx *cx, const ridge_chain_plan *plan,
                      const ridge_chain_move *m, ridge_json *rows)
{
    for (int k = 0; k < m->n_steps; k++) {
        const ridge_reshard *step = &m->steps[k];
        ridge_json *row = ridge_json_push_object(cx, rows);
        ridge_json_set_text(
            row, "text",
            ridge__laid_step(cx, plan->program, &plan->mesh, m->tensor, step));
        ridge_json_set_text(row, "kind", ridge_step_kind_text(step->kind));
        ridge_json_set_text(row, "tensor", plan->program->tensors[m->tensor].name);
        ridge_json_set_text(row, "reader",
                            m->reader < 0 ? NULL : plan->program->ops[m->reader].name);
        ridge_json_set_double(row, "bytes", step->bytes);
        ridge_json_set_double(row, "sent_bytes",
                              ridge_reshard_sent_bytes(&plan->mesh, step));
    }
}

void ridge_chain_write_json(ridge_ctx *cx, const ridge_chain_study *study,
                            ridge_json *object)
{
    const ridge_chain_plan *plan = &study->plan;
    ridge_json_set_text(object, "program", plan->program->name);
    set_mesh(cx, &plan->mesh, object);
    if (study->slice) {
        ridge__placement_set(cx, &plan->mesh, &study->laid, study->placements, object);
        ridge_json_set_double(object, "time_s", plan->cost);
        ridge_json_set_double(object, "compute_s", plan->compute_s);
        ridge_json_set_double(object, "network_s", plan->network_s);
    }
    ridge_json_set_double(object, "sent_bytes_per_chip", plan->sent_bytes);
    ridge_json_set_double(object, "combinations", plan->ways);
    ridge_json *ops = ridge_json_set_array(cx, object, "operations");
    for (int i = 0; i < plan->n_ops; i++)
        push_chain_op(cx, plan, &plan->ops[i], study->slice != NULL, ops);
    ridge_json *moves = ridge_json_set_array(cx, object, "collectives");
    for (int i = 0; i < plan->n_moves; i++)
        push_move(cx, plan, &plan->moves[i], moves);
}

/* ---- partitioned ---------------------------------------------------------------- */

static void push_operation(ridge_ctx *cx, const ridge_partition_study *study, int at,
                           ridge_json *rows)
{
    const ridge_partition *p = study->partition;
    const ridge_operation *op = &p->program->ops[at];
    ridge_json *row = ridge_json_push_object(cx, rows);
    ridge_json_set_text(row, "name", op->name);
    ridge_json_set_text(row, "code",
                        op->code == RIDGE_OPCODE_COLLECTIVE
                            ? ridge_step_kind_text((ridge_step_kind)op->collective)
                            : ridge_opcode_text(op->code));
    ridge_json *takes = ridge_json_set_array(cx, row, "takes");
    for (int i = 0; i < op->n_inputs; i++) {
        ridge_json_push_text(takes,
                             ridge__laid_tensor(cx, p->program, &p->mesh, op->inputs[i],
                                                &p->shardings[op->inputs[i]]));
    }
    ridge_json *gives = ridge_json_set_array(cx, row, "gives");
    for (int i = 0; i < op->n_outputs; i++) {
        ridge_json_push_text(gives, ridge__laid_tensor(cx, p->program, &p->mesh,
                                                       op->outputs[i],
                                                       &p->shardings[op->outputs[i]]));
    }
    if (!study->times)
        return;
    ridge_json_set_double(row, "time_s", study->times[at].expected_s);
    ridge_json_set_double(row, "bound_time_s", study->times[at].bound_s);
    ridge_json_set_double(row, "bytes", study->times[at].bytes);
    ridge_json_set_text(row, "bound_by", ridge_bound_text(study->times[at].bound_by));
}

static void push_block(ridge_ctx *cx, const ridge_partition_study *study, int at,
                       ridge_json *rows)
{
    const ridge_block *block = &study->partition->program->blocks[at];
    ridge_json *row = ridge_json_push_object(cx, rows);
    ridge_json_set_text(row, "name", block->name);
    ridge_json_set_i64(row, "repeat", block->repeat);
    if (study->slice) {
        const ridge_block_time *time = &study->timeline.blocks[at];
        ridge_json_set_double(row, "period_s", time->period_s);
        ridge_json_set_double(row, "exposed_s", time->exposed_s);
        ridge_json_set_double(row, "hidden_s", time->hidden_s);
    }
    ridge_json *ops = ridge_json_set_array(cx, row, "operations");
    for (int i = 0; i < block->n_ops; i++)
        push_operation(cx, study, block->first_op + i, ops);
}

void ridge_partition_write_json(ridge_ctx *cx, const ridge_partition_view *view,
                                ridge_json *object)
{
    const ridge_partition_study *study = view->study;
    const ridge_partition *p = study->partition;
    ridge_json_set_text(object, "program", p->program->name);
    set_mesh(cx, &p->mesh, object);
    if (study->slice) {
        ridge__placement_set(cx, &p->mesh, &study->laid, study->placements, object);
        ridge_json_set_double(object, "time_s", study->timeline.total_s);
    }
    ridge_json_set_bool(object, "is_overlapped", study->has_overlap);
    ridge_json *blocks = ridge_json_set_array(cx, object, "blocks");
    for (int i = 0; i < p->program->n_blocks; i++)
        push_block(cx, study, i, blocks);
    ridge_json *conflicts = ridge_json_set_array(cx, object, "conflicts");
    for (int i = 0; i < p->n_conflicts; i++) {
        ridge_json *row = ridge_json_push_object(cx, conflicts);
        ridge_json_set_text(row, "operation", p->program->ops[p->conflicts[i].op].name);
        ridge_json_set_text(row, "text", p->conflicts[i].text);
    }
    if (view->run)
        ridge__partition_proof_set(cx, view, object);
}
