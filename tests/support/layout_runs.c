/* Runs of few steps on a layout, and their comparison. */
#include "layout_runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* clang-format off */
const way EXPERT_WAYS[EXPERT_WAYS_COUNT] = {
    {.name = "accumulation", .microbatch = 4, .remat = RIDGE_REMAT_FULL},
    {.name = "operations again", .ep = 2, .microbatch = 4, .remat_ops = "h_ffn+rows+rows_gate+rows_up+rows_act"},
    {.name = "dp", .dp = 2, .microbatch = 4},
    {.name = "tp cuts experts", .tp = 2, .microbatch = 8},
    {.name = "tp deals experts", .tp = 4, .is_expert_whole = true, .microbatch = 8},
    {.name = "ep", .ep = 4, .microbatch = 2},
    {.name = "ep, fsdp", .ep = 2, .fsdp = 2, .zero = 3, .microbatch = 2, .remat = RIDGE_REMAT_MATMULS},
    {.name = "ep over tp, sp", .ep = 2, .tp = 2, .is_sp = true, .is_expert_whole = true, .microbatch = 4},
    {.name = "ep over tp", .ep = 2, .tp = 2, .is_expert_whole = true, .microbatch = 4},
    {.name = "ep, tp, sp", .ep = 2, .tp = 2, .is_sp = true, .microbatch = 4, .remat = RIDGE_REMAT_FULL},
    {.name = "ep, cp", .ep = 2, .cp = 2, .microbatch = 4},
    {.name = "pp, ep, tp", .pp = 2, .ep = 2, .tp = 2, .schedule = RIDGE_SCHEDULE_ZB_H1, .microbatch = 2},
    {.name = "dualpipe, ep", .pp = 2, .vpp = 2, .ep = 2, .schedule = RIDGE_SCHEDULE_DUALPIPE, .microbatch = 2},
    {.name = "pp, ep, interleaved", .pp = 2, .vpp = 2, .ep = 2, .schedule = RIDGE_SCHEDULE_INTERLEAVED, .microbatch = 2},
};
/* clang-format on */

enum { WEIGHTS_MOST = 1 << 16 };

/* A difference of the last bit in fp32 may round a bf16 moment the other way. */
static const double ROUNDED = 100.0;
/* Or give the next of the codes of 8 bits: of a moment's largest entry, 1.4 % off. */
static const double ONE_CODE = 200.0;

static int one(int n)
{
    return n < 1 ? 1 : n;
}

static ridge_run_layout layout_of(ridge_ctx *cx, const way *w)
{
    ridge_run_layout l = ridge_run_layout_single();
    l.degrees = (ridge_parallelism){.dp = one(w->dp),
                                    .fsdp = one(w->fsdp),
                                    .ep = one(w->ep),
                                    .cp = one(w->cp),
                                    .tp = one(w->tp),
                                    .zero_stage = w->zero,
                                    .is_sequence_parallel = w->is_sp,
                                    .is_vocab_parallel = w->tp > 1,
                                    .is_expert_whole = w->is_expert_whole,
                                    .context = w->is_exchange ? RIDGE_CONTEXT_ALL_TO_ALL
                                                              : RIDGE_CONTEXT_GATHER};
    l.pp = one(w->pp);
    l.vpp = one(w->vpp);
    l.schedule = w->pp > 1 ? w->schedule : RIDGE_SCHEDULE_1F1B;
    l.microbatch_seqs = one(w->microbatch);
    l.remat = w->remat;
    if (w->remat_ops)
        assert_ok(cx, ridge_remat_ops_parse(cx, w->remat_ops, &l.remat_ops));
    l.remat_layers = w->remat_layers;
    l.stage_layers = w->stage_layers;
    l.update = w->update;
    return l;
}

/* ---- one run -----------------------------------------------------------------------
 */

static void watch(void *payload, const ridge_run_event *e)
{
    trail *t = payload;
    if (e->is_evaluation || e->checkpoint || t->n == STEPS)
        return;
    t->loss[t->n] = e->loss;
    t->norm[t->n++] = e->gradient_norm;
}

static const ridge_token_data *open_data(ridge_ctx *cx, const char *path)
{
    static int32_t ids[4096];
    FILE *f = fopen(path, "wb");
    uint64_t x = 5;
    assert_non_null(f);
    for (size_t i = 0; i < RIDGE_COUNT_OF(ids); i++) {
        x = x * 6364136223846793005ULL + 1442695040888963407ULL;
        ids[i] = (int32_t)((x >> 33) % 61); /* some tokens follow each other */
        const uint16_t word =
            (uint16_t)(i % 3 == 1 ? (ids[i - 1] * 7 + 3) % 61 : ids[i]);
        assert_int_equal(fwrite(&word, sizeof word, 1, f), 1);
    }
    assert_int_equal(fclose(f), 0);
    const ridge_token_data *data;
    const ridge_data_options options = {.vocab = 64};
    assert_ok(cx, ridge_token_data_open(cx, NULL, &path, 1, &options, &data));
    return data;
}

