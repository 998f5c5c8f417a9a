/* Lowering: the shape of what comes out, phase by phase, and what is refused. */
#include "program_fixture.h"

#include <string.h>

#define LLAMA                                                                          \
    "{'model_type':'llama','hidden_size':8,'num_hidden_layers':3,"                     \
    "'num_attention_heads':4,'num_key_value_heads':2,'vocab_size':10,"                 \
    "'intermediate_size':16}"

static const ridge_program *lower_text(ridge_ctx *cx, const char *config,
                                       ridge_phase phase, int64_t tokens)
{
    return fixture_lower(cx, fixture_model(cx, "%s", config), phase, 2, tokens);
}

/* ---- a dense layer --------------------------------------------------------------- */

static void a_layer_reads_as_it_is_drawn(void **state)
{
    const ridge_program *p = lower_text(*state, LLAMA, RIDGE_PHASE_TRAIN, 4);
    assert_holds(*state, p,
                 "program inline train\n"
                 "dims B=2 T=4 D=8 V=10 N=4 H=2 K=2 F=16\n"
                 "\n"
                 "block embed\n"
                 "  weight embedding[V,D] bf16\n"
                 "  input tokens[B,T] fp32\n"
                 "  x[B,T,D] bf16 = gather embedding, tokens\n"
                 "\n"
                 "block layer x3 layer=0 carry x -> x_out\n"
                 "  weight h_weight[D] bf16\n"
                 "  h[B,T,D] bf16 = norm x, h_weight\n"
                 "  weight wq[D,N,H] bf16\n"
                 "  q[B,T,N,H] bf16 = einsum h, wq  part=attention\n");
    assert_holds(*state, p,
                 "  o[B,T,N,H] bf16 = attention q_rotary, k_rotary, v  causal "
                 "part=attention\n");
    assert_holds(*state, p, "  act[B,T,F] bf16 = swiglu gate, up  part=mlp\n");
    assert_holds(*state, p, "  x_out[B,T,D] bf16 = add x_mixed, ffn\n");
    assert_holds(*state, p,
                 "  logits[B,T,V] bf16 = einsum final_norm, unembedding  head\n");
}

static void training_goes_back_and_updates(void **state)
{
    static const char *const BLOCKS[] = {
        "embed",         "layer",          "head",
        "head_backward", "layer_backward", "embed_backward",
        "embed_update",  "layer_update",   "head_update"};
    const ridge_program *p = lower_text(*state, LLAMA, RIDGE_PHASE_TRAIN, 4);
    assert_int_equal(p->n_blocks, RIDGE_COUNT_OF(BLOCKS));
    for (int i = 0; i < p->n_blocks; i++) {
        assert_string_equal(p->blocks[i].name, BLOCKS[i]);
        assert_int_equal(p->blocks[i].is_backward,
                         strstr(BLOCKS[i], "_backward") != NULL);
        if (i > 2)
            assert_true(p->blocks[i].forward_of >= 0);
        assert_int_equal(p->blocks[i].repeat, strstr(BLOCKS[i], "layer") ? 3 : 1);
    }
    const ridge_operation *step = fixture_op(p, "layer_update.wq");
    assert_int_equal(step->n_inputs, 5); /* weight, gradient, master, m, v */
    assert_int_equal(step->part, RIDGE_PART_ATTENTION);
}

/* A layer of an LLM is about as many operations as on paper, at any depth. */
static void size_does_not_grow_with_depth(void **state)
{
    const ridge_program *p = fixture_lower(*state, fixture_named(*state, "llama-3-70b"),
                                           RIDGE_PHASE_PREFILL, 1, 4096);
    assert_int_equal(p->n_blocks, 3);
    assert_int_equal(p->blocks[1].repeat, 80);
    assert_in_range(p->blocks[1].n_ops, 15, 20);
    const ridge_program *v3 = fixture_lower(
        *state, fixture_named(*state, "deepseek-v3"), RIDGE_PHASE_TRAIN, 1, 4096);
    assert_true(v3->n_ops < 300);
}

