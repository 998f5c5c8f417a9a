/* The machine: values, lists of instructions, what each operation is handed to. */
#include "machine.h"

#include "fused_bias.h"
#include "value_reuse.h"

#include <string.h>

/* ---- opening ----------------------------------------------------------------------
 */

/* A group of this rank's mesh is one of the world's. */
static ridge_status open_group(ridge__machine *m, ridge_comm *world, const int *axes,
                               int n, ridge_comm **out)
{
    const ridge_mesh *mesh = &m->partition->mesh;
    const ridge_mesh *all = m->options.world ? m->options.world : mesh;
    int shifted[RIDGE_MESH_AXIS_MAX];
    for (int i = 0; i < n; i++)
        shifted[i] = axes[i] + all->n - mesh->n;
    return ridge_comm_axes(m->cx, world, all, shifted, n, out);
}

static ridge_status open_groups(ridge__machine *m, ridge_comm *world)
{
    const ridge_mesh *mesh = &m->partition->mesh;
    m->groups =
        ridge_new(ridge_ctx_arena(m->cx), ridge_comm *, (size_t)m->program->n_ops + 1);
    if (m->groups == NULL)
        return ridge_fail_nomem(m->cx);
    for (int a = 0; a < mesh->n; a++)
        RIDGE_TRY(open_group(m, world, &a, 1, &m->axis_groups[a]));
    for (int i = 0; i < m->program->n_ops; i++) {
        const ridge_operation *op = &m->program->ops[i];
        const bool is_ring = op->code == RIDGE_OPCODE_EINSUM && op->n_axes > 0;
        if (op->code != RIDGE_OPCODE_COLLECTIVE && !is_ring)
            continue;
        if (op->n_axes == 1)
            m->groups[i] = m->axis_groups[op->axes[0]];
        else
            RIDGE_TRY(open_group(m, world, op->axes, op->n_axes, &m->groups[i]));
    }
    return RIDGE_OK;
}

/* Where the rank stands on the partition's mesh. */
static void find_coords(ridge__machine *m, const ridge_comm *world)
{
    const ridge_mesh *mesh = &m->partition->mesh;
    const ridge_mesh *all = m->options.world ? m->options.world : mesh;
    int64_t coords[RIDGE_MESH_AXIS_MAX];
    ridge_mesh_coords(all, ridge_comm_rank(world), coords);
    for (int a = 0; a < mesh->n; a++)
        m->coords[a] = coords[a + all->n - mesh->n];
}

static ridge_status make_parts(ridge__machine *m)
{
    m->parts = ridge_new(ridge_ctx_arena(m->cx), ridge__tensor_part,
                         (size_t)m->program->n_tensors + 1);
    if (m->parts == NULL)
        return ridge_fail_nomem(m->cx);
    for (int t = 0; t < m->program->n_tensors; t++)
        m->parts[t] = ridge__tensor_part_of(m->partition, t, m->coords);
    return RIDGE_OK;
}

/* The loss, and the collectives that finish it, are fp32 whatever the layers are. */
static bool is_loss(const ridge_program *program, int tensor)
{
    for (;;) {
        const int maker = ridge__tensor_maker(program, tensor);
        const ridge_operation *op = maker >= 0 ? &program->ops[maker] : NULL;
        if (op == NULL || op->is_backward)
            return false;
        if (op->code == RIDGE_OPCODE_LOSS)
            return true;
        if (op->code != RIDGE_OPCODE_COLLECTIVE && op->code != RIDGE_OPCODE_ELEMENTWISE)
            return false;
        tensor = op->inputs[0];
    }
}

static ridge_dtype format_of(const ridge__machine *m, int tensor)
{
    const ridge_tensor *t = &m->program->tensors[tensor];
    const int of = t->gradient_of;
    const bool is_weights =
        of >= 0 && m->program->tensors[of].role == RIDGE_ROLE_WEIGHT;
    if (is_weights && m->options.gradient == RIDGE_DTYPE_FP32)
        return RIDGE_DTYPE_FP32;
    if (t->role == RIDGE_ROLE_STATE && t->dtype == RIDGE_DTYPE_INT8)
        return RIDGE_DTYPE_INT8;
    return t->dtype == RIDGE_DTYPE_BF16 && !is_loss(m->program, tensor)
               ? RIDGE_DTYPE_BF16
               : RIDGE_DTYPE_FP32;
}

