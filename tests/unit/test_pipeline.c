/* Pipeline stages: which layers run where, and the program of a stage. */
#include "model_fixture.h"

#include "ridge/shard.h"

#include <string.h>

static const ridge_program *lower(ridge_ctx *cx, const char *config)
{
    const ridge_lowering how = {.phase = RIDGE_PHASE_TRAIN,
                                .sequences = 4,
                                .query_tokens = 8,
                                .context_tokens = 8,
                                .weight = RIDGE_DTYPE_BF16,
                                .activation = RIDGE_DTYPE_BF16,
                                .cache = RIDGE_DTYPE_BF16};
    const ridge_program *p = NULL;
    assert_ok(cx, ridge_program_lower(cx, fixture_model(cx, "%s", config), &how, &p));
    return p;
}

static const char SEVEN[] =
    "{'architectures':['LlamaForCausalLM'],'model_type':'llama','hidden_size':8,"
    "'intermediate_size':10,'num_hidden_layers':7,'num_attention_heads':4,"
    "'num_key_value_heads':2,'head_dim':4,'vocab_size':11,'tie_word_embeddings':false}";

/* One dense layer, then four with experts. */
static const char TWO_KINDS[] =
    "{'architectures':['DeepseekV3ForCausalLM'],'model_type':'deepseek_v3',"
    "'hidden_size':8,'intermediate_size':10,'moe_intermediate_size':6,"
    "'num_hidden_layers':5,'first_k_dense_replace':1,'num_attention_heads':4,"
    "'num_key_value_heads':4,'n_routed_experts':4,'num_experts_per_tok':2,"
    "'n_shared_experts':1,'q_lora_rank':6,'kv_lora_rank':5,'qk_nope_head_dim':4,"
    "'qk_rope_head_dim':2,'v_head_dim':4,'vocab_size':9,'tie_word_embeddings':false}";

static int64_t layers_of(const ridge_program *p)
{
    int64_t n = 0;
    for (int b = 0; b < p->n_blocks; b++)
        n += p->blocks[b].layer >= 0 && p->blocks[b].forward_of < 0
                 ? p->blocks[b].repeat
                 : 0;
    return n;
}

static int sends_of(const ridge_program *p)
{
    int n = 0;
    for (int i = 0; i < p->n_ops; i++)
        n += p->ops[i].code == RIDGE_OPCODE_SEND;
    return n;
}

static const ridge_program *stage_of(ridge_ctx *cx, const ridge_program *p, int stages,
                                     int stage)
{
    const ridge_stage_row *rows = NULL;
    const ridge_program *out = NULL;
    int n = 0;
    assert_ok(cx, ridge_pipeline_rows(cx, p, stages, &rows, &n));
    assert_ok(cx, ridge_pipeline_stage(cx, p, rows, n, stage, &out));
    return out;
}

static void layers_are_spread_evenly(void **state)
{
    static const int64_t WANT[] = {2, 2, 3};
    const ridge_program *p = lower(*state, SEVEN);
    for (int s = 0; s < 3; s++)
        assert_int_equal(layers_of(stage_of(*state, p, 3, s)), WANT[s]);
}

/* Inner stages send the stream on and its gradient back, the ends one of them. */
static void borders_have_sends(void **state)
{
    static const int WANT[] = {1, 2, 1};
    const ridge_program *p = lower(*state, SEVEN);
    for (int s = 0; s < 3; s++)
        assert_int_equal(sends_of(stage_of(*state, p, 3, s)), WANT[s]);
    assert_int_equal(sends_of(stage_of(*state, p, 1, 0)), 0);
}

/* The ends of a pipeline may have the embedding and the head alone. */
static void chosen_layers_do_the_work_of_the_whole(void **state)
{
    static const int64_t LAYERS[][4] = {{1, 4, 1, 1}, {0, 3, 4, 0}, {7, 0, 0, 0}};
    static const int STAGES[] = {4, 4, 2};
    const ridge_program *p = lower(*state, SEVEN);
    for (size_t i = 0; i < RIDGE_COUNT_OF(STAGES); i++) {
        double flops = 0.0;
        const ridge_stage_row *rows;
        int n;
        assert_ok(*state,
                  ridge_pipeline_rows_of(*state, p, LAYERS[i], STAGES[i], &rows, &n));
        for (int s = 0; s < STAGES[i]; s++) {
            const ridge_program *part;
            assert_ok(*state, ridge_pipeline_stage(*state, p, rows, n, s, &part));
            flops += ridge_program_count(part).matmul_flops;
            assert_int_equal(layers_of(part), LAYERS[i][s]);
            assert_int_equal(sends_of(part), s == 0 || s == STAGES[i] - 1 ? 1 : 2);
        }
        assert_near(flops, ridge_program_count(p).matmul_flops, 1e-12);
    }
}

