/* Every option that is written occurs in a configuration that someone runs, or in the
 * framework's reference: see the lists in tests/support/launch-names. */
#include "launch_fixture.h"

#include <string.h>

static bool is_listed(ridge_str names, ridge_str name)
{
    while (names.p != NULL) {
        if (ridge_str_equal(ridge_str_trim(ridge_str_cut(&names, '\n')), name))
            return true;
    }
    return false;
}

static ridge_str read_list(ridge_ctx *cx, const char *file)
{
    ridge_str names;
    const char *path = ridge_sprintf(ridge_ctx_arena(cx), "%s/support/launch-names/%s",
                                     RIDGE_TEST_DIR, file);
    assert_non_null(path);
    assert_ok(cx, ridge_file_read(cx, path, 1 << 20, &names));
    return names;
}

/* The name that a line of a configuration sets; n 0: none. */
static ridge_str name_of(ridge_ctx *cx, ridge_launcher launcher, ridge_str line,
                         ridge_str *table)
{
    if (line.n == 0 || line.p[0] == '#')
        return (ridge_str){NULL, 0};
    if (launcher == RIDGE_LAUNCHER_MEGATRON) {
        ridge_str rest = {line.p + 2, line.n - 2};
        return ridge_str_cut(&rest, ' ');
    }
    if (launcher == RIDGE_LAUNCHER_MAXTEXT)
        return ridge_str_cut(&line, ':');
    if (line.p[0] == '[') {
        *table = (ridge_str){line.p + 1, line.n - 2};
        return (ridge_str){NULL, 0};
    }
    const ridge_str key = ridge_str_trim(ridge_str_cut(&line, '='));
    return ridge_str_of(ridge_sprintf(ridge_ctx_arena(cx), "%.*s.%.*s", (int)table->n,
                                      table->p, (int)key.n, key.p));
}

static void check(ridge_ctx *cx, ridge_launcher launcher, const char *file,
                  const launch_case *c)
{
    ridge_launch_text text;
    const ridge_str names = read_list(cx, file);
    ridge_train_request r =
        train_request(fixture_named(cx, c->model), train_slice(cx, c->slice),
                      c->batch_seqs, c->seq_tokens);
    r.total_tokens = 1e12;
    assert_ok(cx, ridge_launch_write(cx, launcher, &r, c->model, &c->layout, &text));
    ridge_str rest = {ridge_buf_text(&text.text), text.text.n};
    ridge_str table = {NULL, 0};
    while (rest.p != NULL) {
        const ridge_str name =
            name_of(cx, launcher, ridge_str_trim(ridge_str_cut(&rest, '\n')), &table);
        if (name.n > 0 && !is_listed(names, name)) {
            print_message("%.*s is in no list of %s\n", (int)name.n, name.p, file);
            fail();
        }
    }
}

