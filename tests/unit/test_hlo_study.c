/* What modules cost: counts by hand, loops, asynchronous ends, library calls, fusion.
 */
#include "near.h"

#include "network_build.h"
#include "plain_chip.h"
#include "ridge/profile_hlo_study.h"

#include <string.h>

typedef struct world {
    ridge_ctx *cx;
    ridge_hlo_file file;
    ridge_chip chip;
    ridge_slice slice;
} world;

/* A ring of 4 chips, 100 GB/s a link. */
static int set_up(void **state)
{
    static world w;
    w = (world){.cx = ridge_ctx_open(), .slice = test_slice()};
    w.chip = plain_gpu();
    test_torus(&w.slice, 4, true, 100e9);
    w.slice.chip = &w.chip;
    *state = &w;
    return w.cx == NULL;
}

static int tear_down(void **state)
{
    ridge_ctx_close(((world *)*state)->cx);
    return 0;
}

static ridge_hlo_study study_on(world *w, const char *text, const ridge_slice *slice)
{
    const ridge_hlo_request request = {.slice = slice};
    ridge_hlo_study s = {.slice = NULL};
    if (ridge_hlo_parse(w->cx, ridge_str_of(text), "t", &w->file) != RIDGE_OK ||
        ridge_hlo_study_find(w->cx, &w->file.modules[0], &request, &s) != RIDGE_OK)
        fail_msg("%s", ridge_ctx_message(w->cx));
    return s;
}

static const ridge_hlo_op *op_of(const ridge_hlo_study *s, const char *code)
{
    for (int k = 0; k < s->n_ops; k++) {
        if (strcmp(s->ops[k].code, code) == 0)
            return &s->ops[k];
    }
    fail_msg("no kernel '%s'", code);
    return NULL;
}

/* The dot of scaling-book-2025 chapter 9. */
static void dots_count_twice_the_contraction(void **state)
{
    const ridge_hlo_study s = study_on(
        *state,
        "e {\n  a = f32[256,16] parameter(0)\n  b = f32[128,256] parameter(1)\n"
        "  d = f32[16,128] dot(a, b), lhs_contracting_dims={0}, "
        "rhs_contracting_dims={1}\n}",
        NULL);
    assert_near(s.matmul_flops, 1048576, 0);
    assert_near(s.bytes, 155648, 0);
    assert_string_equal(op_of(&s, "dot")->detail, "kp,uk->pu");
}

/* Fault: products in library calls had no FLOPs. */
static void library_products_are_counted(void **state)
{
    static const char *const configs[] = {
        "{\"gemm_backend_config\":{\"dot_dimension_numbers\":"
        "{\"lhs_contracting_dimensions\":[\"1\"],\"rhs_contracting_dimensions\":[\"0\"]"
        ","
        "\"lhs_batch_dimensions\":[],\"rhs_batch_dimensions\":[]},\"epilogue\":"
        "\"DEFAULT\"}}",
        "\"{\\\"alpha_real\\\":1,\\\"dot_dimension_numbers\\\":{"
        "\\\"lhs_contracting_dimensions\\\":[1],\\\"rhs_contracting_dimensions\\\":[0]}"
        "}"
        "\"",
    };
    for (size_t k = 0; k < RIDGE_COUNT_OF(configs); k++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "e {\n  a = f32[2,73] parameter(0)\n  b = f32[73,256] parameter(1)\n"
                 "  c = (f32[2,256], s8[4096]) custom-call(a, b), "
                 "custom_call_target=\"%s\", backend_config=%s\n"
                 "  ROOT r = f32[2,256] get-tuple-element(c), index=0\n}",
                 k ? "__cublas$lt$matmul" : "__cublas$gemm", configs[k]);
        const ridge_hlo_study s = study_on(*state, text, NULL);
        assert_near(s.matmul_flops, 2.0 * 2 * 73 * 256, 0);
        assert_int_equal(s.n_unknown, 0);
    }
}

static void calls_that_cannot_be_told_are_unknown(void **state)
{
    const ridge_hlo_study s = study_on(
        *state,
        "e {\n  a = f32[2,73] parameter(0)\n  b = f32[73,256] parameter(1)\n"
        "  c = f32[2,256] custom-call(a, b), custom_call_target=\"__cublas$gemm\"\n"
        "  ROOT d = f32[2,256] custom-call(c), custom_call_target=\"mine\"\n}",
        NULL);
    assert_int_equal(s.n_unknown, 2);
    assert_true(op_of(&s, "mine")->is_unknown);
    assert_near(op_of(&s, "mine")->bytes, 2.0 * 2 * 256 * 4, 0);
}