static void wrong_layers_are_refused(void **state)
{
    static const int64_t LAYERS[][3] = {{3, 0, 4}, {3, 3, 2}, {-1, 4, 4}, {8, 0, -1}};
    const ridge_program *p = lower(*state, SEVEN);
    const ridge_stage_row *rows;
    int n;
    for (size_t i = 0; i < RIDGE_COUNT_OF(LAYERS); i++)
        assert_int_equal(ridge_pipeline_rows_of(*state, p, LAYERS[i], 3, &rows, &n),
                         RIDGE_E_ARG);
}

static void stages_do_the_work_of_the_whole(void **state)
{
    static const char *const CONFIGS[] = {SEVEN, TWO_KINDS};
    for (size_t m = 0; m < RIDGE_COUNT_OF(CONFIGS); m++) {
        const ridge_program *p = lower(*state, CONFIGS[m]);
        for (int stages = 1; stages <= layers_of(p); stages++) {
            double flops = 0.0, weights = 0.0;
            for (int s = 0; s < stages; s++) {
                const ridge_program *part = stage_of(*state, p, stages, s);
                flops += ridge_program_count(part).matmul_flops;
                weights += ridge_program_weights(part);
            }
            assert_near(flops, ridge_program_count(p).matmul_flops, 1e-12);
            assert_near(weights, ridge_program_weights(p), 0.0);
        }
    }
}

/* A stage partitioned, as text; without conflicts. */
static const char *partitioned(ridge_ctx *cx, const ridge_program *stage,
                               const ridge_parallelism *degrees)
{
    const ridge_rule *rules = NULL;
    const ridge_partition *p = NULL;
    ridge_mesh mesh;
    ridge_buf text;
    int n = 0;
    assert_ok(cx, ridge_parallelism_rules(cx, stage, degrees, &mesh, &rules, &n));
    assert_ok(cx, ridge_partition_build(cx, stage, &mesh, rules, n, NULL, NULL, &p));
    assert_int_equal(p->n_conflicts, 0);
    ridge_buf_init(&text, ridge_ctx_arena(cx));
    ridge_partition_write(p, &text);
    return ridge_buf_text(&text);
}

/* Under sequence parallelism what is received lies as in the middle of the model. */
static void a_stage_is_partitioned_as_the_whole(void **state)
{
    const ridge_parallelism degrees = {
        .dp = 2, .fsdp = 1, .ep = 1, .cp = 1, .tp = 2, .is_sequence_parallel = true};
    const ridge_program *stage = stage_of(*state, lower(*state, SEVEN), 3, 1);
    const char *text = partitioned(*state, stage, &degrees);
    assert_non_null(strstr(text, "input x[B@dp,T@tp,D]\n"));
    assert_non_null(
        strstr(text, "sent.x_out[B@dp,T@tp,D] = send x_out[B@dp,T@tp,D]\n"));
    assert_non_null(strstr(text, "AllGather@tp d_x_out[B@dp,T@tp,D]\n"));
}

/* The stream's gradient comes in cut and goes through the layers cut. */
static void a_received_gradient_stays_cut(void **state)
{
    const ridge_parallelism degrees = {.dp = 2, .fsdp = 1, .ep = 1, .cp = 1, .tp = 1};
    for (int stage = 0; stage < 2; stage++) {
        const ridge_program *part = stage_of(*state, lower(*state, SEVEN), 2, stage);
        const char *text = partitioned(*state, part, &degrees);
        assert_null(strstr(text, "AllGather"));
        assert_null(strstr(text, "slice_"));
    }
}

static void bad_tables_are_refused(void **state)
{
    const ridge_program *p = lower(*state, SEVEN);
    const ridge_stage_row *rows = NULL;
    const ridge_program *out = NULL;
    int n = 0;
    assert_int_equal(ridge_pipeline_rows(*state, p, 8, &rows, &n), RIDGE_E_ARG);
    fixture_assert_message(*state, "8 pipeline stages: 1 to 7 layers");
    assert_int_equal(ridge_pipeline_rows(*state, p, 0, &rows, &n), RIDGE_E_ARG);
    assert_ok(*state, ridge_pipeline_rows(*state, p, 2, &rows, &n));
    assert_int_equal(ridge_pipeline_stage(*state, p, rows, n, 2, &out), RIDGE_E_ARG);
    fixture_assert_message(*state, "no block runs on pipeline stage 2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_are_spread_evenly),
        cmocka_unit_test(borders_have_sends),
        cmocka_unit_test(chosen_layers_do_the_work_of_the_whole),
        cmocka_unit_test(wrong_layers_are_refused),
        cmocka_unit_test(stages_do_the_work_of_the_whole),
        cmocka_unit_test(a_stage_is_partitioned_as_the_whole),
        cmocka_unit_test(a_received_gradient_stays_cut),
        cmocka_unit_test(bad_tables_are_refused),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