/* ---- caches ---------------------------------------------------------------------- */

static void prefill_fills_a_cache_and_decode_reads_it(void **state)
{
    const ridge_program *prefill = lower_text(*state, LLAMA, RIDGE_PHASE_PREFILL, 4);
    const ridge_program *decode = lower_text(*state, LLAMA, RIDGE_PHASE_DECODE, 4);
    assert_holds(*state, prefill,
                 "  cache k_cache[B,S,K,H] bf16\n"
                 "  k_cache = append k_rotary  part=attention\n");
    assert_holds(*state, prefill, "= attention q_rotary, k_rotary, v  causal");
    assert_holds(*state, decode, "dims B=2 T=1 D=8 V=10 N=4 H=2 K=2 S=4 F=16\n");
    assert_holds(*state, decode,
                 "= attention q_rotary, k_cache, v_cache  part=attention\n");
    assert_null(strstr(fixture_text(*state, decode), "loss"));
}

static void several_queries_meet_the_average_context(void **state)
{
    const ridge_lowering how = {.phase = RIDGE_PHASE_DECODE,
                                .sequences = 1,
                                .query_tokens = 4,
                                .context_tokens = 100,
                                .weight = RIDGE_DTYPE_FP8,
                                .activation = RIDGE_DTYPE_BF16,
                                .cache = RIDGE_DTYPE_FP8};
    const ridge_program *p = NULL;
    assert_ok(*state, ridge_program_lower(*state, fixture_model(*state, "%s", LLAMA),
                                          &how, &p));
    /* 96 earlier tokens, and half of the 4: 4 heads of 2 + 2 channels. */
    assert_near(ridge_operation_count(p, fixture_op(p, "layer.o")).matmul_flops,
                2.0 * 4 * 4 * (2 + 2) * 98, 1e-12);
    assert_holds(*state, p, "cache k_cache[B,S,K,H] fp8");
    assert_holds(*state, p, "weight wq[D,N,H] fp8");
}

static void a_window_caps_its_cache(void **state)
{
    const char *mistral = "{'model_type':'mistral','hidden_size':8,"
                          "'num_hidden_layers':3,'num_attention_heads':4,"
                          "'num_key_value_heads':2,'vocab_size':10,"
                          "'intermediate_size':16,'sliding_window':6}";
    const ridge_program *p = lower_text(*state, mistral, RIDGE_PHASE_DECODE, 40);
    assert_int_equal(p->dims[ridge_program_dim_find(p, "S")].size, 6);
    p = lower_text(*state, mistral, RIDGE_PHASE_PREFILL, 40);
    assert_holds(*state, p, "causal window=6 part=attention");
    assert_int_equal(p->dims[ridge_program_dim_find(p, "S")].size, 6);
}

/* ---- other layers ---------------------------------------------------------------- */

static void experts_have_rows_for_what_is_routed(void **state)
{
    const ridge_program *p = fixture_lower(
        *state, fixture_named(*state, "mixtral-8x7b"), RIDGE_PHASE_PREFILL, 1, 1001);
    const ridge_program_dim *c = &p->dims[ridge_program_dim_find(p, "C")];
    assert_int_equal(c->size, 251); /* 1001 tokens x 2 / 8 experts, rounded up */
    assert_near(ridge_program_dim_used(c), 250.25, 0);
    assert_holds(*state, p,
                 "rows[E,C,D] bf16 = dispatch h_ffn, gates  k=2 "
                 "part=experts\n");
    assert_holds(*state, p,
                 "rows_up[E,C,FE] bf16 = einsum rows, expert_up  "
                 "part=experts\n");
    assert_holds(*state, p,
                 "routed[B,T,D] bf16 = combine rows_out, gates  k=2 "
                 "part=experts\n");
}