static ridge_status make_formats(ridge__machine *m)
{
    m->formats = ridge_new(ridge_ctx_arena(m->cx), ridge_dtype,
                           (size_t)m->program->n_tensors + 1);
    if (m->formats == NULL)
        return ridge_fail_nomem(m->cx);
    for (int t = 0; t < m->program->n_tensors; t++)
        m->formats[t] = format_of(m, t);
    return RIDGE_OK;
}

static ridge_status make_trace(ridge__machine *m)
{
    m->trace = ridge_new(ridge_ctx_arena(m->cx), ridge__trace_event,
                         (size_t)m->options.trace_most + 1);
    return m->trace ? RIDGE_OK : ridge_fail_nomem(m->cx);
}

ridge_status ridge__machine_open(ridge_ctx *cx, ridge__device *device,
                                 ridge_comm *world, const ridge_partition *partition,
                                 const ridge__machine_options *options,
                                 ridge__machine **out)
{
    ridge__machine *m = ridge_new(ridge_ctx_arena(cx), ridge__machine, 1);
    if (m == NULL)
        return ridge_fail_nomem(cx);
    *m = (ridge__machine){.cx = cx,
                          .device = device,
                          .partition = partition,
                          .program = partition->program,
                          .options = *options};
    RIDGE_TRY(ridge__machine_check(cx, device, partition));
    find_coords(m, world);
    RIDGE_TRY(make_parts(m));
    RIDGE_TRY(make_formats(m));
    RIDGE_TRY(ridge__unroll(cx, partition, &options->unrolling, &m->unrolled));
    RIDGE_TRY(open_groups(m, world));
    RIDGE_TRY(make_trace(m));
    RIDGE_TRY(ridge__machine_make_fixed(m));
    *out = m;
    return RIDGE_OK;
}

void ridge__machine_close(ridge__machine *m)
{
    for (int v = 0; m->fixed && !m->options.lender && v < m->unrolled.n_values; v++)
        ridge__value_drop(m, &m->fixed[v]);
}

/* ---- calls ------------------------------------------------------------------------
 */

static ridge_status run_code(ridge__call *c)
{
    switch (c->op->code) {
    case RIDGE_OPCODE_EINSUM:
        return c->op->n_axes > 0 ? ridge__call_ring_product(c) : ridge__call_einsum(c);
    case RIDGE_OPCODE_ATTENTION:
        return ridge__call_attention(c);
    case RIDGE_OPCODE_NORM:
        return ridge__call_norm(c);
    case RIDGE_OPCODE_ELEMENTWISE:
        return ridge__call_elementwise(c);
    case RIDGE_OPCODE_GATHER:
        return ridge__call_gather(c);
    case RIDGE_OPCODE_LOSS:
        return ridge__call_loss(c);
    case RIDGE_OPCODE_ROUTE:
        return ridge__call_route(c);
    case RIDGE_OPCODE_DISPATCH:
        return ridge__call_dispatch(c);
    case RIDGE_OPCODE_COMBINE:
        return ridge__call_combine(c);
    case RIDGE_OPCODE_UPDATE:
        return ridge__call_update(c);
    case RIDGE_OPCODE_COLLECTIVE:
        return ridge__call_collective(c);
    case RIDGE_OPCODE_SEND:
        return ridge__call_send(c);
    case RIDGE_OPCODE_SCAN:
        return ridge__call_scan(c);
    }
    return ridge_fail(c->m->cx, RIDGE_E_INTERNAL, "%s is of no known code",
                      c->op->name);
}

/* ---- instructions -----------------------------------------------------------------
 */

