/*
 * Machines that overlap nothing and fuse nothing (as their chip file says) do in a step
 * what the program says, operation by operation: so its price is a sum. What runs once
 * a microbatch and what once a step are told apart as the runtime does: gradients that
 * ZeRO does not cut are summed over microbatches and reduced once.
 */
#include "step_program.h"

#include "layout_cut.h"
#include "paced_step.h"

#include "ridge/cost_program.h"

#include <math.h>
#include <string.h>

struct step_program {
    ridge_layout layout; /* that it is of; pp and vpp too, as they move the mesh */
    step_times *entries; /* [kinds + 2]; NULL: the degrees make no mesh */
    step_program *next;
};

typedef struct reading {
    const train_case *tc;
    const ridge_layout *layout;
    const ridge_partition *partition;
    const ridge_program *program;
    ridge_operation_time *times; /* [n_ops] */
    bool *is_once;               /* [n_ops]: collectives of summed gradients */
    bool *is_again;              /* [n_ops]: done again in the backward pass */
    step_times *entries;
} reading;

/* ---- who makes what -------------------------------------------------------------- */

static int maker_of(const ridge_program *p, int tensor)
{
    for (int i = 0; i < p->n_ops; i++) {
        for (int o = 0; o < p->ops[i].n_outputs; o++) {
            if (p->ops[i].outputs[o] == tensor)
                return i;
        }
    }
    return -1;
}

static bool is_move(const ridge_operation *op)
{
    return op->code == RIDGE_OPCODE_COLLECTIVE ||
           (op->code == RIDGE_OPCODE_ELEMENTWISE &&
            op->function == RIDGE_FUNCTION_COPY);
}

/* From what an update reads back to what a microbatch makes. */
static void mark_once(const reading *r)
{
    const ridge_program *p = r->program;
    for (int i = 0; i < p->n_ops && r->layout->zero_stage < 2; i++) {
        if (p->ops[i].code != RIDGE_OPCODE_UPDATE)
            continue;
        int maker = maker_of(p, p->ops[i].inputs[1]);
        while (maker >= 0 && is_move(&p->ops[maker])) {
            r->is_once[maker] = true;
            maker = maker_of(p, p->ops[maker].inputs[0]);
        }
    }
}

/* ---- which part of a step -------------------------------------------------------- */

static bool is_of_weight(const ridge_program *p, int tensor)
{
    const ridge_tensor *t = &p->tensors[tensor];
    return t->role == RIDGE_ROLE_WEIGHT ||
           (t->gradient_of >= 0 &&
            p->tensors[t->gradient_of].role == RIDGE_ROLE_WEIGHT);
}

static double *exchange_part(const reading *r, const ridge_operation *op,
                             ridge_step_parts *parts)
{
    bool has_cp = false;
    if (is_of_weight(r->program, op->outputs[0]))
        return &parts->fsdp_s;
    for (int i = 0; i < op->n_axes; i++) {
        const char *name = r->partition->mesh.axes[op->axes[i]].name;
        if (strcmp(name, "ep") == 0)
            return &parts->ep_s;
        has_cp = has_cp || strcmp(name, "cp") == 0;
    }
    if (op->collective == (int)RIDGE_COLLECTIVE_ALL_TO_ALL && !has_cp)
        return &parts->ep_s;
    return has_cp ? &parts->cp_s : &parts->tp_s;
}

static double *part_of(const reading *r, const ridge_operation *op,
                       ridge_step_parts *parts)
{
    switch (op->code) {
    case RIDGE_OPCODE_COLLECTIVE:
        return exchange_part(r, op, parts);
    case RIDGE_OPCODE_SEND:
        return &parts->pp_s;
    case RIDGE_OPCODE_ATTENTION:
    case RIDGE_OPCODE_SCAN:
        return &parts->attention_s;
    case RIDGE_OPCODE_EINSUM:
        return op->n_inputs > 1 ? &parts->matmul_s : &parts->vector_s;
    case RIDGE_OPCODE_UPDATE:
        return &parts->optimizer_s;
    case RIDGE_OPCODE_NORM:
    case RIDGE_OPCODE_ELEMENTWISE:
    case RIDGE_OPCODE_GATHER:
    case RIDGE_OPCODE_LOSS:
    case RIDGE_OPCODE_ROUTE:
    case RIDGE_OPCODE_DISPATCH:
    case RIDGE_OPCODE_COMBINE:
        break;
    }
    return &parts->vector_s;
}

/* Clipping reads every summed gradient once more. */
static double clip_s(const reading *r, const ridge_operation *update)
{
    const ridge_measured_chip *m = r->tc->chip->measured;
    const double bytes =
        ridge_partition_local_elements(r->partition, update->inputs[1]) *
        r->tc->policy->gradient_bytes;
    const ridge_grid *grid = m ? ridge_grid_find(&m->stream, "squares") : NULL;
    return grid ? bytes / ridge_grid_rate(grid, &bytes) : 0;
}

