/*
 * Whole training steps under every parallelism: a dense model and one with experts are
 * trained for three steps from the same seed, and each layout must give the losses, the
 * gradient norms and the weights of one rank, to float tolerance.
 */
#include "model_fixture.h"

#include "ridge/execute.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STEPS = 3, SEQUENCES = 16, TOKENS = 16, WEIGHTS_MOST = 1 << 16 };

static const char DENSE[] =
    "{'architectures':['LlamaForCausalLM'],'model_type':'llama','hidden_size':16,"
    "'intermediate_size':24,'num_hidden_layers':6,'num_attention_heads':4,"
    "'num_key_value_heads':2,'vocab_size':64,'tie_word_embeddings':false}";
static const char WIDE[] = /* matrices of 4,096 elements and more */
    "{'architectures':['LlamaForCausalLM'],'model_type':'llama','hidden_size':64,"
    "'intermediate_size':72,'num_hidden_layers':4,'num_attention_heads':4,"
    "'num_key_value_heads':4,'vocab_size':64,'tie_word_embeddings':false}";
static const char TIED[] =
    "{'architectures':['Qwen2ForCausalLM'],'model_type':'qwen2','hidden_size':16,"
    "'intermediate_size':24,'num_hidden_layers':4,'num_attention_heads':4,"
    "'num_key_value_heads':2,'vocab_size':64,'tie_word_embeddings':true}";
static const char GPT2[] =
    "{'architectures':['GPT2LMHeadModel'],'model_type':'gpt2','n_embd':16,'n_head':4,"
    "'n_layer':4,'vocab_size':64,'n_positions':32,'n_inner':24}";
static const char EXPERTS[] =
    "{'architectures':['MixtralForCausalLM'],'model_type':'mixtral','hidden_size':16,"
    "'intermediate_size':12,'num_hidden_layers':4,'num_attention_heads':4,"
    "'num_key_value_heads':2,'vocab_size':64,'num_local_experts':4,"
    "'num_experts_per_tok':2,'tie_word_embeddings':false}";

static const char OLMO2[] = /* norms behind the parts, and over all heads */
    "{'architectures':['Olmo2ForCausalLM'],'model_type':'olmo2','hidden_size':16,"
    "'intermediate_size':24,'num_hidden_layers':4,'num_attention_heads':4,"
    "'num_key_value_heads':2,'vocab_size':64,'tie_word_embeddings':false}";
static const char SINKS[] = /* windows and whole layers, sinks, biases, experts */
    "{'architectures':['GptOssForCausalLM'],'model_type':'gpt_oss','hidden_size':16,"
    "'intermediate_size':12,'num_hidden_layers':4,'num_attention_heads':4,"
    "'num_key_value_heads':2,'head_dim':8,'vocab_size':64,'num_local_experts':4,"
    "'num_experts_per_tok':2,'experts_per_token':2,'sliding_window':6,"
    "'attention_bias':true,'tie_word_embeddings':false,'layer_types':["
    "'sliding_attention','full_attention','sliding_attention','full_attention']}";

/* A layout in few words; what is 0 counts as 1, or off. */
typedef struct way {
    const char *name;
    int dp, fsdp, ep, cp, tp, pp, vpp, zero;
    bool is_sp, is_exchange, is_expert_whole;
    ridge_schedule schedule;
    int microbatch;
    ridge_remat remat;
    const char *remat_ops;
    int remat_layers;
    const int64_t *stage_layers;
    ridge_update update;
    int32_t document_end; /* 0: no documents */
    bool is_gate_whole;
    double room; /* of differences, against those of fp32 */
} way;

/* A difference of the last bit in fp32 may round a bf16 moment the other way. */
static const double ROUNDED = 100.0;
/* Or give the next of the codes of 8 bits: of a moment's largest entry, 1.4 % off. */
static const double ONE_CODE = 200.0;

static const int64_t UNEVEN[] = {1, 3, 2}, ENDS_ALONE[] = {0, 3, 3, 0},
                     HEAD_ALONE[] = {2, 2, 0}, CHUNKS[] = {2, 1, 2, 1},
                     MIDDLE[] = {1, 2, 2, 1};