static void latents_are_absorbed_in_decode(void **state)
{
    const ridge_model *model = fixture_named(*state, "deepseek-v2-lite");
    const ridge_program *train = fixture_lower(*state, model, RIDGE_PHASE_TRAIN, 1, 64);
    const ridge_program *decode =
        fixture_lower(*state, model, RIDGE_PHASE_DECODE, 1, 64);
    assert_holds(*state, train,
                 "= attention layer_0.q, layer_0.k, layer_0.v, "
                 "layer_0.q_rope, layer_0.k_rope  causal rope");
    assert_holds(*state, decode,
                 "layer_0.q_latent[B,T,N,R] bf16 = einsum layer_0.q, layer_0.wk_b");
    assert_holds(*state, decode,
                 "layer_0.o[B,T,N,R] bf16 = attention layer_0.q_latent, "
                 "layer_0.c_cache, layer_0.c_cache, layer_0.q_rope, "
                 "layer_0.k_rope_cache  rope scale=");
}

static void a_tied_table_is_used_twice(void **state)
{
    const ridge_program *p = fixture_lower(
        *state, fixture_named(*state, "llama-3.2-1b"), RIDGE_PHASE_TRAIN, 1, 64);
    const ridge_operation *first = fixture_op(p, "embed.x");
    const ridge_operation *last = fixture_op(p, "head.logits");
    assert_int_equal(first->inputs[0], last->inputs[1]);
    /* Both shares are in its gradient. */
    assert_holds(*state, p, "of embedding = add d_embedding, d_embedding_2\n");
}

static void parallel_parts_read_one_norm(void **state)
{
    const ridge_program *p = fixture_lower(*state, fixture_named(*state, "palm-8b"),
                                           RIDGE_PHASE_PREFILL, 1, 64);
    assert_int_equal(fixture_op(p, "layer.q")->inputs[0],
                     fixture_op(p, "layer.up")->inputs[0]);
    const ridge_program *sandwich = fixture_lower(
        *state, fixture_named(*state, "gemma-2-2b"), RIDGE_PHASE_PREFILL, 1, 64);
    (void)fixture_op(sandwich, "layer_0.h_after");
    (void)fixture_op(sandwich, "layer_0.h_ffn_after");
}

static void shared_weights_stand_once(void **state)
{
    const ridge_program *p =
        lower_text(*state,
                   "{'model_type':'albert','hidden_size':8,'num_hidden_layers':3,"
                   "'num_attention_heads':2,'vocab_size':40,'intermediate_size':16,"
                   "'embedding_size':4,'max_position_embeddings':8,'type_vocab_size':2,"
                   "'architectures':['AlbertForMaskedLM']}",
                   RIDGE_PHASE_TRAIN, 4);
    const int wq = ridge_program_tensor_find(p, "set_0_0.wq");
    assert_true(wq >= 0);
    assert_int_equal(p->tensors[wq].block, 0);
    assert_int_equal(p->blocks[1].repeat, 3);
    assert_holds(*state, p, "embedding_map[WE,D]");
    /* Each repetition adds its share. */
    assert_true(fixture_op(p, "layer_0_backward.d_wq_2_sum")->is_added);
}

static void an_encoder_feeds_every_decoder_layer(void **state)
{
    const char *t5 = "{'model_type':'t5','d_model':8,'num_layers':2,'num_heads':2,"
                     "'d_kv':4,'d_ff':6,'vocab_size':7,'tie_word_embeddings':true}";
    const ridge_program *p = lower_text(*state, t5, RIDGE_PHASE_TRAIN, 4);
    const ridge_operation *k = fixture_op(p, "layer_2.cross_k");
    assert_string_equal(p->tensors[k->inputs[0]].name, "memory");
    const ridge_program *decode = lower_text(*state, t5, RIDGE_PHASE_DECODE, 4);
    assert_int_equal(ridge_program_tensor_find(decode, "memory"), -1);
    assert_true(ridge_program_tensor_find(decode, "layer_2.cross_k_cache") >= 0);
}

