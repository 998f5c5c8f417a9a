/*
 * Pipeline stages: a table of pieces of blocks and the stage that runs each, and the
 * program of one stage. Where the residual stream, or its gradient, leaves a stage, a
 * block with a SEND stands behind the piece that makes it; the next stage has it
 * declared.
 */
#include "ridge/shard.h"

#include <string.h>

/* ---- the table ------------------------------------------------------------------ */

/* The block whose stages another follows: the forward one that it goes along with. */
static int block_model(const ridge_program *p, int block)
{
    return p->blocks[block].forward_of >= 0 ? p->blocks[block].forward_of : block;
}

static bool is_layers(const ridge_program *p, int block)
{
    return p->blocks[block].layer >= 0;
}

static int64_t count_layers(const ridge_program *p)
{
    int64_t n = 0;
    for (int b = 0; b < p->n_blocks; b++)
        n += is_layers(p, b) && p->blocks[b].forward_of < 0 ? p->blocks[b].repeat : 0;
    return n;
}

/* Layers before a forward block. */
static int64_t layers_before(const ridge_program *p, int block)
{
    int64_t n = 0;
    for (int b = 0; b < block; b++)
        n += is_layers(p, b) && p->blocks[b].forward_of < 0 ? p->blocks[b].repeat : 0;
    return n;
}

/* What stands before the layers is of the first stage, what stands behind of the last.
 */
static int end_stage(const ridge_program *p, int model, int stages)
{
    for (int b = 0; b < model; b++) {
        if (is_layers(p, b) && p->blocks[b].forward_of < 0)
            return stages - 1;
    }
    return 0;
}

/* The pieces of one block of layers, in the order in which they run forward. */
static int split_block(const ridge_program *p, int block, const int64_t *layers,
                       int stages, ridge_stage_row *out)
{
    const int64_t first = layers_before(p, block_model(p, block));
    int64_t low = 0;
    int n = 0;
    for (int s = 0; s < stages; low += layers[s++]) {
        const int64_t high = low + layers[s];
        const int64_t from = low > first ? low : first;
        const int64_t last = first + p->blocks[block].repeat;
        const int64_t to = high < last ? high : last;
        if (from < to)
            out[n++] = (ridge_stage_row){
                .block = block, .first = from - first, .count = to - from, .stage = s};
    }
    return n;
}

static ridge_status check_layers(ridge_ctx *cx, const ridge_program *program,
                                 const int64_t *layers, int stages)
{
    const int64_t want = count_layers(program);
    int64_t sum = 0;
    for (int s = 0; s < stages; s++) {
        const bool is_end = s == 0 || s == stages - 1;
        if (layers[s] < (is_end ? 0 : 1) || layers[s] > want)
            return ridge_fail(cx, RIDGE_E_ARG,
                              "%lld layers on pipeline stage %d of %d, %s has %lld: "
                              "each needs one, but for the first and the last",
                              (long long)layers[s], s, stages, program->name,
                              (long long)want);
        sum += layers[s];
    }
    if (sum != want || want == 0)
        return ridge_fail(cx, RIDGE_E_ARG,
                          "pipeline stages have %lld layers together, %s has %lld",
                          (long long)sum, program->name, (long long)want);
    return RIDGE_OK;
}

ridge_status ridge_pipeline_rows_of(ridge_ctx *cx, const ridge_program *program,
                                    const int64_t *layers, int stages,
                                    const ridge_stage_row **out, int *n_out)
{
    RIDGE_TRY(check_layers(cx, program, layers, stages));
    const size_t most = (size_t)program->n_blocks * (size_t)stages;
    ridge_stage_row *rows = ridge_new(ridge_ctx_arena(cx), ridge_stage_row, most);
    if (!rows)
        return ridge_fail_nomem(cx);
    int n = 0;
    for (int b = 0; b < program->n_blocks; b++) {
        if (is_layers(program, b)) {
            n += split_block(program, b, layers, stages, rows + n);
            continue;
        }
        rows[n++] = (ridge_stage_row){
            .block = b,
            .count = program->blocks[b].repeat,
            .stage = end_stage(program, block_model(program, b), stages)};
    }
    *out = rows;
    *n_out = n;
    return RIDGE_OK;
}

ridge_status ridge_pipeline_rows(ridge_ctx *cx, const ridge_program *program,
                                 int stages, const ridge_stage_row **out, int *n_out)
{
    const int64_t all = count_layers(program);
    if (stages < 1 || stages > all)
        return ridge_fail(cx, RIDGE_E_ARG, "%d pipeline stages: 1 to %lld layers",
                          stages, (long long)all);
    int64_t *layers = ridge_new(ridge_ctx_arena(cx), int64_t, (size_t)stages);
    if (!layers)
        return ridge_fail_nomem(cx);
    for (int s = 0; s < stages; s++)
        layers[s] = all * (s + 1) / stages - all * s / stages;
    return ridge_pipeline_rows_of(cx, program, layers, stages, out, n_out);
}

