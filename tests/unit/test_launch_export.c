/* Launchers that are written alone: DeepSpeed, Megatron-Bridge, JAX. */
#include "launch_fixture.h"

#include <string.h>

static const char *written(ridge_ctx *cx, ridge_launcher launcher, const char *model,
                           const char *slice, const ridge_layout *layout,
                           ridge_launch_text *out)
{
    assert_ok(cx, launch_fixture_write(cx, launcher, model, slice, layout, out));
    return ridge_buf_text(&out->text);
}

static void assert_has(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        print_message("no '%s' in:\n%s\n", part, text);
    assert_non_null(strstr(text, part));
}

static void deepspeed_is_json_with_notes_beside(void **state)
{
    ridge_ctx *cx = *state;
    ridge_launch_text text;
    ridge_node root;
    int64_t v;
    ridge_layout l = train_layout(1, 2, 2, 1, 2);
    l.zero_stage = 1;
    l.remat = RIDGE_REMAT_FULL;
    const char *json =
        written(cx, RIDGE_LAUNCHER_DEEPSPEED, "llama-3-8b", "h100:1x8", &l, &text);
    assert_ok(cx, ridge_json_parse(cx, ridge_str_of(json), "ds.json", &root));
    assert_true(ridge_json_i64(ridge_json_get(&root, "train_batch_size"), &v) &&
                v == 64);
    assert_true(
        ridge_json_i64(ridge_json_get(&root, "gradient_accumulation_steps"), &v) &&
        v == 32);
    const ridge_node zero = ridge_json_get(&root, "zero_optimization");
    assert_true(ridge_json_i64(ridge_json_get(&zero, "stage"), &v) && v == 1);
    assert_true(launch_fixture_has(&text.notes, "num_stages=2"));
    assert_true(launch_fixture_has(&text.notes, "recomputation (full)"));
    l.zero_stage = 3;
    assert_int_equal(launch_fixture_write(cx, RIDGE_LAUNCHER_DEEPSPEED, "llama-3-8b",
                                          "h100:1x8", &l, &text),
                     RIDGE_E_ARG);
    fixture_assert_message(cx, "plan with zero=1 or pp=1");
}

static void bridge_sets_the_fields_of_its_classes(void **state)
{
    ridge_ctx *cx = *state;
    ridge_launch_text text;
    ridge_layout l = train_layout(1, 8, 2, 1, 2);
    l.zero_stage = 1;
    l.has_sp = true;
    l.ep = 4;
    l.precision = RIDGE_PRECISION_FP8;
    const char *python = written(cx, RIDGE_LAUNCHER_MEGATRON_BRIDGE, "mixtral-8x7b",
                                 "h100:4x8", &l, &text);
    assert_has(python, "    cfg.model.tensor_model_parallel_size = 2\n");
    assert_has(python, "    cfg.model.expert_model_parallel_size = 4\n");
    assert_has(python, "    cfg.model.sequence_parallel = True\n");
    assert_has(python, "    cfg.model.add_bias_linear = False\n");
    assert_has(python, "    cfg.model.normalization = \"RMSNorm\"\n");
    assert_has(python, "    cfg.model.moe_layer_freq = [1]*32\n");
    assert_has(python, "    cfg.ddp.use_distributed_optimizer = True\n");
    assert_has(python, "bf16_with_fp8_current_scaling_mixed");
}

static void jax_has_the_mesh_and_the_specs(void **state)
{
    ridge_ctx *cx = *state;
    ridge_launch_text text;
    ridge_layout l = train_layout(2, 4, 4, 1, 2);
    l.zero_stage = 3;
    l.has_sp = true;
    const char *python =
        written(cx, RIDGE_LAUNCHER_JAX, "llama-3-8b", "v5p:4x4x4", &l, &text);
    assert_has(python, "AXES = (\"pp\", \"dp\", \"fsdp\", \"tp\")\n");
    assert_has(python, "SHAPE = (2, 2, 4, 4)\n");
    assert_has(python, "    \"wq\": P(\"pp\", \"fsdp\", \"tp\", None),");
    assert_has(python, "    \"w_down\": P(\"pp\", \"tp\", \"fsdp\"),");
    assert_has(python, "    \"tokens\": P((\"dp\", \"fsdp\"), None),");
    assert_has(python, "    \"x\": P((\"dp\", \"fsdp\"), \"tp\", None),");
    l.zero_stage = 1;
    l.placement = 1; /* stages inside replicas */
    python = written(cx, RIDGE_LAUNCHER_JAX, "llama-3-8b", "v5p:4x4x4", &l, &text);
    assert_has(python, "AXES = (\"dp\", \"pp\", \"fsdp\", \"tp\")\n");
    assert_has(python, "    \"wq\": P(\"pp\", None, \"tp\", None),");
    const char *optimizer = strstr(python, "OPTIMIZER = {");
    assert_non_null(optimizer);
    assert_has(optimizer, "    \"wq\": P(\"pp\", \"fsdp\", \"tp\", None),");
}

static void launchers_are_known_by_name(void **state)
{
    ridge_ctx *cx = *state;
    ridge_launcher launcher;
    for (int i = 0; i < RIDGE_LAUNCHER_COUNT; i++) {
        const char *name = ridge_launcher_text((ridge_launcher)i);
        assert_ok(cx, ridge_launcher_parse(cx, name, &launcher));
        assert_int_equal(launcher, i);
        assert_true(ridge_launcher_what(launcher)[0] != '\0');
    }
    assert_int_equal(ridge_launcher_parse(cx, "megatorn", &launcher), RIDGE_E_ARG);
    fixture_assert_message(cx, "did you mean megatron");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(deepspeed_is_json_with_notes_beside,
                                        fixture_open, fixture_close),
        cmocka_unit_test_setup_teardown(bridge_sets_the_fields_of_its_classes,
                                        fixture_open, fixture_close),
        cmocka_unit_test_setup_teardown(jax_has_the_mesh_and_the_specs, fixture_open,
                                        fixture_close),
        cmocka_unit_test_setup_teardown(launchers_are_known_by_name, fixture_open,
                                        fixture_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