static void borrowed_keys_come_from_one_repetition(void **state)
{
    const char *gemma =
        "{'model_type':'gemma4_text','hidden_size':8,'num_hidden_layers':6,"
        "'num_attention_heads':2,'num_key_value_heads':1,'head_dim':4,"
        "'vocab_size':10,'intermediate_size':16,'sliding_window':4,"
        "'num_kv_shared_layers':2,'layer_types':['sliding_attention',"
        "'sliding_attention','full_attention','sliding_attention',"
        "'sliding_attention','full_attention']}";
    const ridge_model *model = fixture_model(*state, "%s", gemma);
    const ridge_program *p = fixture_lower(*state, model, RIDGE_PHASE_TRAIN, 1, 8);
    int lenders = 0;
    for (int i = 0; i < p->n_blocks; i++)
        lenders += p->blocks[i].layer >= 0 && !p->blocks[i].is_backward;
    assert_true(lenders >= 5);
    assert_near(ridge_program_weights(p), (double)ridge_model_params(model).total, 0);
}

/* ---- what is refused ------------------------------------------------------------- */

typedef struct refusal {
    ridge_lowering how;
    const char *message;
} refusal;

static void bad_sizes_are_refused(void **state)
{
    static const refusal LIST[] = {
        {{.sequences = 0, .query_tokens = 1, .context_tokens = 1},
         "0 is no number of sequences or tokens: 1 to 10^9"},
        {{.sequences = 1, .query_tokens = 2000000000, .context_tokens = 1}, "10^9"},
        {{.phase = RIDGE_PHASE_DECODE,
          .sequences = 1,
          .query_tokens = 9,
          .context_tokens = 4},
         "the context holds the query's own tokens: at least 9"},
        {{.sequences = 1000000000, .query_tokens = 1000000000, .context_tokens = 1},
         "has more than 2^63 elements"},
    };
    const ridge_model *model = fixture_named(*state, "llama-3-8b");
    for (size_t i = 0; i < RIDGE_COUNT_OF(LIST); i++) {
        const ridge_program *p = NULL;
        assert_int_equal(ridge_program_lower(*state, model, &LIST[i].how, &p),
                         RIDGE_E_ARG);
        fixture_assert_message(*state, LIST[i].message);
    }
}

/* Of the operation of that name in the program of a small model of a type. */
static const ridge_operation *small_op(ridge_ctx *cx, const char *facts,
                                       const char *name)
{
    const ridge_model *m = fixture_model(
        cx,
        "{%s,'hidden_size':8,'num_hidden_layers':2,'num_attention_heads':2,"
        "'vocab_size':10,'intermediate_size':16,'max_position_embeddings':8}",
        facts);
    const ridge_lowering how = ridge_lowering_usual(m, RIDGE_PHASE_TRAIN, 1, 8);
    const ridge_program *p = NULL;
    assert_ok(cx, ridge_program_lower(cx, m, &how, &p));
    for (int i = 0; i < p->n_ops; i++) {
        if (strcmp(p->ops[i].name, name) == 0)
            return &p->ops[i];
    }
    fail_msg("%s: no operation %s", facts, name);
    return NULL;
}

