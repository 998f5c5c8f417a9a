/*
 * Laws of timelines over random models, meshes and networks: a breakdown sums to its
 * period, nothing is faster than its busiest resource, a bound is no more than the
 * expectation, more bandwidth is never slower, and the same comes out twice.
 */
#include "layout_build.h"
#include "network_build.h"
#include "plain_chip.h"
#include "seeded.h"

#include <math.h>
#include <string.h>

enum { CASES = 150 };

typedef struct sample {
    ridge_ctx *cx;
    uint64_t seed;
    ridge_chip chip;
    ridge_slice slice;
    layout_build layout;
    ridge_overlap overlap;
} sample;

static bool flip(seeded *at)
{
    return seeded_pick(at, 0, 1) != 0;
}

/* Two axes of 4, the outer one slower, all with latencies. */
static void random_slice(sample *s, seeded *at)
{
    s->chip = flip(at) ? plain_gpu() : plain_tpu();
    s->slice = test_slice();
    s->slice.chip = &s->chip;
    const double rate = 1e9 * (double)seeded_pick(at, 5, 500);
    if (flip(at)) {
        test_torus(&s->slice, 4, true, rate);
        test_torus(&s->slice, 4, flip(at), rate);
        return;
    }
    ridge_axis *node = test_axis(&s->slice, RIDGE_AXIS_SWITCH, 4, rate);
    node->latency_s = 1e-6;
    node->startup_s = 1e-6 * (double)seeded_pick(at, 0, 20);
    ridge_axis *leaf = test_axis(&s->slice, RIDGE_AXIS_FABRIC, 4, rate / 8);
    leaf->latency_s = 5e-6;
    leaf->efficiency = 0.8;
}

/* 16 chips over random degrees. */
static ridge_parallelism random_degrees(seeded *at, bool is_moe)
{
    ridge_parallelism p = {.zero_stage = (int)seeded_pick(at, 0, 3),
                           .is_sequence_parallel = flip(at),
                           .is_vocab_parallel = flip(at),
                           .dp = 1,
                           .fsdp = 1,
                           .ep = 1,
                           .cp = 1,
                           .tp = 1};
    int64_t *degrees[] = {&p.dp, &p.fsdp, &p.tp, &p.cp, &p.ep};
    for (int i = 0; i < 4; i++)
        *degrees[seeded_pick(at, 0, is_moe ? 4 : 3)] *= 2;
    return p;
}

static const ridge_model *random_model(ridge_ctx *cx, seeded *at, bool is_moe)
{
    const long long width = 256 * seeded_pick(at, 1, 8);
    if (is_moe)
        return fixture_model(
            cx,
            "{'model_type':'mixtral','architectures':['MixtralForCausalLM'],"
            "'hidden_size':%lld,'intermediate_size':%lld,'num_hidden_layers':12,"
            "'num_attention_heads':16,'num_key_value_heads':16,'vocab_size':32000,"
            "'num_local_experts':16,'num_experts_per_tok':2}",
            width, 2 * width);
    return fixture_model(
        cx,
        "{'model_type':'llama','architectures':['LlamaForCausalLM'],"
        "'hidden_size':%lld,'intermediate_size':%lld,'num_hidden_layers':%lld,"
        "'num_attention_heads':16,'num_key_value_heads':16,'vocab_size':32000}",
        width, 4 * width, (long long)seeded_pick(at, 1, 40));
}

static void sample_open(sample *s, uint64_t seed)
{
    seeded at = seed;
    s->cx = ridge_ctx_open();
    s->seed = seed;
    random_slice(s, &at);
    const bool is_moe = seeded_pick(&at, 0, 2) == 0;
    const ridge_model *model = random_model(s->cx, &at, is_moe);
    const ridge_parallelism degrees = random_degrees(&at, is_moe);
    s->layout = build_layout(s->cx, model, 16, 128 * seeded_pick(&at, 1, 32), &degrees,
                             &s->slice);
    s->overlap = (ridge_overlap){.has_prefetch = flip(&at),
                                 .has_trailing = flip(&at),
                                 .has_collective_matmul = flip(&at),
                                 .has_ring_attention = flip(&at)};
}