static bool is_copy(const ridge_operation *op)
{
    return op->code == RIDGE_OPCODE_ELEMENTWISE && op->function == RIDGE_FUNCTION_COPY;
}

/* Sums over repetitions within a microbatch start at zero. */
static ridge_status make_output(ridge__call *c, int output)
{
    ridge__value *v = c->out[output];
    const int tensor = c->op->outputs[output];
    const bool is_new = v->p == NULL;
    if (c->m->parts[tensor].is_rows) /* those of a dispatch it makes itself */
        return c->op->code == RIDGE_OPCODE_DISPATCH ||
                       c->op->code == RIDGE_OPCODE_COLLECTIVE || is_copy(c->op)
                   ? RIDGE_OK
                   : ridge__rows_make(c, output);
    RIDGE_TRY(ridge__value_make(c->m, v, tensor));
    if (is_new && c->op->is_added)
        return c->m->device->ops->zero(c->m->device, v->p,
                                       (size_t)v->elements *
                                           (size_t)ridge_dtype_bytes(v->dtype));
    return RIDGE_OK;
}

/* Whether an output is a sum that goes on. */
static bool adds_up(const ridge__call *c, int output)
{
    const bool is_gradient =
        c->m->unrolled.kind[c->at->out[output]] == RIDGE__VALUE_GRADIENT;
    return c->op->is_added || (is_gradient && c->flight->adds);
}

static ridge_status missing(ridge__machine *m, const ridge_operation *op, int input)
{
    return ridge_fail(m->cx, RIDGE_E_INTERNAL, "%s reads %s, which is not there",
                      op->name, m->program->tensors[op->inputs[input]].name);
}

static ridge_status find_inputs(ridge__call *c)
{
    for (int i = 0; i < c->op->n_inputs; i++) {
        c->in[i] = ridge__machine_value(c->m, c->flight, c->at->in[i]);
        if (c->in[i]->p == NULL)
            return missing(c->m, c->op, i);
    }
    return RIDGE_OK;
}

static ridge_status open_call(ridge__machine *m, ridge__flight *flight,
                              const ridge__list *list, const ridge__instruction *at,
                              ridge__call *c)
{
    *c = (ridge__call){
        .m = m, .flight = flight, .at = at, .op = &m->program->ops[at->op]};
    if (at->side >= 0)
        c->side = ridge__machine_value(m, flight, at->side);
    RIDGE_TRY(find_inputs(c));
    for (int i = 0; i < c->op->n_outputs; i++)
        c->out[i] = ridge__machine_value(m, flight, at->out[i]);
    ridge__values_take_over(c, list);
    for (int i = 0; i < c->op->n_outputs && c->op->code != RIDGE_OPCODE_SEND; i++)
        RIDGE_TRY(make_output(c, i));
    for (int i = 0; i < c->op->n_outputs; i++)
        c->adds[i] = adds_up(c, i);
    return RIDGE_OK;
}

static void note_trace(ridge__machine *m, const ridge__call *c, bool is_taken_in,
                       double start_s)
{
    if (m->n_trace < m->options.trace_most)
        m->trace[m->n_trace++] = (ridge__trace_event){.op = c->at->op,
                                                      .repetition = c->at->repetition,
                                                      .tag = c->flight->tag,
                                                      .is_taken_in = is_taken_in,
                                                      .start_s = start_s,
                                                      .end_s = ridge_clock_s()};
}

static void free_values(ridge__machine *m, ridge__flight *flight,
                        const ridge__list *list, const ridge__instruction *at)
{
    for (int i = 0; i < at->n_free; i++)
        ridge__value_drop(
            m, ridge__machine_value(m, flight, list->frees[at->first_free + i]));
}

static ridge_status run_call(ridge__call *c)
{
    const ridge_status st = run_code(c);
    ridge__values_hand_over(c);
    if (st != RIDGE_OK) {
        ridge_ctx_note(c->m->cx, "%s", c->op->name);
        return st;
    }
    return c->m->is_traced ? c->m->device->ops->finish(c->m->device) : RIDGE_OK;
}