/* clang-format off */
static const way DOCUMENT_WAYS[] = {
    {.name = "microbatches of documents", .microbatch = 4},
    {.name = "documents on a ring", .cp = 2, .microbatch = 4},
    {.name = "documents by exchange", .cp = 2, .is_exchange = true, .microbatch = 4},
    {.name = "documents on tp", .tp = 2, .is_sp = true, .microbatch = 4},
    {.name = "documents in stages", .pp = 2, .dp = 2, .microbatch = 2,
     .schedule = RIDGE_SCHEDULE_ZB_H1},
    {.name = "documents again", .fsdp = 2, .zero = 3, .microbatch = 2,
     .remat = RIDGE_REMAT_FULL}};

static const way DENSE_WAYS[] = {
    {.name = "accumulation", .microbatch = 2},
    {.name = "a part of a microbatch", .microbatch = 5},
    {.name = "full remat", .microbatch = 4, .remat = RIDGE_REMAT_FULL},
    {.name = "matmuls kept", .microbatch = 4, .remat = RIDGE_REMAT_MATMULS},
    {.name = "selective", .microbatch = 4, .remat = RIDGE_REMAT_SELECTIVE},
    {.name = "elementwise", .microbatch = 4, .remat = RIDGE_REMAT_ELEMENTWISE},
    {.name = "ffn", .microbatch = 4, .remat = RIDGE_REMAT_FFN},
    {.name = "full remat of some layers", .microbatch = 4, .remat = RIDGE_REMAT_FULL, .remat_layers = 2},
    {.name = "operations again", .tp = 2, .is_sp = true, .microbatch = 4, .remat_ops = "h+q+q_rotary+attention+up+act"},
    {.name = "dp", .dp = 4, .microbatch = 2},
    {.name = "zero 1", .dp = 2, .fsdp = 2, .zero = 1, .microbatch = 2},
    {.name = "zero 2", .fsdp = 4, .zero = 2, .microbatch = 2},
    {.name = "zero 3", .fsdp = 4, .zero = 3, .microbatch = 2, .remat = RIDGE_REMAT_FULL},
    {.name = "hybrid zero 3", .dp = 2, .fsdp = 4, .zero = 3, .microbatch = 1},
    {.name = "tp", .tp = 2, .microbatch = 8},
    {.name = "tp beyond the key heads", .tp = 4, .microbatch = 8},
    {.name = "tp, sp", .tp = 4, .is_sp = true, .microbatch = 8, .remat = RIDGE_REMAT_FULL},
    {.name = "ring", .cp = 4, .microbatch = 8},
    {.name = "ring, tp beyond the key heads, sp", .cp = 2, .tp = 4, .is_sp = true, .microbatch = 8},
    {.name = "exchange of heads", .cp = 2, .is_exchange = true, .microbatch = 8},
    {.name = "gpipe", .pp = 2, .schedule = RIDGE_SCHEDULE_GPIPE, .microbatch = 4},
    {.name = "1f1b", .pp = 4, .schedule = RIDGE_SCHEDULE_1F1B, .microbatch = 2},
    {.name = "interleaved", .pp = 2, .vpp = 2, .schedule = RIDGE_SCHEDULE_INTERLEAVED, .microbatch = 2},
    {.name = "interleaved, uneven", .pp = 2, .vpp = 2, .schedule = RIDGE_SCHEDULE_INTERLEAVED, .microbatch = 6},
    {.name = "several layers a stage", .pp = 3, .schedule = RIDGE_SCHEDULE_1F1B, .microbatch = 4},
    {.name = "uneven stages", .pp = 3, .stage_layers = UNEVEN, .schedule = RIDGE_SCHEDULE_1F1B, .microbatch = 4, .remat = RIDGE_REMAT_FULL, .remat_layers = 2},
    {.name = "ends alone", .pp = 4, .stage_layers = ENDS_ALONE, .schedule = RIDGE_SCHEDULE_1F1B, .microbatch = 4},
    {.name = "ends alone, zb-h1", .pp = 4, .tp = 2, .stage_layers = ENDS_ALONE, .schedule = RIDGE_SCHEDULE_ZB_H1, .microbatch = 4},
    {.name = "uneven chunks", .pp = 2, .vpp = 2, .stage_layers = CHUNKS, .schedule = RIDGE_SCHEDULE_INTERLEAVED, .microbatch = 2, .remat = RIDGE_REMAT_MATMULS, .remat_layers = 3},
    {.name = "zb-h1", .pp = 4, .schedule = RIDGE_SCHEDULE_ZB_H1, .microbatch = 2},
    {.name = "zb-h2", .pp = 2, .schedule = RIDGE_SCHEDULE_ZB_H2, .microbatch = 2, .remat = RIDGE_REMAT_FULL},
    {.name = "zb-v", .pp = 2, .vpp = 2, .schedule = RIDGE_SCHEDULE_ZB_V, .microbatch = 2},
    {.name = "dualpipe", .pp = 2, .vpp = 2, .schedule = RIDGE_SCHEDULE_DUALPIPE, .microbatch = 2},
    {.name = "dualpipe, uneven stages", .pp = 4, .vpp = 2, .stage_layers = MIDDLE, .schedule = RIDGE_SCHEDULE_DUALPIPE, .microbatch = 2, .remat = RIDGE_REMAT_FULL},
    {.name = "dualpipe, zero 2, tp", .pp = 2, .vpp = 2, .fsdp = 2, .zero = 2, .tp = 2, .schedule = RIDGE_SCHEDULE_DUALPIPE, .microbatch = 1},
    {.name = "pp, tp, fsdp", .pp = 2, .tp = 2, .fsdp = 2, .zero = 3, .schedule = RIDGE_SCHEDULE_1F1B, .microbatch = 2},
    {.name = "pp, cp, tp, sp", .pp = 2, .cp = 2, .tp = 2, .is_sp = true, .schedule = RIDGE_SCHEDULE_ZB_H1, .microbatch = 4},
    {.name = "dp, zero 1, tp, pp", .dp = 2, .fsdp = 2, .zero = 1, .tp = 2, .pp = 2, .schedule = RIDGE_SCHEDULE_1F1B, .microbatch = 1},
    {.name = "fsdp, cp, tp, sp", .fsdp = 2, .cp = 2, .tp = 2, .is_sp = true, .zero = 3, .microbatch = 4, .remat = RIDGE_REMAT_FULL},
};

