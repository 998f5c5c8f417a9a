/* Where the time of small traces goes: overlap, gaps, steps, nesting. */
#include "trace_text.h"

#include <string.h>

#define GEMM       "sm90_gemm"
#define ALL_REDUCE "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)"

static int setup(void **state)
{
    static trace_fixture f;
    trace_fixture_open(&f, "profile_steps");
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    trace_fixture_close(*state);
    return 0;
}

static ridge_buf events(trace_fixture *f)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(f->cx));
    return b;
}

static void communication_behind_compute_is_hidden(void **state)
{
    trace_fixture *f = *state;
    ridge_buf b = events(f);
    trace_kernel(&b, GEMM, 7, 1000, 500, "");
    trace_kernel(&b, ALL_REDUCE, 8, 1200, 1000, ""); /* 300 behind, 700 alone */
    trace_kernel(&b, GEMM, 7, 2300, 100, "");        /* 100 idle before it */
    trace_profile_events(f, ridge_buf_text(&b));
    assert_int_equal(trace_part(f, RIDGE_PROFILE_PART_MATMUL), 600);
    assert_int_equal(trace_part(f, RIDGE_PROFILE_PART_ALL_REDUCE), 700);
    assert_int_equal(trace_part(f, RIDGE_PROFILE_PART_IDLE), 100);
    assert_int_equal(f->profile.times.total_ns, 1400);
    assert_int_equal(f->profile.times.hidden_ns[RIDGE_PROFILE_PART_ALL_REDUCE], 300);
    assert_int_equal(f->profile.n_collectives, 1);
    assert_int_equal(f->profile.collectives[0].exposed_ns, 700);
}

static void without_communication_it_is_none(void **state)
{
    trace_fixture *f = *state;
    ridge_buf b = events(f);
    trace_kernel(&b, GEMM, 7, 1000, 500, "");
    trace_profile_events(f, ridge_buf_text(&b));
    assert_int_equal(ridge_profile_exposed_ns(&f->profile.times), 0);
    assert_int_equal(f->profile.n_collectives, 0);
    assert_int_equal(f->profile.devices[0].exposed_ns, 0);
}

#define LAUNCH(ts, link)                                                               \
    "{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", "      \
    "\"pid\": 1, \"tid\": 1, \"ts\": " ts ", \"dur\": 0.1, \"args\": "                 \
    "{\"correlation\": " link "}}"

/* The second kernel is launched after the first has ended, the third before. */
static void idle_before_a_late_launch_is_the_hosts(void **state)
{
    trace_fixture *f = *state;
    ridge_buf b = events(f);
    ridge_buf_puts(
        &b, LAUNCH("0.5", "1") ",\n" LAUNCH("1.9", "2") ",\n" LAUNCH("2.0", "3"));
    trace_kernel(&b, GEMM, 7, 1000, 500, ", \"args\": {\"correlation\": 1}");
    trace_kernel(&b, GEMM, 7, 2100, 500, ", \"args\": {\"correlation\": 2}");
    trace_kernel(&b, GEMM, 7, 2650, 100, ", \"args\": {\"correlation\": 3}");
    trace_profile_events(f, ridge_buf_text(&b));
    assert_int_equal(trace_part(f, RIDGE_PROFILE_PART_HOST), 600);
    assert_int_equal(trace_part(f, RIDGE_PROFILE_PART_IDLE), 50);
    assert_int_equal(f->profile.devices[0].launched, 3);
    assert_int_equal(f->profile.devices[0].starved, 1);
}

#define STEP(n, ts, dur)                                                               \
    "{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"ProfilerStep#" n        \
    "\", \"pid\": 1, \"tid\": 1, \"ts\": " ts ", \"dur\": " dur "}"

/* The work of step 1 ends within it: steps are as annotated. */
static void steps_that_the_device_keeps_are_the_hosts(void **state)
{
    trace_fixture *f = *state;
    ridge_buf b = events(f);
    ridge_buf_puts(&b, STEP("1", "0", "10") ",\n" STEP("2", "10", "10") ",\n" LAUNCH(
                           "1", "1") ",\n" LAUNCH("11", "2"));
    trace_kernel(&b, GEMM, 7, 2000, 4000, ", \"args\": {\"correlation\": 1}");
    trace_kernel(&b, GEMM, 7, 12000, 3000, ", \"args\": {\"correlation\": 2}");
    trace_profile_events(f, ridge_buf_text(&b));
    assert_int_equal(f->profile.devices[0].n_steps, 2);
    assert_int_equal(f->profile.devices[0].steps[0].times.total_ns, 10000);
    assert_int_equal(
        f->profile.devices[0].steps[1].times.part_ns[RIDGE_PROFILE_PART_MATMUL], 3000);
    assert_int_equal(trace_part(f, RIDGE_PROFILE_PART_HOST), 13000);
}