/* ---- the program of a stage ----------------------------------------------------- */

/* A stage's program under way. */
typedef struct stage_draft {
    ridge_ctx *cx;
    const ridge_program *in;
    ridge_program *out;
    int *block_now;  /* [in->n_blocks] block of the stage; -1 */
    int *op_now;     /* [in->n_ops] */
    int *tensor_now; /* [in->n_tensors] tensor of the stage; -1 */
} stage_draft;

static const ridge_stage_row *row_of(const ridge_stage_row *rows, int n, int block,
                                     int stage)
{
    for (int i = 0; i < n; i++) {
        if (rows[i].block == block && rows[i].stage == stage)
            return &rows[i];
    }
    return NULL;
}

static bool block_reads(const ridge_program *p, int block, int tensor)
{
    for (int i = 0; i < p->blocks[block].n_ops; i++) {
        const ridge_operation *op = &p->ops[p->blocks[block].first_op + i];
        for (int j = 0; j < op->n_inputs; j++) {
            if (op->inputs[j] == tensor)
                return true;
        }
    }
    return false;
}

static bool block_makes(const ridge_program *p, int block, int tensor)
{
    for (int i = 0; i < p->blocks[block].n_ops; i++) {
        const ridge_operation *op = &p->ops[p->blocks[block].first_op + i];
        for (int j = 0; j < op->n_outputs; j++) {
            if (op->outputs[j] == tensor)
                return true;
        }
    }
    return false;
}

/* What a block without layers hands to layers, all of them elsewhere: the embedding's
 * stream from a stage that has it alone, or its gradient from the head's; -1: nothing.
 */
static int handed_tensor(const ridge_program *p, const ridge_stage_row *row,
                         const ridge_stage_row *rows, int n)
{
    for (int b = row->block + 1; b < p->n_blocks; b++) {
        const int carried = p->blocks[b].carry_in;
        if (carried >= 0 && block_makes(p, row->block, carried))
            return row_of(rows, n, b, row->stage) ? -1 : carried;
    }
    return -1;
}

/* What goes out of a piece to another stage: what its block carries, unless the piece
 * is the last to run and the next block that reads it is of this stage; -1: nothing. */
static int sent_tensor(const ridge_program *p, const ridge_stage_row *row,
                       const ridge_stage_row *rows, int n)
{
    const ridge_block *block = &p->blocks[row->block];
    const bool is_last =
        block->is_backward ? row->first == 0 : row->first + row->count == block->repeat;
    if (block->carry_out < 0)
        return handed_tensor(p, row, rows, n);
    if (!is_last)
        return block->carry_out;
    for (int b = row->block + 1; b < p->n_blocks; b++) {
        if (block_reads(p, b, block->carry_out))
            return row_of(rows, n, b, row->stage) ? -1 : block->carry_out;
    }
    return -1;
}

static ridge_status draft_open(stage_draft *d, int n_sends)
{
    const ridge_program *in = d->in;
    ridge_arena *arena = ridge_ctx_arena(d->cx);
    const size_t n = (size_t)in->n_tensors, n_ops = (size_t)in->n_ops;
    d->out = ridge_new(arena, ridge_program, 1);
    d->block_now = ridge_new(arena, int, (size_t)in->n_blocks);
    d->op_now = ridge_new(arena, int, n_ops);
    d->tensor_now = ridge_new(arena, int, n);
    if (!d->out || !d->block_now || !d->op_now || !d->tensor_now)
        return ridge_fail_nomem(d->cx);
    memset(d->block_now, -1, (size_t)in->n_blocks * sizeof *d->block_now);
    memset(d->op_now, -1, n_ops * sizeof *d->op_now);
    memset(d->tensor_now, -1, n * sizeof *d->tensor_now);
    *d->out = *in;
    d->out->n_tensors = d->out->n_ops = d->out->n_blocks = 0;
    d->out->tensors = ridge_new(arena, ridge_tensor, n + (size_t)n_sends);
    d->out->ops = ridge_new(arena, ridge_operation, n_ops + (size_t)n_sends);
    d->out->blocks =
        ridge_new(arena, ridge_block, (size_t)(in->n_blocks + n_sends + 1));
    if (!d->out->tensors || !d->out->ops || !d->out->blocks)
        return ridge_fail_nomem(d->cx);
    return RIDGE_OK;
}

static int tensor_take(stage_draft *d, int tensor)
{
    if (tensor < 0)
        return -1;
    if (d->tensor_now[tensor] < 0) {
        d->tensor_now[tensor] = d->out->n_tensors;
        d->out->tensors[d->out->n_tensors++] = d->in->tensors[tensor];
    }
    return d->tensor_now[tensor];
}