static void each_sample(void (*check)(sample *s))
{
    for (uint64_t seed = 1; seed <= CASES; seed++) {
        sample s;
        sample_open(&s, seed);
        check(&s);
        ridge_ctx_close(s.cx);
    }
}

#define law(s, what)                                                                   \
    do {                                                                               \
        if (!(what))                                                                   \
            fail_msg("seed %llu: %s", (unsigned long long)(s)->seed, #what);           \
    } while (0)

/* Sums of other orders differ in the last digits. */
static bool is_near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}

static bool is_at_most(double a, double b)
{
    return a <= b * (1 + 1e-9);
}

static void check_breakdown(sample *s)
{
    const ridge_timeline t = build_timeline(s->cx, &s->layout, &s->overlap);
    double total_s = t.drain_s;
    for (int i = 0; i < t.n_blocks; i++) {
        const ridge_block_time *b = &t.blocks[i];
        law(s, is_near(b->period_s, b->matmul_s + b->attention_s + b->vector_s +
                                        b->slowdown_s + b->exposed_s));
        law(s, is_near(b->busy_s[0],
                       b->matmul_s + b->attention_s + b->vector_s + b->slowdown_s));
        law(s, is_at_most(b->hidden_s, b->busy_s[0]));
        law(s, s->chip.kind == RIDGE_CHIP_GPU || b->slowdown_s <= 0);
        total_s += b->total_s;
    }
    law(s, is_near(total_s, t.total_s));
    ridge_timeline plain;
    assert_ok(s->cx, ridge_timeline_price(s->cx, s->layout.partition, &s->layout.laid,
                                          RIDGE_DTYPE_BF16, &s->overlap, &plain));
    law(s, plain.total_s >= t.total_s && plain.total_s <= t.total_s);
    law(s, plain.n_events == 0);
}

static void breakdowns_sum_to_their_periods(void **state)
{
    (void)state;
    each_sample(check_breakdown);
}

/* Of what one repetition asks for, each resource does its share in a period. */
static void check_busiest(sample *s)
{
    const ridge_timeline t = build_timeline(s->cx, &s->layout, &s->overlap);
    for (int i = 0; i < t.n_blocks; i++) {
        const bool is_long = s->layout.partition->program->blocks[i].repeat > 12;
        for (int r = 0; is_long && r < 1 + RIDGE_AXIS_MAX; r++)
            law(s, is_at_most(t.blocks[i].busy_s[r], t.blocks[i].period_s));
    }
}

static void no_period_is_shorter_than_a_resource_works(void **state)
{
    (void)state;
    each_sample(check_busiest);
}

static void check_bounds(sample *s)
{
    const ridge_program *p = s->layout.partition->program;
    ridge_operation_time *times =
        ridge_new(ridge_ctx_arena(s->cx), ridge_operation_time, (size_t)p->n_ops);
    assert_non_null(times);
    assert_ok(s->cx, ridge_operation_times(s->cx, s->layout.partition, &s->layout.laid,
                                           RIDGE_DTYPE_BF16, times));
    for (int i = 0; i < p->n_ops; i++) {
        law(s, isfinite(times[i].expected_s));
        law(s, times[i].bound_s >= 0);
        law(s, is_at_most(times[i].bound_s, times[i].expected_s));
    }
    ridge_overlap overlap = s->overlap;
    const ridge_timeline expected = build_timeline(s->cx, &s->layout, &overlap);
    overlap.is_bound = true;
    const ridge_timeline bound = build_timeline(s->cx, &s->layout, &overlap);
    law(s, is_at_most(bound.total_s, expected.total_s));
}