/* Convolutions count where they meet an input, as XLA does: 3 x 3 over 4 x 4 with one
 * of padding meets 10 of 12 pairs a dim. */
static void convolutions_leave_padding_out(void **state)
{
    const ridge_hlo_study s = study_on(
        *state,
        "e {\n  x = f32[1,4,4,2] parameter(0)\n  w = f32[3,3,2,8] parameter(1)\n"
        "  c = f32[1,4,4,8] convolution(x, w), window={size=3x3 pad=1_1x1_1}, "
        "dim_labels=b01f_01io->b01f\n}",
        NULL);
    assert_near(s.matmul_flops, 2.0 * 10 * 10 * 2 * 8, 0);
}

static void loops_multiply(void **state)
{
    static const char *const rows[] = {
        /* told */
        "HloModule m\nc { p = (s32[]) parameter(0)\n i = s32[] get-tuple-element(p), "
        "index=0\n n = s32[] constant(5)\n d = pred[] compare(i, n), direction=LT\n}\n"
        "b { p = (s32[]) parameter(0)\n i = s32[] get-tuple-element(p), index=0\n"
        " s = s32[] multiply(i, i)\n t = (s32[]) tuple(s)\n}\n"
        "ENTRY e { z = s32[] parameter(0)\n t = (s32[]) tuple(z)\n w = (s32[]) "
        "while(t), condition=c, body=b, "
        "backend_config={\"known_trip_count\":{\"n\":\"7\"}}\n}",
        /* derived: 1, 3, 5, .. 13 */
        "HloModule m\nc { p = (s32[]) parameter(0)\n i = s32[] get-tuple-element(p), "
        "index=0\n n = s32[] constant(13)\n d = pred[] compare(i, n), direction=LE\n}\n"
        "b { p = (s32[]) parameter(0)\n i = s32[] get-tuple-element(p), index=0\n"
        " o = s32[] constant(2)\n s = s32[] add(o, i)\n t = (s32[]) tuple(s)\n}\n"
        "ENTRY e { z = s32[] constant(1)\n t = (s32[]) tuple(z)\n w = (s32[]) "
        "while(t), condition=c, body=b\n}",
        /* derived through fusions, counting down */
        "HloModule m\nf { q = s32[] parameter(0)\n n = s32[] constant(0)\n d = pred[] "
        "compare(q, n), direction=GT\n}\nc { p = (s32[]) parameter(0)\n i = s32[] "
        "get-tuple-element(p), index=0\n d = pred[] fusion(i), kind=kLoop, calls=f\n}\n"
        "g { q = s32[] parameter(0)\n o = s32[] constant(1)\n s = s32[] subtract(q, "
        "o)\n}\nb { p = (s32[]) parameter(0)\n i = s32[] get-tuple-element(p), "
        "index=0\n"
        " s = s32[] fusion(i), kind=kLoop, calls=g\n t = (s32[]) tuple(s)\n}\n"
        "ENTRY e { z = s32[] constant(7)\n t = (s32[]) tuple(z)\n w = (s32[]) "
        "while(t), condition=c, body=b\n}",
    };
    for (size_t k = 0; k < RIDGE_COUNT_OF(rows); k++) {
        const ridge_hlo_study s = study_on(*state, rows[k], NULL);
        assert_int_equal(s.n_unknown_loops, 0);
        assert_near(s.ops[s.n_ops - 1].times, 7, 0);
    }
}

static void loops_that_do_not_tell_are_told(void **state)
{
    const ridge_hlo_study s = study_on(
        *state,
        "HloModule m\nc { p = (f32[]) parameter(0)\n i = f32[] get-tuple-element(p), "
        "index=0\n n = f32[] constant(5)\n d = pred[] compare(i, n), direction=LT\n}\n"
        "b { p = (f32[]) parameter(0)\n i = f32[] get-tuple-element(p), index=0\n"
        " s = f32[] multiply(i, i)\n t = (f32[]) tuple(s)\n}\n"
        "ENTRY e { z = f32[] parameter(0)\n t = (f32[]) tuple(z)\n w = (f32[]) "
        "while(t), condition=c, body=b\n}",
        NULL);
    assert_int_equal(s.n_unknown_loops, 1);
}

