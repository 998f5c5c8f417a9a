/*
 * Every operation of a training step as the machine runs it: small models of the usual
 * kinds take some steps, each rank on sequences of its own, and the trace says what
 * each operation took. Products are measured elsewhere, by size.
 */
#include "calibration.h"

#include "ridge/cost_program.h"

#include "runner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- models ---------------------------------------------------------------------- */

#define LLAMA(width, ffn)                                                              \
    "{\"model_type\": \"llama\", \"hidden_size\": " width                              \
    ", \"intermediate_size\": " ffn ", \"num_hidden_layers\": 2, "                     \
    "\"num_attention_heads\": 4, \"num_key_value_heads\": 4, \"vocab_size\": 2048, "   \
    "\"hidden_act\": \"silu\", \"tie_word_embeddings\": false}"

static const char wide_heads[] = LLAMA("512", "1024");
static const char narrow_heads[] = LLAMA("256", "768");
static const char experts[] =
    "{\"model_type\": \"mixtral\", \"hidden_size\": 256, \"intermediate_size\": 512, "
    "\"num_hidden_layers\": 2, \"num_attention_heads\": 4, \"num_key_value_heads\": 4, "
    "\"vocab_size\": 2048, \"hidden_act\": \"silu\", \"num_local_experts\": 8, "
    "\"num_experts_per_tok\": 2, \"tie_word_embeddings\": false}";
static const char gelu[] =
    "{\"model_type\": \"gpt2\", \"n_embd\": 256, \"n_layer\": 2, \"n_head\": 4, "
    "\"n_positions\": 2048, \"vocab_size\": 2048}";

typedef struct step_row {
    const char *config;
    int64_t seq_tokens, sequences;
    bool is_quick; /* measured in a quick run too */
} step_row;

/* Attention's grid wants each context with both head dims. */
static const step_row rows[] = {
    {narrow_heads, 128, 1, true},   {narrow_heads, 512, 2, true},
    {narrow_heads, 2048, 2, false}, {wide_heads, 128, 1, false},
    {wide_heads, 512, 2, false},    {wide_heads, 2048, 1, false},
    {experts, 128, 1, true},        {experts, 512, 2, true},
    {experts, 512, 8, false},       {gelu, 128, 1, false},
    {gelu, 512, 4, false},
};

/* ---- a step ---------------------------------------------------------------------- */

enum { TRACE_MOST = 4096 };

static ridge_status upload(ridge__chunk *c, ridge__flight *flight, int tensor,
                           const int32_t *ids)
{
    ridge__value *v = &flight->values[c->m->unrolled.first_value[tensor]];
    RIDGE_TRY(ridge__value_make(c->m, v, tensor));
    return c->m->device->ops->upload(c->m->device, v->p, ids,
                                     (size_t)v->elements * sizeof *ids);
}

/* Words all over the vocabulary. */
static ridge_status feed(void *payload, ridge__runner *r, ridge__chunk *c,
                         int microbatch, ridge__flight *flight)
{
    enum { STRIDE = 769, VOCABULARY = 2048 };
    const int64_t n = c->m->parts[c->tokens].elements;
    const ridge_mark mark = ridge_arena_mark(ridge_ctx_scratch(r->cx));
    int32_t *ids = ridge_new(ridge_ctx_scratch(r->cx), int32_t, (size_t)n);
    (void)payload;
    (void)microbatch;
    if (ids == NULL)
        return ridge_fail_nomem(r->cx);
    for (int64_t i = 0; i < n; i++)
        ids[i] = (int32_t)(i * STRIDE % VOCABULARY);
    ridge_status st = upload(c, flight, c->tokens, ids);
    st = st == RIDGE_OK ? upload(c, flight, c->labels, ids) : st;
    ridge_arena_rewind(ridge_ctx_scratch(r->cx), mark);
    return st;
}

static ridge_status no_result(void *payload, ridge__runner *r, ridge__chunk *c,
                              int microbatch, ridge__flight *flight)
{
    (void)payload;
    (void)r;
    (void)c;
    (void)microbatch;
    (void)flight;
    return RIDGE_OK;
}

static ridge_status run_step(ridge__runner *r)
{
    const ridge__step_hooks hooks = {.feed = feed, .result = no_result};
    const ridge__optimizer optimizer = {.rate = 1e-4f,
                                        .beta1 = 0.9f,
                                        .beta2 = 0.95f,
                                        .epsilon = 1e-8f,
                                        .correction1 = 0.1f,
                                        .correction2 = 0.05f,
                                        .scale = 1e-3f};
    double norm;
    RIDGE_TRY(ridge__runner_passes(r, &hooks));
    return ridge__runner_update(r, &optimizer, 1.0, &norm);
}

/* ---- what the trace says --------------------------------------------------------- */

