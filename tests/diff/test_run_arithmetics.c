/*
 * Whole training steps with every optimizer, and of models with arithmetic of their own
 * (sinks, norms behind the parts, gates that do not add up to 1): each layout must give
 * the losses, the gradient norms, the weights and the states of one rank.
 */
#include "layout_runs.h"

#include <math.h>

static const char DENSE[] =
    "{'architectures':['LlamaForCausalLM'],'model_type':'llama','hidden_size':16,"
    "'intermediate_size':24,'num_hidden_layers':6,'num_attention_heads':4,"
    "'num_key_value_heads':2,'vocab_size':64,'tie_word_embeddings':false}";
static const char WIDE[] = /* matrices of 4,096 elements and more */
    "{'architectures':['LlamaForCausalLM'],'model_type':'llama','hidden_size':64,"
    "'intermediate_size':72,'num_hidden_layers':4,'num_attention_heads':4,"
    "'num_key_value_heads':4,'vocab_size':64,'tie_word_embeddings':false}";
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

/* Without one moment, or both, or with narrow ones: what ZeRO cuts is less. */
static void other_optimizers_train_as_one_rank(void **state)
{
    (void)state;
    const size_t n = RIDGE_COUNT_OF(MOMENTUM_WAYS);
    layouts_check(EXPERTS, RIDGE_UPDATE_MOMENTUM, MOMENTUM_WAYS, n);
    layouts_check(EXPERTS, RIDGE_UPDATE_SGD, MOMENTUM_WAYS, n);
    layouts_check(EXPERTS, RIDGE_UPDATE_ADAM_BF16, MOMENTUM_WAYS, n);
}

/* Over whole matrices, whose parts lie on several ranks; in blocks that ranks share. */
static void optimizers_of_matrices_train_as_one_rank(void **state)
{
    (void)state;
    static const ridge_update UPDATES[] = {RIDGE_UPDATE_MUON, RIDGE_UPDATE_ADAFACTOR};
    for (size_t i = 0; i < RIDGE_COUNT_OF(UPDATES); i++) {
        layouts_check(DENSE, UPDATES[i], UPDATE_WAYS, RIDGE_COUNT_OF(UPDATE_WAYS));
        layouts_check(EXPERTS, UPDATES[i], UPDATE_EXPERT_WAYS,
                      RIDGE_COUNT_OF(UPDATE_EXPERT_WAYS));
    }
}

static void sinks_train_as_one_rank(void **state)
{
    (void)state;
    layouts_check(SINKS, RIDGE_UPDATE_ADAM, SINK_WAYS, RIDGE_COUNT_OF(SINK_WAYS));
}

/* Gates that do not add up to 1. */
static void whole_gates_train_as_one_rank(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    const ridge_model *model = fixture_model(cx, "%s", EXPERTS);
    way w = {.name = "one rank", .microbatch = SEQUENCES};
    trail usual = {.n = 0}, want = {.n = 0};
    layout_train(cx, model, &w, &usual);
    w.is_gate_whole = true;
    layout_train(cx, model, &w, &want);
    assert_true(fabs(want.loss[0] - usual.loss[0]) > 1e-4);
    for (size_t i = 0; i < EXPERT_WAYS_COUNT; i++) {
        trail got = {.n = 0};
        way other = EXPERT_WAYS[i];
        other.is_gate_whole = true;
        other.room = 1.0;
        layout_train(cx, model, &other, &got);
        layout_compare(cx, &other, &want, &got);
    }
    ridge_ctx_close(cx);
}

static void norms_behind_train_as_one_rank(void **state)
{
    (void)state;
    layouts_check(OLMO2, RIDGE_UPDATE_ADAM, UPDATE_WAYS, RIDGE_COUNT_OF(UPDATE_WAYS));
}

static void narrow_moments_train_as_one_rank(void **state)
{
    (void)state;
    layouts_check(WIDE, RIDGE_UPDATE_ADAM_8BIT, UPDATE_WAYS,
                  RIDGE_COUNT_OF(UPDATE_WAYS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_optimizers_train_as_one_rank),
        cmocka_unit_test(optimizers_of_matrices_train_as_one_rank),
        cmocka_unit_test(narrow_moments_train_as_one_rank),
        cmocka_unit_test(sinks_train_as_one_rank),
        cmocka_unit_test(whole_gates_train_as_one_rank),
        cmocka_unit_test(norms_behind_train_as_one_rank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