/* Fault: collectives behind async wrappers were taken for something else. */
static void wrappers_are_what_they_run(void **state)
{
    world *w = *state;
    const ridge_hlo_study s = study_on(
        w,
        "HloModule m, is_scheduled=true, num_partitions=4\n"
        "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n c = f32[] add(a, "
        "b)\n}\n"
        "r { p = f32[1000000] parameter(0)\n x = f32[1000000] all-reduce(p), "
        "replica_groups=[1,4]<=[4], to_apply=add\n}\n"
        "ENTRY e { p = f32[1000000] parameter(0)\n q = bf16[1000,1000] parameter(1)\n"
        " fusion-start = ((f32[1000000]), f32[1000000]) async-start(p), calls=r\n"
        " d = bf16[1000,1000] dot(q, q), lhs_contracting_dims={1}, "
        "rhs_contracting_dims={0}\n"
        " fusion-done = f32[1000000] async-done(fusion-start)\n"
        " ROOT t = (f32[1000000], bf16[1000,1000]) tuple(fusion-done, d)\n}",
        &w->slice);
    const ridge_hlo_op *op = op_of(&s, "all-reduce");
    assert_int_equal(s.shares[RIDGE_HLO_CATEGORY_COLLECTIVE].n, 1); /* start and done */
    assert_int_equal(op->category, RIDGE_HLO_CATEGORY_COLLECTIVE);
    assert_true(op->collective->is_async);
    assert_near(op->collective->bytes, 4e6, 0);
    const double beside = op_of(&s, "dot")->expected_s;
    assert_near(op->hidden_s, beside < op->expected_s ? beside : op->expected_s, 1e-9);
    assert_near(op->exposed_s, op->expected_s - op->hidden_s, 1e-9);
    /* compute beside it has the SMs that it leaves */
    assert_true(s.expected_s >= beside + op->exposed_s);
}

static void collectives_carry_the_groups_array(void **state)
{
    static const struct {
        const char *op;
        double bytes;
    } rows[] = {
        {"f32[4000] all-gather(p), dimensions={0}, replica_groups={{0,1,2,3}}", 16000},
        {"f32[1000] all-reduce(p), replica_groups={}", 4000},
        {"f32[250] reduce-scatter(p), dimensions={0}, replica_groups=[1,4]<=[4]", 4000},
        {"f32[1000] all-to-all(p), dimensions={0}, replica_groups={{0,1,2,3}}", 16000},
        {"f32[1000] collective-permute(p), "
         "source_target_pairs={{0,1},{1,2},{2,3},{3,0}}",
         4000},
    };
    for (size_t k = 0; k < RIDGE_COUNT_OF(rows); k++) {
        char text[512];
        world *w = *state;
        snprintf(text, sizeof text,
                 "HloModule m, num_partitions=4\nENTRY e { p = f32[1000] parameter(0)\n"
                 " r = %s\n}",
                 rows[k].op);
        const ridge_hlo_study s = study_on(w, text, &w->slice);
        assert_near(s.ops[0].collective->bytes, rows[k].bytes, 0);
        assert_true(s.ops[0].expected_s >= s.ops[0].bound_s && s.ops[0].bound_s > 0);
    }
}

/* 8 ways over an 8 x 16 mesh, as the groups tell. */
/* Fault: where no groups and no number of devices were told, a gather was one of a
 * single device and took no time. */
static void ends_of_a_gather_tell_the_devices(void **state)
{
    world *w = *state;
    static const char *const texts[] = {
        "e {\n  a = bf16[1024,512] parameter(0)\n"
        "  b = bf16[1024,2048] all-gather(a), dimensions={1}\n}",
        "e {\n  a = bf16[1024,512] parameter(0)\n"
        "  s = (bf16[1024,512], bf16[1024,2048]) all-gather-start(a), "
        "replica_groups={}, dimensions={1}\n"
        "  b = bf16[1024,2048] all-gather-done(s)\n}",
        "add {\n  p = bf16[] parameter(0)\n  q = bf16[] parameter(1)\n"
        "  ROOT s = bf16[] add(p, q)\n}\n"
        "ENTRY e {\n  a = bf16[1024,2048] parameter(0)\n"
        "  b = bf16[1024,512] reduce-scatter(a), dimensions={1}, to_apply=add\n}",
    };
    for (size_t t = 0; t < RIDGE_COUNT_OF(texts); t++) {
        const ridge_hlo_study s = study_on(w, texts[t], &w->slice);
        assert_int_equal(s.devices, 4);
        assert_int_equal(s.ops[0].collective->ranks, 4);
        assert_near(s.ops[0].collective->bytes, 1024 * 2048 * 2.0, 0);
        assert_near(s.ops[0].bound_s, 1024 * 2048 * 2.0 / 200e9, 1e-9);
    }
}

