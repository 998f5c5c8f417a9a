/*
 * Tasks in program order. On the chip, tasks run one after the other, so that a task of
 * the chip waits by name for collectives alone. Chunks of neighbours that are cut alike
 * run side by side: all first chunks, then all others.
 */
#include "timeline_tasks.h"

/* The block under way. */
typedef struct build {
    const ridge__task_source *x;
    int block;
    ridge__block_tasks *out;
    int n_deps;
    int last_chip; /* task of the chip, -1: none yet */
    int *held;     /* collectives that the chip waits for although it does not read */
    int n_held;
} build;

static const ridge_operation *op_at(const ridge__task_source *x, int op)
{
    return &x->partition->program->ops[op];
}

/* ---- kinds of collectives ------------------------------------------------------- */

static bool is_prefetch(const ridge__task_source *x, int op)
{
    const ridge_operation *o = op_at(x, op);
    if (o->code != RIDGE_OPCODE_COLLECTIVE)
        return false;
    for (int i = 0; i < o->n_inputs; i++) {
        const int from = ridge__op_writer(x->index, o->inputs[i], op);
        const ridge_role role = x->partition->program->tensors[o->inputs[i]].role;
        if (role != RIDGE_ROLE_WEIGHT || (from >= 0 && !x->is_prefetch[from]))
            return false;
    }
    return o->n_inputs > 0;
}

/* Whether an operation of its block, other than one that trails itself, reads it. */
static bool is_read_inside(const ridge__task_source *x, int op, int tensor)
{
    const int block = x->index->block[op];
    for (int i = x->index->first_use[tensor]; i < x->index->first_use[tensor + 1];
         i++) {
        const int reader = x->index->uses[i];
        if (x->index->block[reader] == block && !x->is_trailing[reader])
            return true;
    }
    return false;
}

/* Gradients of weights, and results without a reader; what the next block reads is
 * awaited. */
static bool is_trailing(const ridge__task_source *x, int op)
{
    const ridge_program *program = x->partition->program;
    const ridge_operation *o = op_at(x, op);
    const int block = x->index->block[op];
    if (!x->times[op].is_collective || block < 0)
        return false;
    for (int k = 0; k < o->n_outputs; k++) {
        const int t = o->outputs[k];
        const int of = program->tensors[t].gradient_of;
        const bool is_of_weight =
            of >= 0 && program->tensors[of].role == RIDGE_ROLE_WEIGHT;
        const bool has_reader = x->index->first_use[t] < x->index->first_use[t + 1];
        if (program->blocks[block].carry_out == t || is_read_inside(x, op, t) ||
            (has_reader && !is_of_weight))
            return false;
    }
    return true;
}

static void collectives_classify(const ridge__task_source *x)
{
    const int n = x->partition->program->n_ops;
    for (int i = 0; i < n; i++)
        x->is_prefetch[i] = x->times[i].is_collective && is_prefetch(x, i);
    for (int i = n - 1; i >= 0; i--)
        x->is_trailing[i] = is_trailing(x, i);
}

/* ---- what a task waits for ------------------------------------------------------ */

static void dep_add(build *b, ridge__dep_where where, int block, int task)
{
    b->out->deps[b->n_deps++] = (ridge__dep){where, block, task};
    b->out->tasks[b->out->n_tasks].n_deps++;
}

/* A tensor that another block or repetition made. */
static void dep_outside(build *b, int tensor, int from, bool is_chip)
{
    const ridge__task_source *x = b->x;
    const ridge_block *block = &x->partition->program->blocks[b->block];
    if (from >= 0 && x->index->block[from] >= 0 && x->index->block[from] < b->block &&
        !(is_chip && !x->times[from].is_collective))
        dep_add(b, RIDGE__DEP_EARLIER, x->index->block[from], x->end_task[from]);
    if (tensor != block->carry_in || block->carry_out < 0)
        return;
    const int carried =
        ridge__op_writer(x->index, block->carry_out, block->first_op + block->n_ops);
    if (carried >= block->first_op && carried < block->first_op + block->n_ops &&
        !(is_chip && !x->times[carried].is_collective))
        dep_add(b, RIDGE__DEP_PREVIOUS, b->block, carried);
}

/* One of the runs of the chunks: which part of the inputs it needs. */
typedef enum part { PART_WHOLE, PART_FIRST, PART_LAST } part;