static void add_op(const reading *r, int index, bool is_update_block, bool is_backward,
                   step_times *e)
{
    const ridge_operation *op = &r->program->ops[index];
    const ridge_operation_time *t = &r->times[index];
    if (is_update_block || r->is_once[index]) {
        const bool is_exchange = op->code == RIDGE_OPCODE_COLLECTIVE;
        *(is_exchange ? &e->once.dp_s : &e->once.optimizer_s) += t->expected_s;
        if (op->code == RIDGE_OPCODE_UPDATE)
            e->once.optimizer_s += clip_s(r, op);
        e->bound_once_s += t->bound_s;
        return;
    }
    *part_of(r, op, &e->pass) += t->expected_s;
    e->bound_pass_s += t->bound_s;
    if (!is_backward)
        *part_of(r, op, &e->forward) += t->expected_s;
    else if (op->n_outputs > 0 && is_of_weight(r->program, op->outputs[0]))
        *part_of(r, op, &e->backward_weight) += t->expected_s;
    if (r->is_again[index])
        e->pass.recompute_s += t->expected_s;
}

/* ---- blocks ---------------------------------------------------------------------- */

static bool is_update(const ridge_program *p, const ridge_block *b)
{
    for (int i = b->first_op; i < b->first_op + b->n_ops; i++) {
        if (p->ops[i].code == RIDGE_OPCODE_UPDATE)
            return true;
    }
    return false;
}

static bool has_head(const ridge_program *p, const ridge_block *b)
{
    for (int i = b->first_op; i < b->first_op + b->n_ops; i++) {
        if (p->ops[i].is_head || p->ops[i].code == RIDGE_OPCODE_LOSS)
            return true;
    }
    return false;
}

/* The entry of a block: that of the forward block that it goes along with. */
static int entry_of(const reading *r, const ridge_block *b)
{
    const ridge_block *forward =
        b->forward_of >= 0 ? &r->program->blocks[b->forward_of] : b;
    if (forward->layer >= 0)
        return forward->layer;
    return has_head(r->program, forward) ? r->tc->n_kinds : r->tc->n_kinds + 1;
}

/* Which pass a block is of, and whether another block of the kind was read for it. */
static bool is_read_before(const reading *r, int block)
{
    const ridge_block *b = &r->program->blocks[block];
    const bool updates = is_update(r->program, b);
    for (int i = 0; i < block; i++) {
        const ridge_block *other = &r->program->blocks[i];
        if (entry_of(r, other) == entry_of(r, b) &&
            other->is_backward == b->is_backward &&
            is_update(r->program, other) == updates)
            return true;
    }
    return false;
}

static void mark_again(const reading *r, int backward)
{
    const ridge_layout *l = r->layout;
    if ((int)l->remat == RIDGE_REMAT_OPERATIONS) {
        ridge_program_mark_named(r->program, backward, l->remat_ops, r->is_again);
    } else {
        ridge_program_mark_again(r->program, backward, l->remat, r->is_again);
    }
}

static void read_blocks(const reading *r)
{
    const ridge_program *p = r->program;
    for (int b = 0; b < p->n_blocks; b++) {
        if (p->blocks[b].is_backward)
            mark_again(r, b);
    }
    for (int b = 0; b < p->n_blocks; b++) {
        const ridge_block *block = &p->blocks[b];
        if (is_read_before(r, b))
            continue;
        for (int i = block->first_op; i < block->first_op + block->n_ops; i++)
            add_op(r, i, is_update(p, block), block->is_backward,
                   &r->entries[entry_of(r, block)]);
    }
}

/* ---- a layout -------------------------------------------------------------------- */

static ridge_status read_layout(const train_case *tc, const ridge_layout *l,
                                step_times *entries)
{
    ridge_laid_mesh laid;
    ridge_arena *scratch = ridge_ctx_scratch(tc->cx);
    reading r = {.tc = tc, .layout = l, .entries = entries};
    RIDGE_TRY(train_layout_cut(tc->cx, tc->request, l, &r.partition));
    r.program = r.partition->program;
    const size_t n = (size_t)r.program->n_ops + 1;
    r.times = ridge_new(scratch, ridge_operation_time, n);
    r.is_once = ridge_new(scratch, bool, n);
    r.is_again = ridge_new(scratch, bool, n);
    if (!r.times || !r.is_once || !r.is_again)
        return ridge_fail_nomem(tc->cx);
    if (!train_mesh_place(tc->slice, l, &r.partition->mesh, &laid))
        return ridge_fail(tc->cx, RIDGE_E_ARG, "the layout does not lie on %s: %s",
                          tc->slice->text, ridge_fit_text(RIDGE_FIT_PLACEMENT));
    RIDGE_TRY(ridge_operation_times(tc->cx, r.partition, &laid, tc->policy->compute,
                                    r.times));
    mark_once(&r);
    read_blocks(&r);
    return RIDGE_OK;
}

