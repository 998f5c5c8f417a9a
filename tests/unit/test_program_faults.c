/* Memory that runs out at any point of lowering, writing, reading and reversing: a
 * status, never a crash, and success once there is enough. */
#include "program_fixture.h"

enum { FIRST_BYTES = 1 << 14, MOST_BYTES = 1 << 24, STEP_BYTES = 1 << 12 };

static ridge_layer layer = {.mixer = {.kind = RIDGE_MIXER_MLA,
                                      .heads = 4,
                                      .kv_heads = 4,
                                      .head_dim = 6,
                                      .v_head_dim = 4,
                                      .q_lora_rank = 5,
                                      .kv_lora_rank = 3,
                                      .rope_head_dim = 2,
                                      .is_causal = true},
                            .ffn = {.kind = RIDGE_FFN_MOE,
                                    .is_gated = true,
                                    .experts = 4,
                                    .experts_per_token = 2,
                                    .expert_d_ff = 6,
                                    .shared_d_ff = 6},
                            .norm_params = 16,
                            .count = 3,
                            .weight_sets = 1};
static ridge_run run = {.count = 3};
static const ridge_model model = {.name = "small",
                                  .d_model = 8,
                                  .vocab = 16,
                                  .layer_count = 3,
                                  .has_unembedding = true,
                                  .is_tied = true,
                                  .embedding_params = 128,
                                  .final_norm_params = 8,
                                  .n_layers = 1,
                                  .layers = &layer,
                                  .n_runs = 1,
                                  .runs = &run};

/* Lower, write, read back. @return what came of it */
static ridge_status work(ridge_ctx *cx)
{
    const ridge_lowering how = {.phase = RIDGE_PHASE_TRAIN,
                                .sequences = 2,
                                .query_tokens = 4,
                                .context_tokens = 4};
    const ridge_program *p = NULL, *again = NULL;
    ridge_buf text;
    RIDGE_TRY(ridge_program_lower(cx, &model, &how, &p));
    ridge_buf_init(&text, ridge_ctx_arena(cx));
    ridge_program_write(p, &text);
    if (text.is_short)
        return RIDGE_E_NOMEM;
    RIDGE_TRY(ridge_program_parse(cx, (ridge_str){text.p, text.n}, "written", &again));
    assert_true(ridge_program_equal(p, again));
    return RIDGE_OK;
}

static void short_memory_is_a_status(void **state)
{
    (void)state;
    int failures = 0;
    for (size_t budget = FIRST_BYTES; budget < MOST_BYTES; budget += STEP_BYTES) {
        ridge_ctx *cx = ridge_ctx_open_budget(budget);
        assert_non_null(cx);
        const ridge_status st = work(cx);
        ridge_ctx_close(cx);
        if (st == RIDGE_OK) {
            assert_true(failures > 10);
            return;
        }
        assert_int_equal(st, RIDGE_E_NOMEM);
        failures++;
    }
    fail();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(short_memory_is_a_status)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
