/*
 * Tiny transformers, dense and with experts, forward, backward and optimizer step:
 * under every way to parallelise, on 8 ranks, every tensor is what one rank computes.
 */
#include "model_fixture.h"
#include "partition_compare.h"

#include <string.h>

/* A way, as degrees. */
typedef struct way {
    const char *name;
    ridge_parallelism degrees;
} way;

/* clang-format off */
static const way WAYS[] = {
    {"dp",           {.dp = 8, .fsdp = 1, .ep = 1, .cp = 1, .tp = 1}},
    {"tp",           {.dp = 1, .fsdp = 1, .ep = 1, .cp = 1, .tp = 4}},
    {"tp, vocab",    {.dp = 1, .fsdp = 1, .ep = 1, .cp = 1, .tp = 2, .is_vocab_parallel = true}},
    {"tp, sp",       {.dp = 1, .fsdp = 1, .ep = 1, .cp = 1, .tp = 4, .is_sequence_parallel = true}},
    {"tp, sp, vocab", {.dp = 2, .fsdp = 1, .ep = 1, .cp = 1, .tp = 4, .is_sequence_parallel = true,
                       .is_vocab_parallel = true}},
    {"zero 1",       {.dp = 2, .fsdp = 4, .ep = 1, .cp = 1, .tp = 1, .zero_stage = 1}},
    {"zero 2",       {.dp = 1, .fsdp = 4, .ep = 1, .cp = 1, .tp = 1, .zero_stage = 2}},
    {"zero 3",       {.dp = 2, .fsdp = 3, .ep = 1, .cp = 1, .tp = 1, .zero_stage = 3}},
    {"fsdp, tp",     {.dp = 1, .fsdp = 4, .ep = 1, .cp = 1, .tp = 2, .zero_stage = 3,
                      .is_vocab_parallel = true}},
    {"cp gather",    {.dp = 1, .fsdp = 2, .ep = 1, .cp = 4, .tp = 1, .zero_stage = 3}},
    {"cp exchange",  {.dp = 2, .fsdp = 1, .ep = 1, .cp = 2, .tp = 1,
                      .context = RIDGE_CONTEXT_ALL_TO_ALL}},
    {"cp exchange, tp", {.dp = 1, .fsdp = 1, .ep = 1, .cp = 2, .tp = 2,
                         .is_sequence_parallel = true, .context = RIDGE_CONTEXT_ALL_TO_ALL}},
    {"ep",           {.dp = 2, .fsdp = 1, .ep = 4, .cp = 1, .tp = 1}},
    {"ep, tp",       {.dp = 1, .fsdp = 1, .ep = 4, .cp = 1, .tp = 2}},
    {"ep, tp, sp, fsdp", {.dp = 1, .fsdp = 2, .ep = 2, .cp = 1, .tp = 2, .zero_stage = 3,
                          .is_sequence_parallel = true, .is_vocab_parallel = true}},
    {"all",          {.dp = 1, .fsdp = 2, .ep = 2, .cp = 2, .tp = 2, .zero_stage = 3,
                      .is_sequence_parallel = true, .is_vocab_parallel = true}},
};

static const char *const MODELS[] = {
    /* grouped queries, three layers alike */
    "{'architectures':['LlamaForCausalLM'],'model_type':'llama','hidden_size':8,"
    "'intermediate_size':10,'num_hidden_layers':3,'num_attention_heads':4,"
    "'num_key_value_heads':2,'head_dim':4,'vocab_size':11,'tie_word_embeddings':false}",
    /* tied embedding, biases, padding nearly everywhere */
    "{'architectures':['Qwen2ForCausalLM'],'model_type':'qwen2','hidden_size':6,"
    "'intermediate_size':7,'num_hidden_layers':2,'num_attention_heads':3,"
    "'num_key_value_heads':1,'vocab_size':7,'tie_word_embeddings':true}",
    /* experts */
    "{'architectures':['MixtralForCausalLM'],'model_type':'mixtral','hidden_size':8,"
    "'intermediate_size':6,'num_hidden_layers':2,'num_attention_heads':4,"
    "'num_key_value_heads':2,'vocab_size':9,'num_local_experts':4,"
    "'num_experts_per_tok':2,'tie_word_embeddings':false}",
    /* latent attention, a dense layer, shared and routed experts */
    "{'architectures':['DeepseekV3ForCausalLM'],'model_type':'deepseek_v3',"
    "'hidden_size':8,'intermediate_size':10,'moe_intermediate_size':6,"
    "'num_hidden_layers':3,'first_k_dense_replace':1,'num_attention_heads':4,"
    "'num_key_value_heads':4,'n_routed_experts':4,'num_experts_per_tok':2,"
    "'n_shared_experts':1,'q_lora_rank':6,'kv_lora_rank':5,'qk_nope_head_dim':4,"
    "'qk_rope_head_dim':2,'v_head_dim':4,'vocab_size':9,'tie_word_embeddings':false}",
};
/* clang-format on */

/* Rows of an expert for every token of a rank, whatever it was routed to. */
static const ridge_program *with_room(ridge_ctx *cx, const ridge_program *program)
{
    const ridge_program *out = program;
    for (int d = 0; d < program->n_dims; d++) {
        if (strcmp(program->dims[d].name, "C") == 0)
            assert_ok(cx, ridge_program_resize(cx, program, "C", 96, &out));
    }
    return out;
}

static void check(const char *config, const way *w, ridge_phase phase)
{
    const bool is_decode = phase == RIDGE_PHASE_DECODE;
    ridge_ctx *cx = ridge_ctx_open();
    const ridge_lowering lowering = {.phase = phase,
                                     .sequences = 3,
                                     .query_tokens = is_decode ? 1 : 4,
                                     .context_tokens = is_decode ? 6 : 4,
                                     .weight = RIDGE_DTYPE_BF16,
                                     .activation = RIDGE_DTYPE_BF16,
                                     .cache = RIDGE_DTYPE_BF16};
    partition_case c = {.name = w->name, .seed = 7};
    const ridge_rule *rules = NULL;
    ridge_mesh mesh;
    int n = 0;
    assert_ok(cx, ridge_program_lower(cx, fixture_model(cx, "%s", config), &lowering,
                                      &c.program));
    c.program = with_room(cx, c.program);
    assert_ok(cx,
              ridge_parallelism_rules(cx, c.program, &w->degrees, &mesh, &rules, &n));
    assert_ok(cx, ridge_partition_build(cx, c.program, &mesh, rules, n, NULL, NULL,
                                        &c.partition));
    partition_compare(cx, &c);
    ridge_ctx_close(cx);
}

static void check_all(ridge_phase phase)
{
    for (size_t m = 0; m < RIDGE_COUNT_OF(MODELS); m++) {
        for (size_t i = 0; i < RIDGE_COUNT_OF(WAYS); i++)
            check(MODELS[m], &WAYS[i], phase);
    }
}

static void every_way_trains_as_one_rank(void **state)
{
    (void)state;
    check_all(RIDGE_PHASE_TRAIN);
}

static void every_way_fills_caches_as_one_rank(void **state)
{
    (void)state;
    check_all(RIDGE_PHASE_PREFILL);
}

static void every_way_decodes_as_one_rank(void **state)
{
    (void)state;
    check_all(RIDGE_PHASE_DECODE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_way_trains_as_one_rank),
        cmocka_unit_test(every_way_fills_caches_as_one_rank),
        cmocka_unit_test(every_way_decodes_as_one_rank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