static bool is_same(const ridge_layout *a, const ridge_layout *b)
{
    return a->dp == b->dp && a->fsdp == b->fsdp && a->tp == b->tp && a->cp == b->cp &&
           a->pp == b->pp && a->ep == b->ep && a->zero_stage == b->zero_stage &&
           a->has_sp == b->has_sp && a->microbatch_seqs == b->microbatch_seqs &&
           a->remat == b->remat && a->remat_ops == b->remat_ops &&
           a->cp_exchange == b->cp_exchange && a->placement == b->placement;
}

/* @return NULL: the degrees make no mesh, or the memo's status says why */
static const step_times *find_times(const train_case *tc, const ridge_layout *l)
{
    step_memo *memo = tc->steps;
    for (const step_program *s = memo->first; s != NULL; s = s->next) {
        if (is_same(&s->layout, l))
            return s->entries;
    }
    ridge_arena *arena = ridge_ctx_arena(tc->cx);
    const ridge_mark mark = ridge_arena_mark(ridge_ctx_scratch(tc->cx));
    step_program *made = ridge_new(arena, step_program, 1);
    step_times *entries = ridge_new(arena, step_times, (size_t)tc->n_kinds + 2);
    ridge_status st =
        made && entries ? read_layout(tc, l, entries) : ridge_fail_nomem(tc->cx);
    ridge_arena_rewind(ridge_ctx_scratch(tc->cx), mark);
    if (st != RIDGE_OK && st != RIDGE_E_ARG) {
        memo->status = st;
        return NULL;
    }
    *made = (step_program){*l, st == RIDGE_OK ? entries : NULL, memo->first};
    memo->first = made;
    return made->entries;
}

/* ---- stages ---------------------------------------------------------------------- */

static void add_parts(ridge_step_parts *to, const ridge_step_parts *from, double by)
{
#define ADD_PART(name, text, what) to->name##_s += by * from->name##_s;
    RIDGE_STEP_LIST(ADD_PART)
#undef ADD_PART
}

static void add_times(step_times *to, const step_times *from, double by)
{
    add_parts(&to->pass, &from->pass, by);
    add_parts(&to->forward, &from->forward, by);
    add_parts(&to->backward_weight, &from->backward_weight, by);
    add_parts(&to->once, &from->once, by);
    to->bound_pass_s += by * from->bound_pass_s;
    to->bound_once_s += by * from->bound_once_s;
}

/* Layers computed again and layers that keep everything. */
typedef struct remat_times {
    const step_times *again, *kept;
} remat_times;

static step_times stage_times(const train_case *tc, const remat_times *of,
                              const ridge_layout *l, const train_stage *stage)
{
    step_times t = {.bound_pass_s = 0};
    const step_times *entries = of->kept;
    double again = train_remat_share(tc, l, stage);
    for (int k = 0; k < tc->n_kinds; k++) {
        add_times(&t, &of->again[k], again * stage->layers[k]);
        add_times(&t, &of->kept[k], (1 - again) * stage->layers[k]);
    }
    if (stage->has_head)
        add_times(&t, &entries[tc->n_kinds],
                  stage->predictions > 0 ? stage->head_passes : 1);
    if (stage->has_embedding)
        add_times(&t, &entries[tc->n_kinds + 1], 1);
    return t;
}

/* NULL where find_times says so. */
static remat_times find_both(const train_case *tc, const ridge_layout *l)
{
    ridge_layout keeping = *l;
    keeping.remat = RIDGE_REMAT_NONE;
    keeping.remat_ops = 0;
    return (remat_times){find_times(tc, l), find_times(tc, &keeping)};
}

/* Compute and exchanges of some parts of a pass. */
static ridge_pass_work pass_work(const ridge_step_parts *p)
{
    ridge_pass_work w = {.exposed_s = {[RIDGE_TRAFFIC_TP] = p->tp_s,
                                       [RIDGE_TRAFFIC_CP] = p->cp_s,
                                       [RIDGE_TRAFFIC_EP] = p->ep_s,
                                       [RIDGE_TRAFFIC_FSDP] = p->fsdp_s}};
    w.compute_s = ridge_step_total_s(p) - ridge_pass_work_s(&w);
    return w;
}

static ridge_stage_work work_of(const step_times *t)
{
    ridge_step_parts input = t->pass;
    add_parts(&input, &t->forward, -1);
    add_parts(&input, &t->backward_weight, -1);
    return (ridge_stage_work){.forward = pass_work(&t->forward),
                              .backward_input = pass_work(&input),
                              .backward_weight = pass_work(&t->backward_weight)};
}