static void bounds_are_no_more_than_expectations(void **state)
{
    (void)state;
    each_sample(check_bounds);
}

static void check_bandwidth(sample *s)
{
    const ridge_timeline before = build_timeline(s->cx, &s->layout, &s->overlap);
    for (int i = 0; i < s->slice.n_axes; i++)
        s->slice.axes[i].bytes_per_s *= 1.25;
    const ridge_timeline after = build_timeline(s->cx, &s->layout, &s->overlap);
    law(s, is_at_most(after.total_s, before.total_s));
}

static void more_bandwidth_is_never_slower(void **state)
{
    (void)state;
    each_sample(check_bandwidth);
}

static void check_overlap(sample *s)
{
    const ridge_overlap none = {.has_prefetch = false};
    const ridge_overlap async = {.has_prefetch = true, .has_trailing = true};
    const ridge_timeline serial = build_timeline(s->cx, &s->layout, &none);
    const ridge_timeline hidden = build_timeline(s->cx, &s->layout, &async);
    law(s, is_at_most(hidden.total_s, serial.total_s));
}

static void overlap_is_never_slower(void **state)
{
    (void)state;
    each_sample(check_overlap);
}

/* One after the other: no more than what the operations take, nothing hidden, and the
 * chip's events and those of the network never meet. */
static void check_serial(sample *s)
{
    const ridge_overlap serial = {.is_serial = true};
    const ridge_overlap none = {.has_prefetch = false};
    const ridge_timeline t = build_timeline(s->cx, &s->layout, &serial);
    const ridge_timeline waits = build_timeline(s->cx, &s->layout, &none);
    double end_s = 0;
    for (int i = 0; i < t.n_blocks; i++) {
        law(s, t.blocks[i].hidden_s <= 0);
        law(s, t.blocks[i].slowdown_s <= 0);
    }
    law(s, is_at_most(waits.total_s, t.total_s));
    for (int i = 0; i < t.n_events; i++) {
        const ridge_event *e = &t.events[i];
        const bool is_with_last = i > 0 && e->op == t.events[i - 1].op &&
                                  e->repetition == t.events[i - 1].repetition;
        law(s, is_with_last || e->start_s >= end_s * (1 - 1e-12));
        end_s = e->end_s;
    }
}

static void serial_timelines_overlap_nothing(void **state)
{
    (void)state;
    each_sample(check_serial);
}

/* The end of what was last seen on each resource. */
static void check_events(sample *s)
{
    const ridge_timeline t = build_timeline(s->cx, &s->layout, &s->overlap);
    const ridge_timeline again = build_timeline(s->cx, &s->layout, &s->overlap);
    double end_s[1 + RIDGE_AXIS_MAX] = {0};
    law(s, t.n_events > 0);
    law(s, t.n_events == again.n_events);
    for (int i = 0; i < t.n_events; i++) {
        const ridge_event *e = &t.events[i];
        law(s, memcmp(&e->start_s, &again.events[i].start_s, sizeof e->start_s) == 0);
        law(s, e->op == again.events[i].op);
        law(s, e->repetition >= 0 && e->repetition < 3);
        law(s, e->resource <= s->slice.n_axes);
        law(s, e->start_s < e->end_s);
        law(s, e->start_s >= end_s[e->resource] * (1 - 1e-12));
        end_s[e->resource] = e->end_s;
    }
}

static void events_of_a_resource_follow_each_other(void **state)
{
    (void)state;
    each_sample(check_events);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(breakdowns_sum_to_their_periods),
        cmocka_unit_test(no_period_is_shorter_than_a_resource_works),
        cmocka_unit_test(bounds_are_no_more_than_expectations),
        cmocka_unit_test(more_bandwidth_is_never_slower),
        cmocka_unit_test(overlap_is_never_slower),
        cmocka_unit_test(serial_timelines_overlap_nothing),
        cmocka_unit_test(events_of_a_resource_follow_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