/* The host runs ahead: what it launched in step 1 still runs in step 2's time. */
static void steps_that_the_host_runs_ahead_of_are_the_devices(void **state)
{
    trace_fixture *f = *state;
    ridge_buf b = events(f);
    ridge_buf_puts(&b, STEP("1", "0", "10") ",\n" STEP("2", "10", "10") ",\n" LAUNCH(
                           "1", "1") ",\n" LAUNCH("11", "2"));
    trace_kernel(&b, GEMM, 7, 8000, 20000, ", \"args\": {\"correlation\": 1}");
    trace_kernel(&b, GEMM, 7, 28000, 19000, ", \"args\": {\"correlation\": 2}");
    trace_profile_events(f, ridge_buf_text(&b));
    assert_int_equal(f->profile.devices[0].n_steps, 2);
    assert_int_equal(f->profile.devices[0].steps[0].times.total_ns, 20000);
    assert_int_equal(f->profile.devices[0].steps[1].times.total_ns, 19000);
}

/* One of three launches is in the trace: it does not say what a step did. */
static void steps_are_the_annotated_ones_where_few_launches_are_told(void **state)
{
    trace_fixture *f = *state;
    ridge_buf b = events(f);
    ridge_buf_puts(
        &b, STEP("1", "0", "10") ",\n" STEP("2", "10", "10") ",\n" LAUNCH("11", "3"));
    trace_kernel(&b, GEMM, 7, 2000, 1000, ", \"args\": {\"correlation\": 1}");
    trace_kernel(&b, GEMM, 7, 12000, 3000, ", \"args\": {\"correlation\": 2}");
    trace_kernel(&b, GEMM, 7, 18000, 4000, ", \"args\": {\"correlation\": 3}");
    trace_profile_events(f, ridge_buf_text(&b));
    assert_int_equal(f->profile.devices[0].n_steps, 2);
    assert_int_equal(f->profile.devices[0].steps[0].times.total_ns, 10000);
    assert_int_equal(
        f->profile.devices[0].steps[0].times.part_ns[RIDGE_PROFILE_PART_MATMUL], 1000);
    assert_int_equal(
        f->profile.devices[0].steps[1].times.part_ns[RIDGE_PROFILE_PART_MATMUL], 5000);
}

/* Kernels of no time at all: no advice, and no share of nothing. */
static void a_run_of_no_time_is_given_no_advice(void **state)
{
    trace_fixture *f = *state;
    ridge_buf b = events(f);
    ridge_buf_puts(&b, LAUNCH("1", "1"));
    trace_kernel(&b, "elementwise_kernel", 7, 2000, 0,
                 ", \"args\": {\"correlation\": 1}");
    trace_profile_events(f, ridge_buf_text(&b));
    assert_int_equal(f->profile.n_advice, 0);
}

static void steps_repeat_without_marks(void **state)
{
    trace_fixture *f = *state;
    ridge_buf b = events(f);
    for (int step = 0; step < 4; step++) {
        for (int i = 0; i < 10; i++)
            trace_kernel(&b, i == 0 ? "embedding" : GEMM, 7, 1000 * (step * 10 + i + 1),
                         900, "");
    }
    trace_profile_events(f, ridge_buf_text(&b));
    assert_int_equal(f->profile.devices[0].steps_by, RIDGE_STEPS_REPEATED);
    assert_int_equal(f->profile.devices[0].n_steps, 4);
    assert_int_equal(f->profile.devices[0].steps[1].times.total_ns, 10000);
}

/* An embedding, layers, a head: what repeats are the layers. */
static void layers_are_not_steps(void **state)
{
    trace_fixture *f = *state;
    ridge_buf b = events(f);
    trace_kernel(&b, "embedding", 7, 500, 400, "");
    for (int i = 0; i < 40; i++)
        trace_kernel(&b,
                     i % 10 == 0 ? "flash_fwd"
                     : i % 2     ? GEMM
                                 : "rmsnorm",
                     7, 1000 * (i + 1), 900, "");
    trace_kernel(&b, "head_gemm", 7, 50000, 400, "");
    trace_kernel(&b, "argmax_reduce", 7, 51000, 400, "");
    trace_profile_events(f, ridge_buf_text(&b));
    assert_int_equal(f->profile.devices[0].steps_by, RIDGE_STEPS_WHOLE);
}

#define CALL(tid, category, name, ts, dur, args)                                       \
    ",\n{\"ph\": \"X\", \"cat\": \"" category "\", \"name\": \"" name                  \
    "\", \"pid\": 1, \"tid\": " tid ", \"ts\": " ts ", \"dur\": " dur                  \
    ", \"args\": {" args "}}"

#define LAUNCH_BY(tid, ts, link)                                                       \
    CALL(tid, "cuda_runtime", "cudaLaunchKernel", ts, "0.1", "\"correlation\": " link)

