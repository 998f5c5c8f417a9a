/* A timeline as a trace: written below the build folder, where
 * test_timeline_trace.py reads it with another JSON reader. */
#include "near.h"

#include "network_build.h"
#include "plain_chip.h"
#include "program_build.h"

#include <string.h>

/* A layer with weights gathered and activations exchanged on the same axis, so that
 * collectives are interrupted, and names that JSON must escape. */
static void build(program_build *b, ridge_ctx *cx)
{
    build_open(b, cx, "y=4,x=4", "B=1000,D=1000,F=1000");
    build_tensors(b, RIDGE_ROLE_ACTIVATION,
                  "h[B,D@x] all[B,D] part[B,F]{x} h2[B,F@x] out[B,D]");
    build_tensors(b, RIDGE_ROLE_WEIGHT, "w[D@x,F] w2[D,F] v[F@y+x,D] v2[F,D]");
    build_block(b, "layer", 3, "h->h2");
    build_exchange(b, RIDGE_COLLECTIVE_ALL_GATHER, "gather: h->all", "x");
    build_exchange(b, RIDGE_COLLECTIVE_ALL_GATHER, "weights: w->w2", "x");
    build_op(b, RIDGE_OPCODE_EINSUM, "pro\"duct\\: all,w2->part");
    build_exchange(b, RIDGE_COLLECTIVE_REDUCE_SCATTER, "scatter: part->h2", "x");
    build_block(b, "head", 1, NULL);
    build_exchange(b, RIDGE_COLLECTIVE_ALL_GATHER, "both: v->v2", "y,x");
    build_op(b, RIDGE_OPCODE_EINSUM, "head: h2,v2->out");
}

/* Seconds on each track, of all repetitions: they all are in the trace. */
static void write_expected(ridge_ctx *cx, const ridge_timeline *t,
                           const ridge_program *program)
{
    double busy_s[1 + RIDGE_AXIS_MAX] = {0};
    for (int b = 0; b < t->n_blocks; b++) {
        for (int r = 0; r < 1 + RIDGE_AXIS_MAX; r++)
            busy_s[r] += (double)program->blocks[b].repeat * t->blocks[b].busy_s[r];
    }
    ridge_json *root = ridge_json_object(cx);
    ridge_json *list = ridge_json_set_array(cx, root, "busy_s");
    for (int r = 0; r < 3; r++)
        ridge_json_push_double(list, busy_s[r]);
    ridge_json_set_double(root, "total_s", t->total_s);
    ridge_buf text;
    ridge_buf_init(&text, ridge_ctx_arena(cx));
    assert_int_equal(ridge_json_write(cx, root, &text), RIDGE_OK);
    assert_int_equal(ridge_file_write(cx,
                                      RIDGE_BUILD_DIR "/tests/timeline-expected.json",
                                      ridge_str_of(ridge_buf_text(&text))),
                     RIDGE_OK);
}

static void a_trace_has_an_event_for_each_piece(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    ridge_chip chip = plain_chip(RIDGE_DTYPE_BF16, 1e12, 1e18);
    chip.kind = RIDGE_CHIP_GPU;
    ridge_slice slice = test_slice();
    slice.chip = &chip;
    test_axis(&slice, RIDGE_AXIS_SWITCH, 4, 1e9);
    test_axis(&slice, RIDGE_AXIS_SWITCH, 4, 5e8);
    program_build *b = ridge_new(ridge_ctx_arena(cx), program_build, 1);
    assert_non_null(b);
    build(b, cx);
    ridge_laid_mesh laid;
    assert_true(ridge_laid_mesh_fill(&slice, NULL, &b->partition.mesh, &laid));
    const ridge_overlap overlap = {
        .has_prefetch = true, .has_trailing = true, .has_collective_matmul = true};
    ridge_timeline t;
    assert_int_equal(
        ridge_timeline_build(cx, &b->partition, &laid, RIDGE_DTYPE_BF16, &overlap, &t),
        RIDGE_OK);
    ridge_buf text;
    ridge_buf_init(&text, ridge_ctx_arena(cx));
    assert_int_equal(ridge_timeline_write_trace(cx, &b->partition, &laid, &t, &text),
                     RIDGE_OK);
    ridge_node root;
    const ridge_str whole = ridge_str_of(ridge_buf_text(&text));
    assert_int_equal(ridge_json_parse(cx, whole, "trace", &root), RIDGE_OK);
    const ridge_node events = ridge_json_get(&root, "traceEvents");
    /* Names of the process and of three tracks, then the events. */
    assert_int_equal(ridge_json_size(events), 4 + t.n_events);
    assert_int_equal(
        ridge_file_write(cx, RIDGE_BUILD_DIR "/tests/timeline-trace.json", whole),
        RIDGE_OK);
    write_expected(cx, &t, &b->program);
    ridge_ctx_close(cx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_trace_has_an_event_for_each_piece),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