static const way TIED_WAYS[] = {
    {.name = "pp", .pp = 2, .schedule = RIDGE_SCHEDULE_1F1B, .microbatch = 4},
    {.name = "zb-v: both ends on one rank", .pp = 2, .vpp = 2, .schedule = RIDGE_SCHEDULE_ZB_V, .microbatch = 4},
    {.name = "dualpipe: both ends on two ranks", .pp = 2, .vpp = 2, .schedule = RIDGE_SCHEDULE_DUALPIPE, .microbatch = 4},
    {.name = "dualpipe, zero 1", .pp = 4, .vpp = 2, .fsdp = 2, .zero = 1, .schedule = RIDGE_SCHEDULE_DUALPIPE, .microbatch = 1},
    {.name = "pp, tp, zero 1", .pp = 2, .tp = 2, .fsdp = 2, .zero = 1, .schedule = RIDGE_SCHEDULE_1F1B, .microbatch = 4},
    {.name = "the head alone", .pp = 3, .stage_layers = HEAD_ALONE, .schedule = RIDGE_SCHEDULE_1F1B, .microbatch = 4},
    {.name = "fsdp, tp", .fsdp = 2, .tp = 2, .zero = 3, .microbatch = 4},
};

static const way GPT2_WAYS[] = {
    {.name = "accumulation", .microbatch = 4, .remat = RIDGE_REMAT_FULL},
    {.name = "zero 3", .fsdp = 4, .zero = 3, .microbatch = 2},
    {.name = "tp, sp", .tp = 4, .is_sp = true, .microbatch = 8, .remat = RIDGE_REMAT_MATMULS},
    {.name = "ring", .cp = 4, .microbatch = 8},
    {.name = "pp, tp, zero 1", .pp = 2, .tp = 2, .fsdp = 2, .zero = 1, .schedule = RIDGE_SCHEDULE_1F1B, .microbatch = 4},
    {.name = "zb-v", .pp = 2, .vpp = 2, .schedule = RIDGE_SCHEDULE_ZB_V, .microbatch = 4},
    {.name = "pp, cp, tp, sp", .pp = 2, .cp = 2, .tp = 2, .is_sp = true, .schedule = RIDGE_SCHEDULE_ZB_H1, .microbatch = 4},
};