/* The backward of an operation runs on another thread, and before it in the file. */
static void backward_operations_have_the_forwards_module(void **state)
{
    trace_fixture *f = *state;
    ridge_buf b = events(f);
    trace_kernel(&b, GEMM, 7, 1000, 500, ", \"args\": {\"correlation\": 1}");
    trace_kernel(&b, GEMM, 7, 9000, 900, ", \"args\": {\"correlation\": 2}");
    ridge_buf_puts(&b, CALL("2", "cpu_op",
                            "autograd::engine::evaluate_function: MmBackward0", "6",
                            "2", "\"Sequence number\": 41, \"Fwd thread id\": 1")
                           LAUNCH_BY("2", "7", "2")
                               CALL("1", "python_function", "nn.Module: DecoderLayer_3",
                                    "0.1", "3", "\"Python id\": 1")
                                   CALL("1", "cpu_op", "aten::mm", "0.2", "1",
                                        "\"Sequence number\": 41, \"Fwd thread id\": 0")
                                       LAUNCH_BY("1", "0.5", "1"));
    trace_profile_events(f, ridge_buf_text(&b));
    assert_int_equal(f->profile.n_ops, 2);
    for (int i = 0; i < 2; i++) {
        assert_string_equal(f->profile.ops[i].module, "DecoderLayer");
        assert_int_equal(f->profile.ops[i].layer, 3);
    }
}

#define XLA_HEAD                                                                       \
    "{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 3, \"args\": {\"name\": "    \
    "\"/device:TPU:0\"}}, {\"ph\": \"M\", \"name\": \"thread_name\", \"pid\": 3, "     \
    "\"tid\": 1, \"args\": {\"name\": \"XLA Ops\"}}, {\"ph\": \"M\", \"name\": "       \
    "\"thread_name\", \"pid\": 3, \"tid\": 2, \"args\": {\"name\": \"Steps\"}}, "      \
    "{\"ph\": \"M\", \"name\": \"thread_name\", \"pid\": 3, \"tid\": 4, \"args\": "    \
    "{\"name\": \"Async XLA Ops\"}}"

#define XLA(tid, name, category, ts, dur)                                              \
    ", {\"ph\": \"X\", \"pid\": 3, \"tid\": " tid ", \"name\": \"" name                \
    "\", \"ts\": " ts ", \"dur\": " dur ", \"args\": {\"hlo_category\": \"" category   \
    "\", \"model_flops\": \"1000\"}}"

/* A loop holds its body; an asynchronous gather runs beside it until its done waits. */
static void operations_within_others_count_once(void **state)
{
    trace_fixture *f = *state;
    trace_profile_events(
        f, XLA_HEAD XLA("2", "1", "", "0", "20") XLA("1", "while.1", "while", "0", "16")
               XLA("1", "fusion.1", "convolution fusion", "1", "6")
                   XLA("1", "fusion.2", "loop fusion", "8", "4")
                       XLA("1", "all-gather-done.1", "all-gather", "16", "3")
                           XLA("4", "all-gather-start.1", "all-gather", "2", "17"));
    assert_int_equal(f->profile.format, RIDGE_TRACE_XPROF);
    assert_int_equal(f->profile.devices[0].steps_by, RIDGE_STEPS_TRACK);
    assert_int_equal(trace_part(f, RIDGE_PROFILE_PART_MATMUL), 6000);
    assert_int_equal(trace_part(f, RIDGE_PROFILE_PART_COMPUTE), 10000);
    assert_int_equal(trace_part(f, RIDGE_PROFILE_PART_ALL_GATHER), 3000);
    assert_int_equal(trace_part(f, RIDGE_PROFILE_PART_IDLE), 1000);
    assert_int_equal(f->profile.times.hidden_ns[RIDGE_PROFILE_PART_ALL_GATHER], 14000);
    for (int i = 0; i < f->profile.n_ops; i++) {
        if (strcmp(f->profile.ops[i].name, "while.1") == 0)
            assert_int_equal(f->profile.ops[i].time_ns, 6000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(communication_behind_compute_is_hidden),
        cmocka_unit_test(without_communication_it_is_none),
        cmocka_unit_test(idle_before_a_late_launch_is_the_hosts),
        cmocka_unit_test(steps_that_the_device_keeps_are_the_hosts),
        cmocka_unit_test(steps_that_the_host_runs_ahead_of_are_the_devices),
        cmocka_unit_test(steps_are_the_annotated_ones_where_few_launches_are_told),
        cmocka_unit_test(a_run_of_no_time_is_given_no_advice),
        cmocka_unit_test(steps_repeat_without_marks),
        cmocka_unit_test(layers_are_not_steps),
        cmocka_unit_test(backward_operations_have_the_forwards_module),
        cmocka_unit_test(operations_within_others_count_once),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