/* clang-format off */
static const struct {
    ridge_launcher launcher;
    const char *list;
    launch_case c;
} cases[] = {
    {RIDGE_LAUNCHER_MEGATRON, "megatron.txt", {"deepseek-v3", "h100:64x8", {.dp = 2, .fsdp = 32, .tp = 1, .cp = 1, .pp = 8, .ep = 32, .zero_stage = 1, .vpp = 1, .microbatch_seqs = 1, .remat = RIDGE_REMAT_FULL, .precision = RIDGE_PRECISION_FP8}, 1024, 4096}},
    {RIDGE_LAUNCHER_MEGATRON, "megatron.txt", {"qwen2.5-72b", "h100:8x8", {.dp = 2, .fsdp = 4, .tp = 4, .cp = 2, .pp = 1, .ep = 1, .zero_stage = 3, .has_sp = true, .has_tp_overlap = true, .vpp = 1, .microbatch_seqs = 1, .remat = RIDGE_REMAT_SELECTIVE, .precision = RIDGE_PRECISION_BF16_REDUCE}, 64, 4096}},
    {RIDGE_LAUNCHER_MEGATRON, "megatron.txt", {"mistral-7b", "b200:2x8", {.dp = 4, .fsdp = 1, .tp = 1, .cp = 1, .pp = 4, .ep = 1, .vpp = 2, .microbatch_seqs = 1, .precision = RIDGE_PRECISION_FP4}, 64, 4096}},
    {RIDGE_LAUNCHER_MEGATRON, "megatron.txt", {"gpt3-13b", "v100:2x8", {.dp = 16, .fsdp = 1, .tp = 1, .cp = 1, .pp = 1, .ep = 1, .vpp = 1, .microbatch_seqs = 1, .precision = RIDGE_PRECISION_FP16}, 64, 2048}},
    {RIDGE_LAUNCHER_MAXTEXT, "maxtext.txt", {"glm-4.5", "v5p:8x8x8", {.dp = 1, .fsdp = 256, .tp = 2, .cp = 1, .pp = 1, .ep = 8, .zero_stage = 3, .has_sp = true, .vpp = 1, .microbatch_seqs = 1, .remat = RIDGE_REMAT_FULL}, 512, 4096}},
    {RIDGE_LAUNCHER_MAXTEXT, "maxtext.txt", {"deepseek-v3", "v5p:8x8x8", {.dp = 1, .fsdp = 512, .tp = 1, .cp = 1, .pp = 1, .ep = 8, .zero_stage = 3, .vpp = 1, .microbatch_seqs = 1, .remat = RIDGE_REMAT_FULL, .precision = RIDGE_PRECISION_FP8}, 512, 4096}},
    {RIDGE_LAUNCHER_MAXTEXT, "maxtext.txt", {"gpt3-13b", "2*v5e:4x4", {.dp = 1, .fsdp = 16, .tp = 1, .cp = 1, .pp = 2, .ep = 1, .zero_stage = 1, .vpp = 2, .microbatch_seqs = 1, .remat = RIDGE_REMAT_MATMULS}, 64, 2048}},
    {RIDGE_LAUNCHER_TORCHTITAN, "torchtitan.txt", {"deepseek-v3", "h100:64x8", {.dp = 1, .fsdp = 64, .tp = 1, .cp = 1, .pp = 8, .ep = 64, .zero_stage = 2, .vpp = 1, .microbatch_seqs = 1, .remat = RIDGE_REMAT_MATMULS, .precision = RIDGE_PRECISION_FP8}, 1024, 4096}},
};
/* clang-format on */

static void written_names_are_names_that_are_used(void **state)
{
    for (size_t i = 0; i < RIDGE_COUNT_OF(cases); i++)
        check(*state, cases[i].launcher, cases[i].list, &cases[i].c);
}

static void a_file_is_priced_on_its_own_software(void **state)
{
    static const struct {
        ridge_launcher launcher;
        const char *format, *chip, *vendor, *stack;
    } rows[] = {
        {RIDGE_LAUNCHER_MEGATRON, "Megatron-LM arguments", "a100", "NVIDIA",
         "megatron-core"},
        {RIDGE_LAUNCHER_MEGATRON, "Primus yaml", "mi300x", "AMD", "primus"},
        {RIDGE_LAUNCHER_MAXTEXT, "MaxText yml", "v5p", "Google", "xla-tpu"},
        {RIDGE_LAUNCHER_MAXTEXT, "MaxText yml", "h100", "NVIDIA", "xla-gpu"},
        {RIDGE_LAUNCHER_TORCHTITAN, "torchtitan toml", "h100", "NVIDIA", "compiled"},
    };
    ridge_ctx *cx = ridge_ctx_open();
    const ridge_catalog *catalog;
    (void)state;
    assert_ok(cx, ridge_catalog_open(cx, NULL, &catalog));
    for (size_t i = 0; i < RIDGE_COUNT_OF(rows); i++) {
        const ridge_chip chip = {.name = rows[i].chip, .vendor = rows[i].vendor};
        const ridge_launch launch = {.launcher = rows[i].launcher,
                                     .format = rows[i].format};
        assert_string_equal(ridge_launch_stack(&launch, catalog, &chip)->name,
                            rows[i].stack);
    }
    const ridge_launch torch = {.launcher = RIDGE_LAUNCHER_TORCHTITAN,
                                .format = "torchtitan toml"};
    const ridge_chip tpu = {.name = "v5p", .vendor = "Google"};
    assert_null(ridge_launch_stack(&torch, catalog, &tpu));
    ridge_ctx_close(cx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(written_names_are_names_that_are_used,
                                        fixture_open, fixture_close),
        cmocka_unit_test(a_file_is_priced_on_its_own_software),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
