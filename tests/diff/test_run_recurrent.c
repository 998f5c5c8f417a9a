/*
 * Whole training steps of models with recurrent layers (gated delta nets, Mamba-2
 * hybrids, short convolutions) or an indexer: each layout must give the
 * losses, the gradient norms, the weights and the states of one rank.
 */
#include "layout_runs.h"

static const char DELTA[] = /* two value heads to a key head; gated attention */
    "{'architectures':['Qwen3NextForCausalLM'],'model_type':'qwen3_next',"
    "'hidden_size':16,'intermediate_size':24,'num_hidden_layers':4,"
    "'full_attention_interval':2,'num_attention_heads':4,'num_key_value_heads':2,"
    "'head_dim':8,'partial_rotary_factor':0.5,'linear_conv_kernel_dim':4,"
    "'linear_num_key_heads':2,'linear_num_value_heads':4,'linear_key_head_dim':6,"
    "'linear_value_head_dim':5,'vocab_size':64,'num_experts':4,"
    "'num_experts_per_tok':2,'moe_intermediate_size':12,"
    "'shared_expert_intermediate_size':12,'decoder_sparse_step':1,"
    "'norm_topk_prob':true,'tie_word_embeddings':false}";
static const char HYBRID[] = /* Mamba-2, feed-forward and attention in turn */
    "{'architectures':['NemotronHForCausalLM'],'model_type':'nemotron_h',"
    "'hidden_size':16,'intermediate_size':24,'num_hidden_layers':6,"
    "'hybrid_override_pattern':'M-M*-M','mamba_num_heads':4,'mamba_head_dim':6,"
    "'n_groups':2,'ssm_state_size':5,'conv_kernel':4,'use_conv_bias':true,"
    "'num_attention_heads':4,'num_key_value_heads':2,'attention_head_dim':4,"
    "'mlp_hidden_act':'relu2','vocab_size':64,'tie_word_embeddings':false}";
static const char SHORT[] =
    "{'architectures':['Lfm2ForCausalLM'],'model_type':'lfm2','hidden_size':16,"
    "'intermediate_size':24,'block_auto_adjust_ff_dim':false,'num_hidden_layers':4,"
    "'full_attn_idxs':[1,3],'conv_L_cache':3,'num_attention_heads':4,"
    "'num_key_value_heads':2,'vocab_size':64,'tie_word_embeddings':false}";

static const char INDEXED[] = /* an indexer that chooses all tokens; latent attention */
    "{'architectures':['DeepseekV32ForCausalLM'],'model_type':'deepseek_v32',"
    "'hidden_size':16,'intermediate_size':24,'num_hidden_layers':4,"
    "'num_attention_heads':4,'num_key_value_heads':4,'q_lora_rank':8,"
    "'kv_lora_rank':8,'qk_nope_head_dim':4,'qk_rope_head_dim':4,'v_head_dim':4,"
    "'index_n_heads':2,'index_head_dim':4,'index_topk':16,'vocab_size':64,"
    "'n_routed_experts':4,'num_experts_per_tok':2,'moe_intermediate_size':12,"
    "'first_k_dense_replace':1,'n_shared_experts':1,'norm_topk_prob':true,"
    "'tie_word_embeddings':false}";

/* clang-format off */
static const way WAYS[] = {
    {.name = "one rank", .microbatch = 16},
    {.name = "microbatches", .microbatch = 4, .remat = RIDGE_REMAT_FULL},
    {.name = "zero 1", .fsdp = 4, .zero = 1, .microbatch = 2},
    {.name = "zero 3, tp, sp", .fsdp = 2, .tp = 2, .zero = 3, .is_sp = true, .microbatch = 4},
    {.name = "tp beyond the key heads", .tp = 4, .microbatch = 8, .remat = RIDGE_REMAT_SELECTIVE},
    {.name = "cp", .cp = 2, .tp = 2, .microbatch = 8},
    {.name = "zero bubble, tp", .pp = 2, .tp = 2, .schedule = RIDGE_SCHEDULE_ZB_H1, .microbatch = 4},
    {.name = "interleaved, dp", .pp = 2, .vpp = 2, .dp = 2, .schedule = RIDGE_SCHEDULE_INTERLEAVED, .microbatch = 2},
};

static const way DOCUMENT_WAYS[] = {
    {.name = "one rank", .microbatch = 16, .document_end = 3},
    {.name = "tp, sp", .tp = 2, .is_sp = true, .microbatch = 4, .document_end = 3},
    {.name = "zero 2, cp", .fsdp = 2, .cp = 2, .zero = 2, .microbatch = 4, .document_end = 3},
};
/* clang-format on */

/* The first way is what the others are held against. Gradients of decays and skips are
 * sums over all tokens and elements of a head, which nearly cancel: so is the room. */
static void check_ways(const char *config, const way *ways, size_t n)
{
    ridge_ctx *cx = ridge_ctx_open();
    const ridge_model *model = fixture_model(cx, "%s", config);
    trail want = {.n = 0};
    layout_train(cx, model, &ways[0], &want);
    for (size_t i = 1; i < n; i++) {
        trail got = {.n = 0};
        way w = ways[i];
        w.room = 10.0;
        layout_train(cx, model, &w, &got);
        layout_compare(cx, &w, &want, &got);
    }
    ridge_ctx_close(cx);
}

static void check(const char *config)
{
    check_ways(config, WAYS, RIDGE_COUNT_OF(WAYS));
    check_ways(config, DOCUMENT_WAYS, RIDGE_COUNT_OF(DOCUMENT_WAYS));
}

static void delta_nets_train_as_one_rank(void **state)
{
    (void)state;
    check(DELTA);
}

static void state_spaces_train_as_one_rank(void **state)
{
    (void)state;
    check(HYBRID);
}

static void short_convolutions_train_as_one_rank(void **state)
{
    (void)state;
    check(SHORT);
}

static void indexers_of_all_tokens_train_as_one_rank(void **state)
{
    (void)state;
    check_ways(INDEXED, WAYS, RIDGE_COUNT_OF(WAYS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(delta_nets_train_as_one_rank),
        cmocka_unit_test(state_spaces_train_as_one_rank),
        cmocka_unit_test(short_convolutions_train_as_one_rank),
        cmocka_unit_test(indexers_of_all_tokens_train_as_one_rank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
