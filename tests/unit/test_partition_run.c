/* Partitioned programs run on ranks against the whole one on one rank. */
#include "model_fixture.h"

#include "ridge/execute_shard.h"

static const char DENSE[] =
    "{'architectures':['LlamaForCausalLM'],'model_type':'llama','hidden_size':16,"
    "'intermediate_size':20,'num_hidden_layers':2,'num_attention_heads':4,"
    "'num_key_value_heads':2,'head_dim':4,'vocab_size':24,'tie_word_embeddings':false}";

static const ridge_program *lower(ridge_ctx *cx, ridge_phase phase, ridge_dtype dtype)
{
    const ridge_lowering how = {.phase = phase,
                                .sequences = 4,
                                .query_tokens = phase == RIDGE_PHASE_DECODE ? 1 : 8,
                                .context_tokens = 8,
                                .weight = dtype,
                                .activation = dtype,
                                .cache = dtype};
    const ridge_program *p = NULL;
    assert_ok(cx, ridge_program_lower(cx, fixture_model(cx, "%s", DENSE), &how, &p));
    return p;
}

static ridge_partition_result check(ridge_ctx *cx, const ridge_program *program,
                                    const ridge_parallelism *degrees)
{
    const ridge_rule *rules = NULL;
    ridge_partition_run run = {.program = program, .threads = 1, .seed = 3};
    ridge_partition_result result;
    ridge_mesh mesh;
    int n = 0;
    assert_ok(cx, ridge_parallelism_rules(cx, program, degrees, &mesh, &rules, &n));
    assert_ok(cx, ridge_partition_build(cx, program, &mesh, rules, n, NULL, NULL,
                                        &run.partition));
    run.ranks = (ridge_ranks){RIDGE_ENGINE_THREADS, (int)ridge_mesh_size(&mesh), 60.0};
    assert_ok(cx, ridge_partition_run_check(cx, &run, &result));
    return result;
}

static const ridge_parallelism MIXED = {.dp = 2,
                                        .fsdp = 1,
                                        .ep = 1,
                                        .cp = 1,
                                        .tp = 2,
                                        .is_sequence_parallel = true,
                                        .is_vocab_parallel = true};

static void training_is_as_on_one_rank(void **state)
{
    const ridge_program *p = lower(*state, RIDGE_PHASE_TRAIN, RIDGE_DTYPE_FP32);
    const ridge_partition_result r = check(*state, p, &MIXED);
    assert_true(r.is_right);
    assert_true(r.max_rel_error < 1e-4);
    assert_true(r.n > 60);
}

static void all_phases_are_as_on_one_rank(void **state)
{
    const ridge_parallelism tp = {.dp = 1, .fsdp = 1, .ep = 1, .cp = 1, .tp = 2};
    assert_true(check(*state, lower(*state, RIDGE_PHASE_PREFILL, RIDGE_DTYPE_FP32), &tp)
                    .is_right);
    assert_true(check(*state, lower(*state, RIDGE_PHASE_DECODE, RIDGE_DTYPE_FP32), &tp)
                    .is_right);
    assert_true(check(*state, lower(*state, RIDGE_PHASE_PREFILL, RIDGE_DTYPE_BF16), &tp)
                    .is_right);
}

static void a_mesh_of_other_ranks_is_refused(void **state)
{
    const ridge_program *p = lower(*state, RIDGE_PHASE_PREFILL, RIDGE_DTYPE_FP32);
    const ridge_mesh mesh = {.n = 1, .axes = {{"x", 2}}};
    ridge_partition_run run = {.program = p, .ranks = {RIDGE_ENGINE_THREADS, 3, 60.0}};
    ridge_partition_result result;
    assert_ok(*state, ridge_partition_build(*state, p, &mesh, NULL, 0, NULL, NULL,
                                            &run.partition));
    assert_int_equal(ridge_partition_run_check(*state, &run, &result), RIDGE_E_ARG);
    fixture_assert_message(*state, "a mesh of 2 runs on as many ranks, not 3");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(training_is_as_on_one_rank),
        cmocka_unit_test(all_phases_are_as_on_one_rank),
        cmocka_unit_test(a_mesh_of_other_ranks_is_refused),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