static void norms_are_of_the_models_kind(void **state)
{
    static const struct {
        const char *facts;
        ridge_norm_kind kind;
        int inputs;
    } CASES[] = {
        {"'model_type':'llama'", RIDGE_NORM_RMS, 2},
        {"'model_type':'qwen2'", RIDGE_NORM_RMS, 2},
        {"'model_type':'mistral'", RIDGE_NORM_RMS, 2},
        {"'model_type':'gpt2'", RIDGE_NORM_LAYER, 3},
        {"'model_type':'gpt_neox'", RIDGE_NORM_LAYER, 3},
        {"'model_type':'opt'", RIDGE_NORM_LAYER, 3},
        {"'model_type':'bloom'", RIDGE_NORM_LAYER, 3},
        {"'model_type':'phi'", RIDGE_NORM_LAYER, 3},
        {"'model_type':'falcon'", RIDGE_NORM_LAYER, 3},
        {"'model_type':'stablelm'", RIDGE_NORM_LAYER, 3},
        {"'model_type':'cohere'", RIDGE_NORM_LAYER, 2},
        {"'model_type':'olmo'", RIDGE_NORM_LAYER, 1},
    };
    for (size_t i = 0; i < RIDGE_COUNT_OF(CASES); i++) {
        const ridge_operation *op = small_op(*state, CASES[i].facts, "h");
        assert_int_equal(op->norm, CASES[i].kind);
        assert_int_equal(op->n_inputs, CASES[i].inputs);
    }
}

static void functions_are_as_the_config_states(void **state)
{
    static const struct {
        const char *facts;
        ridge_function function;
    } CASES[] = {
        {"'model_type':'gpt2'", RIDGE_FUNCTION_GELU_TANH},
        {"'model_type':'gpt2','activation_function':'gelu'", RIDGE_FUNCTION_GELU},
        {"'model_type':'gpt2','activation_function':'relu'", RIDGE_FUNCTION_RELU},
        {"'model_type':'gpt_neox','hidden_act':'gelu'", RIDGE_FUNCTION_GELU},
        {"'model_type':'gpt_neox','hidden_act':'gelu_fast'", RIDGE_FUNCTION_GELU_TANH},
        {"'model_type':'starcoder2','hidden_act':'gelu_pytorch_tanh'",
         RIDGE_FUNCTION_GELU_TANH},
        {"'model_type':'opt'", RIDGE_FUNCTION_RELU},
        {"'model_type':'llama','hidden_act':'silu'", RIDGE_FUNCTION_SWIGLU},
    };
    for (size_t i = 0; i < RIDGE_COUNT_OF(CASES); i++)
        assert_int_equal(small_op(*state, CASES[i].facts, "act")->function,
                         CASES[i].function);
}

static void encoders_do_not_decode(void **state)
{
    const ridge_lowering how = {.phase = RIDGE_PHASE_DECODE,
                                .sequences = 1,
                                .query_tokens = 1,
                                .context_tokens = 4};
    const ridge_program *p = NULL;
    const ridge_model *bert = fixture_model(
        *state, "{'model_type':'bert','hidden_size':8,'num_hidden_layers':2,"
                "'num_attention_heads':2,'vocab_size':10,'intermediate_size':16,"
                "'max_position_embeddings':8,'type_vocab_size':2}");
    assert_int_equal(ridge_program_lower(*state, bert, &how, &p), RIDGE_E_ARG);
    fixture_assert_message(*state, "is an encoder: it does not decode, use prefill");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_layer_reads_as_it_is_drawn),
        cmocka_unit_test(training_goes_back_and_updates),
        cmocka_unit_test(size_does_not_grow_with_depth),
        cmocka_unit_test(prefill_fills_a_cache_and_decode_reads_it),
        cmocka_unit_test(several_queries_meet_the_average_context),
        cmocka_unit_test(a_window_caps_its_cache),
        cmocka_unit_test(experts_have_rows_for_what_is_routed),
        cmocka_unit_test(latents_are_absorbed_in_decode),
        cmocka_unit_test(a_tied_table_is_used_twice),
        cmocka_unit_test(parallel_parts_read_one_norm),
        cmocka_unit_test(shared_weights_stand_once),
        cmocka_unit_test(an_encoder_feeds_every_decoder_layer),
        cmocka_unit_test(borrowed_keys_come_from_one_repetition),
        cmocka_unit_test(bad_sizes_are_refused),
        cmocka_unit_test(norms_are_of_the_models_kind),
        cmocka_unit_test(functions_are_as_the_config_states),
        cmocka_unit_test(encoders_do_not_decode),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