/* Times of one operation of the program over repetitions and steps. */
typedef struct op_times {
    int n;
    double sum_s;
    double s[256];
} op_times;

typedef struct step_load {
    ridge__calibrator *c;
    const step_row *row;
    ridge_dtype dtype;
    ridge__runner *r;
    op_times *ops; /* [n_ops] */
    op_times gaps; /* between instructions */
} step_load;

static void times_add(op_times *t, double s)
{
    t->sum_s += s;
    if (t->n < (int)RIDGE_COUNT_OF(t->s))
        t->s[t->n] = s;
    t->n++;
}

static void read_trace(step_load *l)
{
    const ridge__machine *m = l->r->chunks[0].m;
    for (int64_t i = 0; i < m->n_trace; i++) {
        const ridge__trace_event *e = &m->trace[i];
        if (e->is_taken_in)
            continue;
        times_add(&l->ops[e->op], e->end_s - e->start_s);
        if (i > 0 && e->repetition == m->trace[i - 1].repetition)
            times_add(&l->gaps, e->start_s - m->trace[i - 1].end_s);
    }
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* The mean where ranks take turns on processors, since it holds the turns of others. */
static double typical_s(const ridge__calibrator *c, op_times *t)
{
    const int kept =
        t->n < (int)RIDGE_COUNT_OF(t->s) ? t->n : (int)RIDGE_COUNT_OF(t->s);
    if (c->is_crowded || kept < 1)
        return t->n > 0 ? t->sum_s / t->n : 0.0;
    qsort(t->s, (size_t)kept, sizeof *t->s, compare);
    return t->s[kept / 2];
}

static ridge_status add_attention(step_load *l, int op, double seconds)
{
    const ridge_program *p = l->r->chunks[0].m->program;
    const ridge_operation *o = &p->ops[op];
    const ridge_operation *forward = o->is_backward ? &p->ops[o->forward_of] : o;
    ridge_attention_shape shape;
    ridge__sample s = {.seconds = seconds};
    s.work = ridge_operation_count(p, forward).matmul_flops /
             (double)ridge_comm_size(l->c->world);
    if (!ridge_attention_shape_of(p, forward, &shape))
        return RIDGE_OK;
    s.at[0] = (double)p->dims[shape.s].size;
    s.at[1] = (double)p->dims[shape.h].size;
    snprintf(s.name, sizeof s.name, "%s.%s", o->is_backward ? "backward" : "forward",
             ridge_dtype_text(l->dtype));
    return ridge__sample_add(l->c, &l->c->attention, &s);
}

static ridge_status add_stream(step_load *l, int op, double seconds)
{
    const ridge__machine *m = l->r->chunks[0].m;
    char name[32];
    ridge__sample s = {.seconds = seconds};
    s.at[0] = s.work = ridge_operation_stream_bytes(m->partition, op);
    snprintf(s.name, sizeof s.name, "%s.%s",
             ridge_operation_stream_name(&m->program->ops[op], name),
             ridge_dtype_text(l->dtype));
    return s.work > 0.0 ? ridge__sample_add(l->c, &l->c->stream, &s) : RIDGE_OK;
}

static ridge_status add_op(step_load *l, int op)
{
    const ridge_operation *o = &l->r->chunks[0].m->program->ops[op];
    double seconds = typical_s(l->c, &l->ops[op]);
    if (o->code == RIDGE_OPCODE_COLLECTIVE || o->code == RIDGE_OPCODE_SEND)
        return RIDGE_OK;
    RIDGE_TRY(ridge__mean_over_ranks(l->c, &seconds, 1));
    if (seconds <= 0.0)
        return RIDGE_OK;
    if (o->code == RIDGE_OPCODE_ATTENTION)
        return add_attention(l, op, seconds);
    if (o->code == RIDGE_OPCODE_EINSUM && o->n_inputs > 1)
        return RIDGE_OK;
    return add_stream(l, op, seconds);
}

/* ---- weights --------------------------------------------------------------------- */

/* Small numbers all over; norms' weights are 1. */
static ridge_status fill(step_load *l, const ridge__value *v, bool is_vector)
{
    ridge__device *d = l->r->device;
    const int64_t n = v->elements;
    void *p;
    uint32_t bits = 12345;
    RIDGE_TRY(d->ops->alloc(d, (size_t)n * sizeof(float), &p));
    float *x = p;
    for (int64_t i = 0; i < n; i++) {
        bits = bits * 1664525U + 1013904223U;
        x[i] = is_vector ? 1.0f : 0.1f * ((float)(bits >> 8) * 0x1p-24f - 0.5f);
    }
    const ridge__copy copy = {.n_dims = 1,
                              .sizes = {n},
                              .x_strides = {1},
                              .y_strides = {1},
                              .x = {p, RIDGE_DTYPE_FP32},
                              .y = {v->p, v->dtype}};
    const ridge_status st = d->ops->copy(d, &copy);
    d->ops->release(d, p);
    return st;
}

/* A weight, and its master copy where there is one. */
static ridge_status fill_weights(step_load *l)
{
    ridge__machine *m = l->r->chunks[0].m;
    const ridge__list *list = &m->unrolled.lists[RIDGE__LIST_UPDATE];
    for (int i = 0; i < list->n; i++) {
        const ridge__instruction *at = &list->at[i];
        const ridge_operation *op = &m->program->ops[at->op];
        if (op->code != RIDGE_OPCODE_UPDATE)
            continue;
        const bool is_vector = m->parts[op->inputs[0]].n_dims < 2;
        RIDGE_TRY(fill(l, &m->fixed[at->in[0]], is_vector));
        if (op->n_inputs == 5)
            RIDGE_TRY(fill(l, &m->fixed[at->in[2]], is_vector));
    }
    return RIDGE_OK;
}

/* ---- a model --------------------------------------------------------------------- */

static ridge_status open_runner(step_load *l, const ridge_model *model,
                                ridge_run_layout *layout)
{
    ridge__calibrator *c = l->c;
    const ridge_numerics numerics = ridge_numerics_default();
    const ridge__runner_options options = {
        .model = model,
        .numerics = &numerics,
        .layout = layout,
        .lowering = {.phase = RIDGE_PHASE_TRAIN,
                     .sequences = ridge_run_layout_sequences(layout),
                     .query_tokens = l->row->seq_tokens,
                     .context_tokens = l->row->seq_tokens,
                     .weight = l->dtype,
                     .activation = l->dtype,
                     .cache = l->dtype},
        .threads = c->threads,
        .microbatches = 1,
        .trace_most = TRACE_MOST};
    RIDGE_TRY(ridge__runner_open(c->cx, c->world, &options, &l->r));
    l->ops = ridge_new(ridge_ctx_arena(c->cx), op_times,
                       (size_t)l->r->chunks[0].m->program->n_ops);
    if (l->ops == NULL)
        return ridge_fail_nomem(c->cx);
    return fill_weights(l);
}

static ridge_status run_steps(step_load *l)
{
    const int steps = l->c->is_crowded ? 4 : 3;
    ridge__machine *m = l->r->chunks[0].m;
    for (int i = 0; i < steps; i++) {
        m->n_trace = 0;
        m->is_traced = true;
        RIDGE_TRY(ridge_barrier(l->c->cx, l->c->world));
        RIDGE_TRY(run_step(l->r));
        if (i > 0) /* the first one meets new memory */
            read_trace(l);
    }
    for (int op = 0; op < m->program->n_ops; op++)
        RIDGE_TRY(add_op(l, op));
    return RIDGE_OK;
}

static ridge_status measure_launch(step_load *l)
{
    ridge__calibrator *c = l->c;
    double seconds = typical_s(c, &l->gaps);
    RIDGE_TRY(ridge__mean_over_ranks(c, &seconds, 1));
    c->launch_s = ridge__quicker_s(c->launch_s, seconds);
    return RIDGE_OK;
}

static ridge_status measure_model(ridge__calibrator *c, const step_row *row,
                                  ridge_dtype dtype)
{
    step_load l = {.c = c, .row = row, .dtype = dtype};
    ridge_run_layout layout = ridge_run_layout_single();
    const ridge_model *model;
    ridge_node config;
    ridge__unit_begin(c);
    layout.degrees.dp = ridge_comm_size(c->world);
    layout.microbatch_seqs = row->sequences;
    layout.weight = dtype;
    layout.has_master = dtype == RIDGE_DTYPE_BF16;
    RIDGE_TRY(ridge_json_parse(c->cx, ridge_str_of(row->config), "probe", &config));
    RIDGE_TRY(ridge_model_from_config(c->cx, config, "probe", &model));
    ridge_status st = open_runner(&l, model, &layout);
    st = st == RIDGE_OK ? run_steps(&l) : st;
    ridge__runner_close(l.r);
    RIDGE_TRY(st);
    if (row == rows && dtype == RIDGE_DTYPE_FP32)
        return measure_launch(&l);
    return RIDGE_OK;
}

ridge_status ridge__calibrate_steps(ridge__calibrator *c)
{
    static const ridge_dtype dtypes[] = {RIDGE_DTYPE_FP32, RIDGE_DTYPE_BF16};
    const size_t n = RIDGE_COUNT_OF(rows);
    for (size_t i = 0; i < 2 * n; i++) {
        const step_row *row = &rows[i / 2];
        ridge__calibrator_show(c, (double)i / (double)(2 * n), "training steps");
        if (c->request->is_quick && !row->is_quick)
            continue;
        RIDGE_TRY(measure_model(c, row, dtypes[i % 2]));
    }
    return RIDGE_OK;
}
