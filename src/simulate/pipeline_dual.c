/*
 * DualPipe: two copies of the stages, so that microbatches go down the ranks and up
 * them at once (deepseek-v3-2024, figure 5). A rank and its mirror image hold the same
 * two stages and do the same with the ways exchanged; so an order is written for the
 * near way, whose first stages are closer to the rank, and the far one.
 */
#include "pipeline_write.h"

enum { NEAR, FAR, WAYS };

/* What a rank has done, each way. */
typedef struct dual {
    ridge__rank_order *order;
    int chunk[WAYS]; /* 0 down, 1 up */
    int n_forward[WAYS], n_backward[WAYS];
    int weight_from; /* place in the order behind the last I whose W is done */
} dual;

static void act(dual *d, ridge_pass pass, int way, int n)
{
    const int chunk = d->chunk[way];
    const int first = ridge_pipeline_range_of(d->order->pipeline, chunk).first;
    ridge__rank_act(d->order, pass, chunk, first + n);
}

static void forward(dual *d, int way)
{
    act(d, RIDGE_PASS_FORWARD, way, d->n_forward[way]++);
}

static void backward(dual *d, int way)
{
    act(d, RIDGE_PASS_BACKWARD, way, d->n_backward[way]++);
}

static void backward_input(dual *d, int way)
{
    act(d, RIDGE_PASS_BACKWARD_INPUT, way, d->n_backward[way]++);
}

/* Of the inputs' gradients whose weights' were put off, the oldest. */
static void backward_weight(dual *d)
{
    const ridge_action *actions = d->order->actions;
    while (actions[d->weight_from].pass != RIDGE_PASS_BACKWARD_INPUT)
        d->weight_from++;
    const ridge_action *input = &actions[d->weight_from++];
    ridge__rank_act(d->order, RIDGE_PASS_BACKWARD_WEIGHT, input->chunk,
                    input->microbatch);
}

/* Until both ways are full. */
static void write_warm_up(dual *d, int outer, int inner)
{
    for (int i = 0; i < 2 * inner; i++)
        forward(d, NEAR);
    for (int i = 0; i <= outer; i++) {
        forward(d, NEAR);
        forward(d, FAR);
    }
    for (int i = 0; i < inner; i++) {
        backward_input(d, FAR);
        backward_weight(d);
        forward(d, FAR);
    }
}

/* What is left; of the last backward passes the weights' gradients wait, so that those
 * of inputs go on to other ranks. */
static void write_cool_down(dual *d, int outer, int inner)
{
    for (int i = 0; i < inner; i++) {
        backward(d, FAR);
        forward(d, FAR);
        backward(d, NEAR);
    }
    for (int i = 0; i < 2 * (outer + 1); i++) {
        if (i <= outer)
            backward(d, i % 2 == 0 ? FAR : NEAR);
        else
            backward_input(d, i % 2 == 0 ? FAR : NEAR);
    }
    for (int i = 0; i < inner; i++) {
        backward_weight(d);
        backward_input(d, NEAR);
    }
    for (int i = 0; i <= outer; i++)
        backward_weight(d);
}

void ridge__rank_write_dual(ridge__rank_order *order)
{
    const ridge_pipeline *p = order->pipeline;
    const int mirror = p->ranks - 1 - order->rank;
    const int outer = order->rank < mirror ? order->rank : mirror;
    const int inner = p->ranks / 2 - 1 - outer; /* ranks to the middle */
    const int down = order->rank < mirror ? NEAR : FAR;
    dual d = {.order = order, .chunk = {[NEAR] = down == NEAR ? 0 : 1}};
    d.chunk[FAR] = 1 - d.chunk[NEAR];
    write_warm_up(&d, outer, inner);
    for (int i = 0; i < p->microbatches / 2 - p->ranks + outer + 1; i++) {
        forward(&d, NEAR);
        backward(&d, FAR);
        forward(&d, FAR);
        backward(&d, NEAR);
    }
    write_cool_down(&d, outer, inner);
}