static ridge_status run_one(ridge__machine *m, ridge__flight *flight,
                            const ridge__list *list, const ridge__instruction *at)
{
    ridge__call c;
    const double start_s = m->is_traced ? ridge_clock_s() : 0.0;
    RIDGE_TRY(open_call(m, flight, list, at, &c));
    RIDGE_TRY(run_call(&c));
    if (m->is_traced)
        note_trace(m, &c, false, start_s);
    free_values(m, flight, list, at);
    return RIDGE_OK;
}

/* A product and the bias behind it: what the second writes is written at once. A trace
 * has the second too, without time. */
static ridge_status run_biased(ridge__machine *m, ridge__flight *flight,
                               const ridge__list *list, const ridge__instruction *at)
{
    const ridge__instruction *add = at + 1;
    const ridge__value *bias = ridge__machine_value(m, flight, add->in[1]);
    ridge__instruction both = *at;
    ridge__call c;
    const double start_s = m->is_traced ? ridge_clock_s() : 0.0;
    if (bias->p == NULL)
        return missing(m, &m->program->ops[add->op], 1);
    both.out[0] = add->out[0];
    RIDGE_TRY(open_call(m, flight, list, &both, &c));
    c.bias = (ridge__array){bias->p, bias->dtype};
    RIDGE_TRY(run_call(&c));
    if (m->is_traced) {
        note_trace(m, &c, false, start_s);
        c.at = add;
        note_trace(m, &c, true, ridge_clock_s());
    }
    free_values(m, flight, list, at);
    free_values(m, flight, list, add);
    return RIDGE_OK;
}

ridge_status ridge__machine_run(ridge__machine *m, ridge__flight *flight,
                                ridge__list_kind kind)
{
    const ridge__list *list = &m->unrolled.lists[kind];
    for (int i = 0; i < list->n; i++) {
        if (ridge_ctx_is_cancelled(m->cx))
            return ridge_fail(m->cx, RIDGE_E_CANCELLED, "the run was stopped");
        if (ridge__bias_follows(m, list, i))
            RIDGE_TRY(run_biased(m, flight, list, &list->at[i++]));
        else
            RIDGE_TRY(run_one(m, flight, list, &list->at[i]));
    }
    return RIDGE_OK;
}

static bool writes(const ridge__machine *m, const ridge__instruction *i, int value)
{
    for (int o = 0; o < m->program->ops[i->op].n_outputs; o++) {
        if (i->out[o] == value)
            return true;
    }
    return false;
}

/* Whether an instruction is the first of a microbatch that writes a value. */
static bool is_first_writer(const ridge__machine *m, ridge__list_kind kind, int index,
                            int value)
{
    for (int l = 0; l <= (int)kind; l++) {
        const ridge__list *list = &m->unrolled.lists[l];
        const int end = l == (int)kind ? index : list->n;
        for (int i = 0; i < end; i++) {
            if (writes(m, &list->at[i], value))
                return false;
        }
    }
    return true;
}

static ridge_status zero_value(ridge__machine *m, const ridge__value *v)
{
    return m->device->ops->zero(
        m->device, v->p, (size_t)v->elements * (size_t)ridge_dtype_bytes(v->dtype));
}

ridge_status ridge__machine_begin(ridge__machine *m)
{
    m->rows.n = 0;
    for (int l = 0; l < RIDGE__LIST_REDUCE; l++) {
        const ridge__list *list = &m->unrolled.lists[l];
        for (int i = 0; i < list->n; i++) {
            const ridge_operation *op = &m->program->ops[list->at[i].op];
            const int value = op->n_outputs > 0 ? list->at[i].out[0] : -1;
            if (op->is_added && m->unrolled.kind[value] == RIDGE__VALUE_GRADIENT &&
                is_first_writer(m, (ridge__list_kind)l, i, value))
                RIDGE_TRY(zero_value(m, &m->fixed[value]));
        }
    }
    return RIDGE_OK;
}