static const way EXPERT_WAYS[] = {
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

/* clang-format off */
static const way SINK_WAYS[] = {
    {.name = "microbatches", .microbatch = 4, .remat = RIDGE_REMAT_FULL},
    {.name = "ring", .cp = 4, .microbatch = 8},
    {.name = "exchange", .cp = 2, .is_exchange = true, .microbatch = 8},
    {.name = "tp, sp, zero 3", .fsdp = 2, .tp = 2, .zero = 3, .is_sp = true, .microbatch = 4},
    {.name = "pp, tp beyond the key heads", .pp = 2, .tp = 4, .schedule = RIDGE_SCHEDULE_ZB_H1, .microbatch = 4},
    {.name = "ep", .ep = 2, .microbatch = 2, .remat = RIDGE_REMAT_MATMULS},
};

static const way UPDATE_WAYS[] = {
    {.name = "zero 1", .fsdp = 4, .zero = 1, .microbatch = 2},
    {.name = "zero 2, tp", .fsdp = 2, .tp = 2, .zero = 2, .microbatch = 2},
    {.name = "zero 3, tp", .dp = 2, .fsdp = 2, .tp = 2, .zero = 3, .microbatch = 2},
    {.name = "tp, sp, cp", .tp = 2, .cp = 2, .is_sp = true, .microbatch = 4},
    {.name = "pp, tp", .pp = 2, .tp = 2, .schedule = RIDGE_SCHEDULE_ZB_H1, .microbatch = 2},
    {.name = "dualpipe, zero 1", .pp = 2, .vpp = 2, .fsdp = 2, .zero = 1, .schedule = RIDGE_SCHEDULE_DUALPIPE, .microbatch = 2},
};

static const way UPDATE_EXPERT_WAYS[] = {
    {.name = "ep, zero 1", .ep = 2, .fsdp = 2, .zero = 1, .microbatch = 2},
    {.name = "ep, tp, zero 3", .ep = 2, .tp = 2, .fsdp = 2, .zero = 3, .microbatch = 2},
    {.name = "tp deals experts", .tp = 4, .is_expert_whole = true, .microbatch = 8},
};

static const way MOMENTUM_WAYS[] = {
    {.name = "zero 1", .fsdp = 4, .zero = 1, .microbatch = 2},
    {.name = "zero 3", .fsdp = 2, .tp = 2, .zero = 3, .microbatch = 2},
    {.name = "pp, ep", .pp = 2, .ep = 2, .schedule = RIDGE_SCHEDULE_1F1B, .microbatch = 2},
};
/* clang-format on */

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

typedef struct trail {
    int n;
    double loss[STEPS], norm[STEPS];
    const ridge_checkpoint_reader *weights;
} trail;

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

static void train(ridge_ctx *cx, const ridge_model *model, const way *w, trail *out)
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

static void compare(ridge_ctx *cx, const way *w, const trail *want, const trail *got)
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

static void check_update(const char *config, ridge_update update, const way *ways,
                         size_t n)
{
    ridge_ctx *cx = ridge_ctx_open();
    const ridge_model *model = fixture_model(cx, "%s", config);
    const way single = {.name = "one rank", .microbatch = SEQUENCES, .update = update};
    trail want = {.n = 0};
    train(cx, model, &single, &want);
    assert_true(want.loss[STEPS - 1] < want.loss[0]);
    for (size_t i = 0; i < n; i++) {
        trail got = {.n = 0};
        way w = ways[i];
        w.update = update;
        w.room = room_of(update);
        train(cx, model, &w, &got);
        compare(cx, &w, &want, &got);
    }
    ridge_ctx_close(cx);
}

static void check(const char *config, const way *ways, size_t n)
{
    check_update(config, RIDGE_UPDATE_ADAM, ways, n);
}

/* Without one moment, or both, or with narrow ones: what ZeRO cuts is less. */
static void other_optimizers_train_as_one_rank(void **state)
{
    (void)state;
    const size_t n = RIDGE_COUNT_OF(MOMENTUM_WAYS);
    check_update(EXPERTS, RIDGE_UPDATE_MOMENTUM, MOMENTUM_WAYS, n);
    check_update(EXPERTS, RIDGE_UPDATE_SGD, MOMENTUM_WAYS, n);
    check_update(EXPERTS, RIDGE_UPDATE_ADAM_BF16, MOMENTUM_WAYS, n);
}

/* Over whole matrices, whose parts lie on several ranks; in blocks that ranks share. */
static void optimizers_of_matrices_train_as_one_rank(void **state)
{
    (void)state;
    static const ridge_update UPDATES[] = {RIDGE_UPDATE_MUON, RIDGE_UPDATE_ADAFACTOR};
    for (size_t i = 0; i < RIDGE_COUNT_OF(UPDATES); i++) {
        check_update(DENSE, UPDATES[i], UPDATE_WAYS, RIDGE_COUNT_OF(UPDATE_WAYS));
        check_update(EXPERTS, UPDATES[i], UPDATE_EXPERT_WAYS,
                     RIDGE_COUNT_OF(UPDATE_EXPERT_WAYS));
    }
}

static void sinks_train_as_one_rank(void **state)
{
    (void)state;
    check(SINKS, SINK_WAYS, RIDGE_COUNT_OF(SINK_WAYS));
}

/* Gates that do not add up to 1. */
static void whole_gates_train_as_one_rank(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    const ridge_model *model = fixture_model(cx, "%s", EXPERTS);
    way w = {.name = "one rank", .microbatch = SEQUENCES};
    trail usual = {.n = 0}, want = {.n = 0};
    train(cx, model, &w, &usual);
    w.is_gate_whole = true;
    train(cx, model, &w, &want);
    assert_true(fabs(want.loss[0] - usual.loss[0]) > 1e-4);
    for (size_t i = 0; i < RIDGE_COUNT_OF(EXPERT_WAYS); i++) {
        trail got = {.n = 0};
        way other = EXPERT_WAYS[i];
        other.is_gate_whole = true;
        other.room = 1.0;
        train(cx, model, &other, &got);
        compare(cx, &other, &want, &got);
    }
    ridge_ctx_close(cx);
}

static void norms_behind_train_as_one_rank(void **state)
{
    (void)state;
    check(OLMO2, UPDATE_WAYS, RIDGE_COUNT_OF(UPDATE_WAYS));
}

static void narrow_moments_train_as_one_rank(void **state)
{
    (void)state;
    check_update(WIDE, RIDGE_UPDATE_ADAM_8BIT, UPDATE_WAYS,
                 RIDGE_COUNT_OF(UPDATE_WAYS));
}

/* Attention stays inside of documents, wherever their tokens lie. */
static void documents_train_as_one_rank(void **state)
{
    enum { END = 7, NEVER = 62 };
    ridge_ctx *cx = ridge_ctx_open();
    const ridge_model *model = fixture_model(cx, "%s", DENSE);
    way w = {.name = "one rank", .microbatch = SEQUENCES};
    trail plain = {.n = 0}, none = {.n = 0}, want = {.n = 0};
    train(cx, model, &w, &plain);
    w.document_end = NEVER;
    train(cx, model, &w, &none);
    assert_memory_equal(none.loss, plain.loss, sizeof plain.loss);
    w.document_end = END;
    train(cx, model, &w, &want);
    assert_true(fabs(want.loss[0] - plain.loss[0]) > 1e-4);
    for (size_t i = 0; i < RIDGE_COUNT_OF(DOCUMENT_WAYS); i++) {
        trail got = {.n = 0};
        way other = DOCUMENT_WAYS[i];
        other.document_end = END;
        other.room = 1.0;
        train(cx, model, &other, &got);
        compare(cx, &other, &want, &got);
    }
    ridge_ctx_close(cx);
    (void)state;
}

static void dense_layouts_train_as_one_rank(void **state)
{
    (void)state;
    check(DENSE, DENSE_WAYS, RIDGE_COUNT_OF(DENSE_WAYS));
}

static void tied_layouts_train_as_one_rank(void **state)
{
    (void)state;
    check(TIED, TIED_WAYS, RIDGE_COUNT_OF(TIED_WAYS));
}

static void gpt2_layouts_train_as_one_rank(void **state)
{
    (void)state;
    check(GPT2, GPT2_WAYS, RIDGE_COUNT_OF(GPT2_WAYS));
}

static void expert_layouts_train_as_one_rank(void **state)
{
    (void)state;
    check(EXPERTS, EXPERT_WAYS, RIDGE_COUNT_OF(EXPERT_WAYS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(documents_train_as_one_rank),
        cmocka_unit_test(dense_layouts_train_as_one_rank),
        cmocka_unit_test(tied_layouts_train_as_one_rank),
        cmocka_unit_test(gpt2_layouts_train_as_one_rank),
        cmocka_unit_test(expert_layouts_train_as_one_rank),
        cmocka_unit_test(other_optimizers_train_as_one_rank),
        cmocka_unit_test(optimizers_of_matrices_train_as_one_rank),
        cmocka_unit_test(sinks_train_as_one_rank),
        cmocka_unit_test(whole_gates_train_as_one_rank),
        cmocka_unit_test(norms_behind_train_as_one_rank),
        cmocka_unit_test(narrow_moments_train_as_one_rank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
