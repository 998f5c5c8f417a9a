/*
 * The loss over a vocabulary that may be cut: the state of a softmax (largest logit,
 * sum, the label's logit) is a side value, which the collectives of the loss finish.
 * @source shoeybi2019 section 3 (parallel cross entropy)
 */
#include "machine.h"

#include <string.h>

enum { STATE_TOP, STATE_SUM, STATE_PICKED, STATE_LSE, STATE_OLD, STATE_COUNT };

static float *state(const ridge__call *c, int row)
{
    return (float *)c->side->p + row * (c->side->elements / STATE_COUNT);
}

static ridge__loss loss_of(const ridge__call *c, int64_t rows)
{
    return (ridge__loss){.rows = rows,
                         .top = state(c, STATE_TOP),
                         .sum = state(c, STATE_SUM),
                         .picked = state(c, STATE_PICKED),
                         .lse = state(c, STATE_LSE)};
}

static ridge_status make_state(ridge__call *c, int64_t rows)
{
    ridge__value made = {.elements = rows * STATE_COUNT, .dtype = RIDGE_DTYPE_FP32};
    if (c->side->p != NULL)
        return RIDGE_OK;
    RIDGE_TRY(c->m->device->ops->alloc(c->m->device,
                                       (size_t)made.elements * sizeof(float), &made.p));
    *c->side = made;
    return RIDGE_OK;
}

static void fill_logits(const ridge__call *c, ridge__loss *l)
{
    const ridge__tensor_part *logits = ridge__in_part(c, 0);
    const ridge__span words = logits->spans[logits->n_dims - 1];
    l->words = words.valid;
    l->stride = words.length;
    l->first = words.start;
    l->logits = ridge__in_array(c, 0);
    l->labels = c->in[1]->p;
}

static ridge_status backward(ridge__call *c, int64_t rows)
{
    ridge__loss l = loss_of(c, rows);
    fill_logits(c, &l);
    l.d_logits = ridge__out_array(c, 0);
    if (c->op->n_inputs > 2)
        l.d_loss = ridge__in_array(c, 2);
    return c->m->device->ops->loss_backward(c->m->device, &l);
}

ridge_status ridge__call_loss(ridge__call *c)
{
    const ridge__tensor_part *logits = ridge__in_part(c, 0);
    const int64_t rows = ridge__tensor_part_product(logits, 0, logits->n_dims - 1);
    if (c->op->is_backward)
        return backward(c, rows);
    RIDGE_TRY(make_state(c, rows));
    ridge__loss l = loss_of(c, rows);
    fill_logits(c, &l);
    RIDGE_TRY(c->m->device->ops->loss_partial(c->m->device, &l));
    if (c->m->partition->shardings[c->op->outputs[0]].partial != 0)
        return RIDGE_OK;
    l.loss = ridge__out_array(c, 0);
    return c->m->device->ops->loss_finish(c->m->device, &l);
}

/* The first all-reduce finds the largest logit of all parts. */
static ridge_status reduce_top(ridge__call *c, ridge_comm *group, int64_t rows)
{
    ridge__device *d = c->m->device;
    ridge_pending pending;
    const ridge__loss l = loss_of(c, rows);
    const ridge__copy keep = {.n_dims = 1,
                              .sizes = {rows},
                              .x_strides = {1},
                              .y_strides = {1},
                              .x = {l.top, RIDGE_DTYPE_FP32},
                              .y = {state(c, STATE_OLD), RIDGE_DTYPE_FP32}};
    RIDGE_TRY(d->ops->copy(d, &keep));
    RIDGE_TRY(d->ops->finish(d));
    RIDGE_TRY(ridge_all_reduce_start(c->m->cx, group, RIDGE_ELEMENT_F32,
                                     RIDGE_REDUCE_MAX, rows, state(c, STATE_OLD), l.top,
                                     &pending));
    RIDGE_TRY(ridge_comm_wait(c->m->cx, &pending));
    return d->ops->loss_rescale(d, &l, state(c, STATE_OLD));
}

/* The second adds up the sums and finds the label's logit, wherever it was. */
static ridge_status reduce_sum(ridge__call *c, ridge_comm *group, int64_t rows)
{
    ridge__device *d = c->m->device;
    ridge_pending pending;
    RIDGE_TRY(d->ops->finish(d));
    RIDGE_TRY(ridge_all_reduce_start(c->m->cx, group, RIDGE_ELEMENT_F32,
                                     RIDGE_REDUCE_SUM, 2 * rows, state(c, STATE_SUM),
                                     state(c, STATE_SUM), &pending));
    return ridge_comm_wait(c->m->cx, &pending);
}

/* Labels of a loss: those of the operation whose state this is. */
static const int32_t *labels_of(const ridge__call *c)
{
    const ridge__unrolled *u = &c->m->unrolled;
    const int loss = -1 - u->tensor_of[c->at->side];
    const ridge_operation *op = &c->m->program->ops[loss];
    const int block = ridge__op_block_of(c->m->program, loss);
    const int value =
        ridge__value_of(u, block, u->repetition_of[c->at->side], op->inputs[1]);
    return ridge__machine_value(c->m, c->flight, value)->p;
}

ridge_status ridge__call_loss_reduce(ridge__call *c)
{
    const int maker = ridge__tensor_maker(c->m->program, c->op->inputs[0]);
    const int64_t rows = c->side->elements / STATE_COUNT;
    ridge_comm *group = c->m->groups[c->at->op];
    if (c->m->program->ops[maker].code == RIDGE_OPCODE_LOSS)
        return reduce_top(c, group, rows);
    RIDGE_TRY(reduce_sum(c, group, rows));
    ridge__loss l = loss_of(c, rows);
    l.labels = labels_of(c);
    l.loss = ridge__out_array(c, 0);
    return c->m->device->ops->loss_finish(c->m->device, &l);
}