void layout_train(ridge_ctx *cx, const ridge_model *model, const way *w, trail *out)
{
    const char *file = ridge_sprintf(ridge_ctx_arena(cx), "%s/layouts-%d.bin",
                                     RIDGE_BUILD_DIR, (int)getpid());
    const char *dir = ridge_sprintf(ridge_ctx_arena(cx), "%s/layouts-%d-%s",
                                    RIDGE_BUILD_DIR, (int)getpid(), w->name);
    ridge_train_run run = {.model = model,
                           .numerics = ridge_numerics_default(),
                           .layout = layout_of(cx, w),
                           .threads = 1,
                           .seq_tokens = TOKENS,
                           .batch_seqs = SEQUENCES,
                           .steps = STEPS,
                           .learning = ridge_learning_usual(),
                           .data = open_data(cx, file),
                           .has_documents = w->document_end > 0,
                           .document_end = w->document_end,
                           .seed = 3,
                           .init_scale = 0.2,
                           .checkpoint_dir = dir,
                           .checkpoint_every = STEPS,
                           .watch = watch,
                           .payload = out};
    ridge_train_report report;
    run.numerics.is_gate_whole = w->is_gate_whole;
    run.learning.rate = 1e-2;
    run.learning.epsilon = 1e-3; /* weights move smoothly with small gradients */
    run.ranks = (ridge_ranks){.engine = RIDGE_ENGINE_THREADS,
                              .ranks = (int)ridge_run_layout_ranks(&run.layout),
                              .timeout_s = 100.0};
    const ridge_status st = ridge_run_train(cx, &run, &report);
    if (st != RIDGE_OK)
        fail_msg("%s: %s", w->name, ridge_ctx_message(cx));
    assert_int_equal(report.ranks, run.ranks.ranks);
    assert_true(report.peak_memory_bytes[0] >= report.weight_bytes[0]);
    assert_ok(cx, ridge_checkpoint_reader_open(cx, dir, &out->weights));
    unlink(file);
}

/* ---- comparing ---------------------------------------------------------------------
 */

static void read_whole(ridge_ctx *cx, const ridge_checkpoint_reader *reader,
                       const ridge_checkpoint_tensor *t, float *out)
{
    const ridge_checkpoint_part want = {.name = t->name,
                                        .layer = t->layer,
                                        .element = RIDGE_ELEMENT_F32,
                                        .region =
                                            ridge_region_whole(t->n_dims, t->shape)};
    assert_true(ridge_region_elements(&want.region) <= WEIGHTS_MOST);
    assert_ok(cx, ridge_checkpoint_reader_read(cx, reader, &want, out));
}

static void compare_weights(ridge_ctx *cx, const way *w, const trail *want,
                            const trail *got)
{
    static float a[WEIGHTS_MOST], b[WEIGHTS_MOST];
    const size_t n = ridge_checkpoint_reader_count(want->weights);
    assert_int_equal(ridge_checkpoint_reader_count(got->weights), n);
    for (size_t i = 0; i < n; i++) {
        const ridge_checkpoint_tensor t =
            ridge_checkpoint_reader_tensor(want->weights, i);
        int64_t elements = 1;
        double size = 1e-9, most = 0.0;
        for (int d = 0; d < t.n_dims; d++)
            elements *= t.shape[d];
        read_whole(cx, want->weights, &t, a);
        read_whole(cx, got->weights, &t, b);
        for (int64_t k = 0; k < elements; k++) {
            size = fmax(size, fabs((double)a[k]));
            most = fmax(most, fabs((double)a[k] - (double)b[k]));
        }
        /* A bias of keys moves all scores of a query alike where nothing turns: its
         * gradient is rounding. */
        if (strstr(t.name, "wk_bias") != NULL && size < 1e-7)
            continue;
        if (!(most <= w->room * 1e-4 * size))
            fail_msg("%s: %s of layer %lld differs by %g of %g", w->name, t.name,
                     (long long)t.layer, most, size);
    }
}

void layout_compare(ridge_ctx *cx, const way *w, const trail *want, const trail *got)
{
    assert_int_equal(got->n, STEPS);
    for (int i = 0; i < STEPS; i++) {
        if (!(fabs(got->loss[i] - want->loss[i]) <=
              sqrt(w->room) * 2e-6 * want->loss[i]))
            fail_msg("%s: loss of step %d is %.9g, on one rank %.9g", w->name, i + 1,
                     got->loss[i], want->loss[i]);
        if (!(fabs(got->norm[i] - want->norm[i]) <=
              sqrt(w->room) * 2e-5 * want->norm[i]))
            fail_msg("%s: gradient norm of step %d is %.9g, on one rank %.9g", w->name,
                     i + 1, got->norm[i], want->norm[i]);
    }
    compare_weights(cx, w, want, got);
}

static double room_of(ridge_update update)
{
    return update == RIDGE_UPDATE_ADAM_BF16   ? ROUNDED
           : update == RIDGE_UPDATE_ADAM_8BIT ? ONE_CODE
                                              : 1.0;
}

void layouts_check(const char *config, ridge_update update, const way *ways, size_t n)
{
    ridge_ctx *cx = ridge_ctx_open();
    const ridge_model *model = fixture_model(cx, "%s", config);
    const way single = {.name = "one rank", .microbatch = SEQUENCES, .update = update};
    trail want = {.n = 0};
    layout_train(cx, model, &single, &want);
    assert_true(want.loss[STEPS - 1] < want.loss[0]);
    for (size_t i = 0; i < n; i++) {
        trail got = {.n = 0};
        way w = ways[i];
        w.update = update;
        w.room = room_of(update);
        layout_train(cx, model, &w, &got);
        layout_compare(cx, &w, &want, &got);
    }
    ridge_ctx_close(cx);
}
