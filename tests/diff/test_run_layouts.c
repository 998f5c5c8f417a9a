/*
 * Whole training steps under every parallelism: a dense model and one with experts are
 * trained for three steps from the same seed, and each layout must give the losses, the
 * gradient norms and the weights of one rank, to float tolerance.
 */
#include "layout_runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char DENSE[] =
    "{'architectures':['LlamaForCausalLM'],'model_type':'llama','hidden_size':16,"
    "'intermediate_size':24,'num_hidden_layers':6,'num_attention_heads':4,"
    "'num_key_value_heads':2,'vocab_size':64,'tie_word_embeddings':false}";
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
/* clang-format on */

static void check(const char *config, const way *ways, size_t n)
{
    layouts_check(config, RIDGE_UPDATE_ADAM, ways, n);
}

/* Attention stays inside of documents, wherever their tokens lie. */
static void documents_train_as_one_rank(void **state)
{
    enum { END = 7, NEVER = 62 };
    ridge_ctx *cx = ridge_ctx_open();
    const ridge_model *model = fixture_model(cx, "%s", DENSE);
    way w = {.name = "one rank", .microbatch = SEQUENCES};
    trail plain = {.n = 0}, none = {.n = 0}, want = {.n = 0};
    layout_train(cx, model, &w, &plain);
    w.document_end = NEVER;
    layout_train(cx, model, &w, &none);
    assert_memory_equal(none.loss, plain.loss, sizeof plain.loss);
    w.document_end = END;
    layout_train(cx, model, &w, &want);
    assert_true(fabs(want.loss[0] - plain.loss[0]) > 1e-4);
    for (size_t i = 0; i < RIDGE_COUNT_OF(DOCUMENT_WAYS); i++) {
        trail got = {.n = 0};
        way other = DOCUMENT_WAYS[i];
        other.document_end = END;
        other.room = 1.0;
        layout_train(cx, model, &other, &got);
        layout_compare(cx, &other, &want, &got);
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
    check(EXPERTS, EXPERT_WAYS, EXPERT_WAYS_COUNT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(documents_train_as_one_rank),
        cmocka_unit_test(dense_layouts_train_as_one_rank),
        cmocka_unit_test(tied_layouts_train_as_one_rank),
        cmocka_unit_test(gpt2_layouts_train_as_one_rank),
        cmocka_unit_test(expert_layouts_train_as_one_rank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