static void dep_input(build *b, int op, int tensor, part which)
{
    const ridge__task_source *x = b->x;
    const bool is_chip = !x->times[op].is_collective;
    const int from = ridge__op_writer(x->index, tensor, op);
    if (from < 0 || x->index->block[from] != b->block) {
        dep_outside(b, tensor, from, is_chip);
        return;
    }
    const bool is_from_chip = !x->times[from].is_collective;
    if (is_chip && is_from_chip)
        return;
    const ridge__chunks *c = &x->chunks[op];
    int task = x->end_task[from];
    if (which == PART_FIRST && !is_chip && is_from_chip && x->chunks[from].head > 0) {
        task = x->first_task[from];
    } else if (which == PART_FIRST && is_chip && c->gather == from) {
        task = x->first_task[from];
    } else if (which == PART_FIRST && c->tail > 0 &&
               op_at(x, op)->code == RIDGE_OPCODE_ATTENTION && !is_from_chip &&
               !x->is_prefetch[from]) {
        return; /* a chip's own keys come first */
    }
    dep_add(b, RIDGE__DEP_SAME, b->block, task);
}

static void deps_inputs(build *b, int op, part which)
{
    const ridge_operation *o = op_at(b->x, op);
    for (int i = 0; i < o->n_inputs; i++)
        dep_input(b, op, o->inputs[i], which);
    for (int i = 0; o->is_added && i < o->n_outputs; i++)
        dep_input(b, op, o->outputs[i], which);
}

/* ---- tasks ---------------------------------------------------------------------- */

static ridge__task_kind kind_of(const ridge__task_source *x, int op)
{
    const ridge_operation *o = op_at(x, op);
    if (x->times[op].is_collective)
        return RIDGE__TASK_NETWORK;
    if (o->code == RIDGE_OPCODE_ATTENTION || o->code == RIDGE_OPCODE_SCAN)
        return RIDGE__TASK_ATTENTION;
    return o->code == RIDGE_OPCODE_EINSUM && x->times[op].matmul_flops > 0
               ? RIDGE__TASK_MATMUL
               : RIDGE__TASK_VECTOR;
}

/* Where nothing runs beside anything, a task waits for the one before it. */
static void dep_in_line(build *b)
{
    if (!b->x->overlap->is_serial)
        return;
    if (b->out->n_tasks > 0)
        dep_add(b, RIDGE__DEP_SAME, b->block, b->out->n_tasks - 1);
    else
        dep_add(b, RIDGE__DEP_END, -1, -1);
}

static ridge__task *task_begin(build *b, int op, double share)
{
    const ridge_operation_time *t = &b->x->times[op];
    ridge__task *task = &b->out->tasks[b->out->n_tasks];
    *task = (ridge__task){
        .op = op,
        .kind = kind_of(b->x, op),
        .work_s = share * (b->x->overlap->is_bound ? t->bound_s : t->expected_s),
        .network = t->network,
        .first_dep = b->n_deps,
    };
    dep_in_line(b);
    return task;
}

/* What holds the chip up without being read. */
static void deps_held(build *b)
{
    for (int i = 0; i < b->n_held; i++)
        dep_add(b, RIDGE__DEP_SAME, b->block, b->held[i]);
    b->n_held = 0;
}

static void chip_add(build *b, int op, double share, part which)
{
    if (share <= 0)
        return;
    (void)task_begin(b, op, share);
    deps_held(b);
    deps_inputs(b, op, which);
    b->last_chip = b->out->n_tasks++;
    b->x->end_task[op] = b->last_chip;
}

/* A chip's task, and behind the last of its run all the chunks that are left. */
static void chip_emit(build *b, int op)
{
    const ridge__chunks *c = b->x->chunks;
    const double body = 1 - c[op].head - c[op].tail;
    b->x->first_task[op] = b->out->n_tasks;
    if (c[op].head <= 0 && c[op].tail <= 0) {
        chip_add(b, op, 1, PART_WHOLE);
        return;
    }
    const bool has_head = c[op].head > 0;
    chip_add(b, op, has_head ? c[op].head : body, PART_FIRST);
    if (op != c[op].run_end)
        return;
    for (int i = c[op].run_first; i <= op; i++) {
        if (b->x->times[i].is_collective)
            continue;
        if (has_head)
            chip_add(b, i, 1 - c[i].head - c[i].tail, PART_FIRST);
        chip_add(b, i, c[i].tail, PART_LAST);
    }
}

static void network_add(build *b, int op, double share, part which)
{
    const ridge__task_source *x = b->x;
    const bool is_held_back =
        !x->overlap->has_prefetch && x->is_prefetch[op] && which != PART_LAST;
    ridge__task *task = task_begin(b, op, share);
    deps_inputs(b, op, which);
    if (is_held_back && b->last_chip >= 0)
        dep_add(b, RIDGE__DEP_SAME, b->block, b->last_chip);
    if (is_held_back && b->last_chip < 0)
        dep_add(b, RIDGE__DEP_END, -1, -1);
    if (which == PART_LAST)
        dep_add(b, RIDGE__DEP_SAME, b->block, b->out->n_tasks - 1);
    task->is_trailing = x->is_trailing[op];
    x->end_task[op] = b->out->n_tasks++;
    b->out->n_collectives++;
    if (task->is_trailing && !x->overlap->has_trailing)
        b->held[b->n_held++] = x->end_task[op];
}