static void groups_tell_the_mesh(void **state)
{
    const ridge_hlo_study s = study_on(
        *state,
        "HloModule m\nENTRY e { p = f32[64] parameter(0)\n"
        " a = f32[64] all-reduce(p), replica_groups=[16,8]<=[8,16]T(1,0)\n"
        " b = f32[1024] all-gather(a), dimensions={0}, replica_groups=[8,16]<=[128]\n}",
        NULL);
    assert_int_equal(s.devices, 128);
    assert_int_equal(s.n_degrees, 2);
    assert_int_equal(s.degrees[0].ways, 16);
    assert_int_equal(s.degrees[0].stride, 1);
    assert_int_equal(s.degrees[1].ways, 8);
    assert_int_equal(s.degrees[1].stride, 16);
}

/* x + y and its tanh are one kernel; the product has one of its own. */
static void elementwise_neighbours_are_one_kernel(void **state)
{
    const ridge_hlo_study s =
        study_on(*state,
                 "e {\n  x = f32[64,64] parameter(0)\n  y = f32[64,64] parameter(1)\n"
                 "  a = f32[64,64] add(x, y)\n  b = f32[64,64] tanh(a)\n"
                 "  c = bf16[64,64] convert(b)\n  w = bf16[64,64] parameter(2)\n"
                 "  ROOT d = bf16[64,64] dot(c, w), lhs_contracting_dims={1}, "
                 "rhs_contracting_dims={0}\n}",
                 NULL);
    assert_int_equal(s.n_ops, 2);
    assert_int_equal(s.ops[0].n_operations, 3);
    assert_near(s.ops[0].bytes, 64 * 64 * (4 + 4 + 2), 0);
    assert_near(s.transcendentals, 64 * 64, 0);
    assert_near(s.vector_flops, 2 * 64 * 64, 0);
}

/* A loop's body is laid out in the default order: weights that come turned round are
 * laid anew before it; where nothing but elementwise work follows they are a name. */
static void states_of_loops_are_laid_anew(void **state)
{
    static const char text[] =
        "HloModule m\n%%b { s = (s32[], f32[64,32]{0,1}) parameter(0)\n i = s32[] "
        "get-tuple-element(s), index=0\n w = f32[64,32]{0,1} get-tuple-element(s), "
        "index=1\n one = s32[] constant(1)\n j = s32[] add(i, one)\n ROOT r = (s32[], "
        "f32[64,32]{0,1}) tuple(j, w) }\n%%c { s = (s32[], f32[64,32]{0,1}) "
        "parameter(0)\n i = s32[] get-tuple-element(s), index=0\n n = s32[] "
        "constant(3)\n ROOT p = pred[] compare(i, n), direction=LT }\nENTRY e {\n x = "
        "f32[32,64] parameter(0)\n t = f32[64,32]{0,1} transpose(x), "
        "dimensions={1,0}\n z = s32[] constant(0)\n %s\n}\n";
    world *w = *state;
    const char *loop = ridge_sprintf(
        ridge_ctx_arena(w->cx), text,
        "s = (s32[], f32[64,32]{0,1}) tuple(z, t)\n ROOT l = (s32[], f32[64,32]{0,1}) "
        "while(s), condition=%c, body=%b");
    const ridge_hlo_study looped = study_on(w, loop, NULL);
    assert_near(op_of(&looped, "transpose")->bytes, 2.0 * 4 * 64 * 32, 1e-12);
    const char *plain = ridge_sprintf(ridge_ctx_arena(w->cx), text,
                                      "ROOT y = f32[64,32]{0,1} negate(t)");
    const ridge_hlo_study named = study_on(w, plain, NULL);
    assert_int_equal(named.n_ops, 1);
}