/* A block of its own: what it sends leaves once, not in each repetition. */
static ridge_status add_send(stage_draft *d, int tensor, int block)
{
    ridge_program *out = d->out;
    ridge_arena *arena = ridge_ctx_arena(d->cx);
    const ridge_block *behind = &d->in->blocks[block];
    const int from = tensor_take(d, tensor), to = out->n_tensors++;
    ridge_operation *op = &out->ops[out->n_ops];
    out->tensors[to] = d->in->tensors[tensor];
    out->tensors[to].name =
        ridge_sprintf(arena, "sent.%s", d->in->tensors[tensor].name);
    *op = (ridge_operation){.name = "send",
                            .code = RIDGE_OPCODE_SEND,
                            .part = RIDGE_PART_NORM,
                            .is_backward = behind->is_backward,
                            .forward_of = -1,
                            .position_dim = -1,
                            .n_inputs = 1,
                            .n_outputs = 1,
                            .inputs = {from},
                            .outputs = {to},
                            .dim_from = -1,
                            .dim_to = -1};
    out->blocks[out->n_blocks++] =
        (ridge_block){.name = ridge_sprintf(arena, "%s_send", behind->name),
                      .repeat = 1,
                      .first_op = out->n_ops++,
                      .n_ops = 1,
                      .carry_in = -1,
                      .carry_out = -1,
                      .layer = -1,
                      .is_backward = behind->is_backward,
                      .forward_of = -1};
    const bool is_named = out->tensors[to].name && out->blocks[out->n_blocks - 1].name;
    return is_named ? RIDGE_OK : ridge_fail_nomem(d->cx);
}

static void take_op(stage_draft *d, int op)
{
    ridge_operation *to = &d->out->ops[d->out->n_ops];
    *to = d->in->ops[op];
    for (int i = 0; i < to->n_inputs; i++)
        to->inputs[i] = tensor_take(d, to->inputs[i]);
    for (int i = 0; i < to->n_outputs; i++)
        to->outputs[i] = tensor_take(d, to->outputs[i]);
    to->forward_of = to->forward_of >= 0 ? d->op_now[to->forward_of] : -1;
    d->op_now[op] = d->out->n_ops++;
}

/* The piece as a block; weights that nothing reads come along. */
static void take_block(stage_draft *d, const ridge_stage_row *row)
{
    const ridge_block *from = &d->in->blocks[row->block];
    ridge_block *to = &d->out->blocks[d->out->n_blocks];
    *to = *from;
    to->repeat = row->count;
    to->first_op = d->out->n_ops;
    to->carry_in = tensor_take(d, from->carry_in);
    to->carry_out = tensor_take(d, from->carry_out);
    to->n_ops = from->n_ops;
    to->forward_of = from->forward_of >= 0 ? d->block_now[from->forward_of] : -1;
    for (int i = 0; i < from->n_ops; i++)
        take_op(d, from->first_op + i);
    for (int t = 0; t < d->in->n_tensors; t++) {
        if (d->in->tensors[t].block == row->block &&
            d->in->tensors[t].role == RIDGE_ROLE_WEIGHT)
            tensor_take(d, t);
    }
    d->block_now[row->block] = d->out->n_blocks++;
}

/* Where a later stage declares what it receives: a block that runs once, so that each
 * repetition of the others reads the same. */
static void add_received(stage_draft *d)
{
    d->out->blocks[d->out->n_blocks++] = (ridge_block){.name = "received",
                                                       .repeat = 1,
                                                       .carry_in = -1,
                                                       .carry_out = -1,
                                                       .layer = -1,
                                                       .forward_of = -1};
}

/* Tensors of blocks elsewhere are received: declared in the first block, which runs
 * once. */
static void finish_tensors(stage_draft *d)
{
    for (int t = 0; t < d->out->n_tensors; t++) {
        ridge_tensor *tensor = &d->out->tensors[t];
        const int block = d->block_now[tensor->block];
        if (tensor->gradient_of >= 0)
            tensor->gradient_of = d->tensor_now[tensor->gradient_of];
        if (block < 0 && tensor->role == RIDGE_ROLE_ACTIVATION)
            tensor->role = RIDGE_ROLE_INPUT;
        tensor->block = block < 0 ? 0 : block;
    }
}

ridge_status ridge_pipeline_stage(ridge_ctx *cx, const ridge_program *program,
                                  const ridge_stage_row *rows, int n_rows, int stage,
                                  const ridge_program **out)
{
    stage_draft d = {.cx = cx, .in = program};
    RIDGE_TRY(draft_open(&d, n_rows));
    if (stage > 0)
        add_received(&d);
    for (int i = 0; i < n_rows; i++) {
        if (rows[i].stage != stage)
            continue;
        const int sent = sent_tensor(program, &rows[i], rows, n_rows);
        take_block(&d, &rows[i]);
        if (sent >= 0)
            RIDGE_TRY(add_send(&d, sent, rows[i].block));
    }
    if (d.out->n_ops == 0)
        return ridge_fail(cx, RIDGE_E_ARG, "no block runs on pipeline stage %d", stage);
    finish_tensors(&d);
    *out = d.out;
    return RIDGE_OK;
}