static ridge_step_end end_of(const step_times *t)
{
    return (ridge_step_end){.reduce_exposed_s = t->once.dp_s,
                            .optimizer_s = t->once.optimizer_s};
}

bool step_program_work(const train_case *tc, const ridge_layout *l,
                       const train_stage *stage, ridge_stage_work *work,
                       ridge_step_end *end)
{
    const remat_times entries = find_both(tc, l);
    if (entries.again == NULL || entries.kept == NULL)
        return false;
    const step_times t = stage_times(tc, &entries, l, stage);
    *work = work_of(&t);
    *end = end_of(&t);
    return true;
}

static void set_pass(const train_case *tc, const train_terms *x,
                     const remat_times *entries, const ridge_layout *l,
                     const train_stage *stage, stage_pass *out)
{
    train_stage without = *stage;
    without.has_head = false;
    const step_times t = stage_times(tc, entries, l, stage);
    const step_times layers = stage_times(tc, entries, l, &without);
    const ridge_stage_work whole = work_of(&t);
    const ridge_stage_work bare = work_of(&layers);
    const ridge_step_end end = end_of(&t);
    stage_pass_set(out, stage, &whole, &bare);
    stage_pass_set_end(out, &end);
    out->down_s = out->up_s = x->send.expected_s;
}

/* All stages of a pipeline, for one microbatch. */
typedef struct pipe_times {
    step_times worst, sum;
    ridge_step_parts once; /* of the stage where they take longest */
    double worst_s;        /* of its pass */
    double step_s;         /* with what comes once */
} pipe_times;

static pipe_times pipe_times_of(const train_case *tc, const train_terms *x,
                                const ridge_layout *l, const remat_times *entries,
                                int64_t m)
{
    const train_stages *stages = x->stages;
    pipe_times p = {.worst_s = -1};
    for (int i = 0; i < stages->n; i++) {
        const train_stage *stage = &stages->stages[i];
        step_times t = stage_times(tc, entries, l, stage);
        set_pass(tc, x, entries, l, stage, &stages->passes[i]);
        t.pass.pp_s +=
            (train_stage_sends(l, stage, false) + train_stage_sends(l, stage, true)) *
            x->send.expected_s;
        add_times(&p.sum, &t, stage->count);
        if (ridge_step_total_s(&t.once) >= ridge_step_total_s(&p.once))
            p.once = t.once;
        if (ridge_step_total_s(&t.pass) <= p.worst_s)
            continue;
        p.worst = t;
        p.worst_s = ridge_step_total_s(&t.pass);
    }
    p.step_s = paced_step_s(tc, l, stages, m, 0);
    return p;
}

/*
 * The slowest stage works through every microbatch, and waits while the pipeline fills
 * and drains. Where ranks take turns on processors, those that wait leave theirs to the
 * others, and all work is done after that of a mean stage; unless fewer ranks work than
 * there are processors:
 *
 *     step = max(m mean, share x passes),  share: of its processors that a rank has
 * while all work
 */
static void add_passes(const train_case *tc, const ridge_layout *l, const pipe_times *p,
                       ridge_train_price *price)
{
    const double share = ridge_chip_processor_share(tc->chip);
    const double m = (double)price->microbatches;
    const double mean_s = ridge_step_total_s(&p->sum.pass) / (double)l->pp;
    if (share < 1) {
        add_parts(&price->parts, &p->sum.pass, m / (double)l->pp);
        price->parts.bubble_s =
            fmax(0, share * (p->step_s - ridge_step_total_s(&p->once)) - m * mean_s);
    } else {
        add_parts(&price->parts, &p->worst.pass, m);
        paced_parts_fill(&price->parts, p->step_s);
    }
}

void step_program_price(const train_case *tc, const train_terms *x,
                        const ridge_layout *l, ridge_train_price *price)
{
    const remat_times entries = find_both(tc, l);
    price->step_time_s = price->bound_step_time_s = HUGE_VAL;
    if (entries.again == NULL || entries.kept == NULL)
        return;
    const pipe_times p = pipe_times_of(tc, x, l, &entries, price->microbatches);
    const double fill_s = (p.sum.bound_pass_s - p.worst.bound_pass_s) / (double)l->vpp;
    const double bound_s = (double)price->microbatches * p.worst.bound_pass_s +
                           p.worst.bound_once_s + fill_s;
    price->parts = p.once;
    add_passes(tc, l, &p, price);
    price->hidden_communication_s = 0;
    price->step_time_s = ridge_step_total_s(&price->parts);
    price->bound_step_time_s = fmin(price->step_time_s, bound_s);
}