static void slices_and_updates_move_their_part(void **state)
{
    const ridge_hlo_study s = study_on(
        *state,
        "HloModule m, is_scheduled=true\n"
        "f { p = f32[32,1000] parameter(0)\n i = s32[] parameter(1)\n z = s32[] "
        "constant(0)\n s = f32[1,1000] dynamic-slice(p, i, z), "
        "dynamic_slice_sizes={1,1000}\n n = f32[1,1000] negate(s)\n"
        " ROOT u = f32[32,1000] dynamic-update-slice(p, n, i, z)\n}\n"
        "ENTRY e { p = f32[32,1000] parameter(0)\n i = s32[] parameter(1)\n"
        " ROOT r = f32[32,1000] fusion(p, i), kind=kLoop, calls=f\n}",
        NULL);
    assert_near(s.bytes, 4000 + 4000 + 4 + 4, 1e-9);
}

static void arguments_that_are_written_over_count_once(void **state)
{
    static const char body[] = "ENTRY e { p = f32[1000] parameter(0)\n q = f32[1000] "
                               "parameter(1)\n ROOT r = f32[1000] add(p, q)\n}";
    char text[512];
    snprintf(text, sizeof text, "HloModule m\n%s", body);
    const ridge_hlo_study plain = study_on(*state, text, NULL);
    snprintf(text, sizeof text,
             "HloModule m, input_output_alias={ {}: (0, {}, may-alias) }\n%s", body);
    const ridge_hlo_study donated = study_on(*state, text, NULL);
    assert_near(plain.memory.peak_bytes, 12000, 0);
    assert_near(donated.memory.peak_bytes, 8000, 0);
}

static void padding_is_traffic(void **state)
{
    const ridge_hlo_study s =
        study_on(*state,
                 "e {\n  x = f32[100,100]{1,0:T(8,128)} parameter(0)\n"
                 "  ROOT y = f32[100,100]{1,0:T(8,128)} negate(x)\n}",
                 NULL);
    assert_near(s.bytes, 80000, 0);
    assert_near(s.padded_bytes, 2.0 * 104 * 128 * 4, 0);
}

static void small_slices_are_refused(void **state)
{
    world *w = *state;
    const ridge_hlo_request request = {.slice = &w->slice};
    ridge_hlo_study s;
    assert_int_equal(
        ridge_hlo_parse(w->cx,
                        ridge_str_of("HloModule m, num_partitions=64\nENTRY e { p = "
                                     "f32[] parameter(0)\n}"),
                        "t", &w->file),
        RIDGE_OK);
    assert_int_equal(ridge_hlo_study_find(w->cx, &w->file.modules[0], &request, &s),
                     RIDGE_E_ARG);
    assert_non_null(strstr(ridge_ctx_message(w->cx), "the module is for 64 devices"));
}

/* Calls in calls double what they hold: refused before memory is gone. */
static void what_grows_without_limit_is_refused(void **state)
{
    world *w = *state;
    char text[4096];
    size_t n = (size_t)snprintf(
        text, sizeof text, "c0 { p = f32[] parameter(0)\n q = f32[] negate(p)\n}\n");
    for (int k = 1; k < 40; k++)
        n += (size_t)snprintf(text + n, sizeof text - n,
                              "c%d { p = f32[] parameter(0)\n a = f32[] call(p), "
                              "to_apply=c%d\n b = f32[] call(a), to_apply=c%d\n}\n",
                              k, k - 1, k - 1);
    const ridge_hlo_request request = {.slice = NULL};
    ridge_hlo_study s;
    assert_int_equal(ridge_hlo_parse(w->cx, ridge_str_of(text), "t", &w->file),
                     RIDGE_OK);
    const ridge_status st =
        ridge_hlo_study_find(w->cx, &w->file.modules[0], &request, &s);
    assert_true(st == RIDGE_E_ARG || st == RIDGE_E_NOMEM);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(dots_count_twice_the_contraction),
        TEST(library_products_are_counted),
        TEST(calls_that_cannot_be_told_are_unknown),
        TEST(convolutions_leave_padding_out),
        TEST(loops_multiply),
        TEST(loops_that_do_not_tell_are_told),
        TEST(wrappers_are_what_they_run),
        TEST(collectives_carry_the_groups_array),
        TEST(ends_of_a_gather_tell_the_devices),
        TEST(groups_tell_the_mesh),
        TEST(elementwise_neighbours_are_one_kernel),
        TEST(states_of_loops_are_laid_anew),
        TEST(slices_and_updates_move_their_part),
        TEST(arguments_that_are_written_over_count_once),
        TEST(padding_is_traffic),
        TEST(small_slices_are_refused),
        TEST(what_grows_without_limit_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