static void network_emit(build *b, int op)
{
    const ridge__chunks *c = &b->x->chunks[op];
    b->x->first_task[op] = b->out->n_tasks;
    if (c->first > 0) {
        network_add(b, op, c->first, PART_WHOLE);
        network_add(b, op, 1 - c->first, PART_LAST);
    } else if (c->last > 0) {
        network_add(b, op, 1 - c->last, PART_FIRST);
        network_add(b, op, c->last, PART_LAST);
    } else {
        network_add(b, op, 1, PART_WHOLE);
    }
}

static void end_emit(build *b)
{
    b->out->tasks[b->out->n_tasks] =
        (ridge__task){.op = -1, .kind = RIDGE__TASK_END, .first_dep = b->n_deps};
    dep_in_line(b);
    deps_held(b);
    b->out->n_tasks++;
}

/* Of each collective: the first task of the chip that waits for it, straight or through
 * other collectives. */
static void dues_set(ridge__block_tasks *out)
{
    const int n = out->n_tasks;
    for (int j = 0; j < n; j++)
        out->tasks[j].due = out->tasks[j].is_trailing ? 2 * n : n;
    for (int j = n - 1; j >= 0; j--) {
        const ridge__task *task = &out->tasks[j];
        const int place = task->kind == RIDGE__TASK_NETWORK ? task->due : j;
        for (int i = 0; i < task->n_deps; i++) {
            const ridge__dep *dep = &out->deps[task->first_dep + i];
            if (dep->where == RIDGE__DEP_SAME && place < out->tasks[dep->task].due)
                out->tasks[dep->task].due = place;
        }
    }
}

/* PREVIOUS names operations until all of the block's have tasks. */
static void carries_set(build *b)
{
    for (int i = 0; i < b->n_deps; i++) {
        ridge__dep *dep = &b->out->deps[i];
        if (dep->where == RIDGE__DEP_PREVIOUS)
            dep->task = b->x->end_task[dep->task];
    }
}

/* ---- blocks --------------------------------------------------------------------- */

/* An operation has three tasks at most. Each waits twice for an input at most, once for
 * the chip, once for its own first part, once for the task before it, and may hold up
 * one other. */
enum { TASKS_MAX = 3, DEPS_OF_INPUT = 2, DEPS_BESIDE = 4 };

static size_t operands_of(const ridge_operation *o)
{
    return (size_t)(o->n_inputs + (o->is_added ? o->n_outputs : 0));
}

static ridge_status block_make(ridge_ctx *cx, const ridge__task_source *x, int block,
                               ridge__block_tasks *out)
{
    const ridge_block *b = &x->partition->program->blocks[block];
    size_t n_tasks = 1;
    size_t n_deps = 2;
    ridge__chunks_plan(x, block);
    for (int i = b->first_op; i < b->first_op + b->n_ops; i++) {
        const ridge__chunks *c = &x->chunks[i];
        const bool is_one = c->head + c->tail + c->first + c->last <= 0;
        const size_t tasks = is_one ? 1 : TASKS_MAX;
        n_tasks += tasks;
        n_deps += tasks * (DEPS_OF_INPUT * operands_of(op_at(x, i)) + DEPS_BESIDE);
    }
    ridge_arena *arena = ridge_ctx_scratch(cx);
    out->tasks = ridge_new(arena, ridge__task, n_tasks);
    out->deps = ridge_new(arena, ridge__dep, n_deps);
    int *held = ridge_new(arena, int, n_tasks);
    if (out->tasks == NULL || out->deps == NULL || held == NULL)
        return ridge_fail_nomem(cx);
    build work = {.x = x, .block = block, .out = out, .last_chip = -1, .held = held};
    for (int i = b->first_op; i < b->first_op + b->n_ops; i++) {
        if (x->times[i].is_collective) {
            network_emit(&work, i);
        } else {
            chip_emit(&work, i);
        }
    }
    end_emit(&work);
    carries_set(&work);
    dues_set(out);
    return RIDGE_OK;
}

ridge_status ridge__tasks_make(ridge_ctx *cx, const ridge__task_source *x,
                               ridge__block_tasks *out)
{
    collectives_classify(x);
    for (int i = 0; i < x->partition->program->n_blocks; i++)
        RIDGE_TRY(block_make(cx, x, i, &out[i]));
    return RIDGE_OK;
}
