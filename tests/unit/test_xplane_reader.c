/* XSpaces packed by hand: planes, lines, events, and what is cut off. */
#include "trace_text.h"

#include <string.h>

static int setup(void **state)
{
    static trace_fixture f;
    trace_fixture_open(&f, "xplane_reader");
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    trace_fixture_close(*state);
    return 0;
}

/* ---- the wire format
 * ----------------------------------------------------------------- */

static void varint(ridge_buf *b, uint64_t v)
{
    for (; v > 127; v >>= 7)
        ridge_buf_pad(b, (char)(0x80 | (v & 0x7f)), 1);
    ridge_buf_pad(b, (char)v, 1);
}

static void number(ridge_buf *b, int field, uint64_t v)
{
    varint(b, (uint64_t)field << 3);
    varint(b, v);
}

static void bytes(ridge_buf *b, int field, ridge_str s)
{
    varint(b, ((uint64_t)field << 3) | 2);
    varint(b, s.n);
    ridge_buf_add(b, s);
}

static ridge_str done(const ridge_buf *b)
{
    return (ridge_str){ridge_buf_text(b), b->n};
}

static ridge_buf message(trace_fixture *f)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(f->cx));
    return b;
}

/* An entry of a map of metadata: {1: id, 2: {1: id, 2: name, more}}. */
static void metadata(trace_fixture *f, ridge_buf *plane, int field, uint64_t id,
                     const char *name, ridge_str more)
{
    ridge_buf value = message(f);
    ridge_buf entry = message(f);
    number(&value, 1, id);
    bytes(&value, 2, ridge_str_of(name));
    ridge_buf_add(&value, more);
    number(&entry, 1, id);
    bytes(&entry, 2, done(&value));
    bytes(plane, field, done(&entry));
}

static void event(trace_fixture *f, ridge_buf *line, uint64_t id, uint64_t offset_ps,
                  uint64_t length_ps)
{
    ridge_buf e = message(f);
    number(&e, 1, id);
    number(&e, 2, offset_ps);
    number(&e, 3, length_ps);
    bytes(line, 4, done(&e));
}

/* A line named "XLA Ops" with two fusions; a product of 1000 FLOPs, a gather. */
static ridge_str space(trace_fixture *f)
{
    ridge_buf plane = message(f);
    ridge_buf line = message(f);
    ridge_buf stats = message(f);
    ridge_buf stat = message(f);
    ridge_buf all = message(f);
    bytes(&plane, 2, ridge_str_of("/device:TPU:0"));
    number(&line, 1, 7);
    bytes(&line, 2, ridge_str_of("XLA Ops"));
    number(&line, 3, 5000);
    event(f, &line, 1, 1000499, 2000000);
    event(f, &line, 2, 4000000, 1000000);
    event(f, &line, 9, 6000000, 1000000);
    bytes(&plane, 3, done(&line));
    /* display_name, then a statistic hlo_category, then flops */
    bytes(&stats, 4, ridge_str_of("fusion.1"));
    number(&stat, 1, 1);
    bytes(&stat, 5, ridge_str_of("convolution fusion"));
    bytes(&stats, 5, done(&stat));
    stat = message(f);
    number(&stat, 1, 2);
    number(&stat, 3, 1000);
    bytes(&stats, 5, done(&stat));
    metadata(f, &plane, 4, 1, "%fusion.1 = bf16[8,8] fusion(%p)", done(&stats));
    metadata(f, &plane, 4, 2, "all-gather.2", ridge_str_of(""));
    metadata(f, &plane, 5, 1, "hlo_category", ridge_str_of(""));
    metadata(f, &plane, 5, 2, "flops", ridge_str_of(""));
    bytes(&all, 1, done(&plane));
    return done(&all);
}

static void read_space(trace_fixture *f, ridge_str s)
{
    const ridge_profile_request request = {
        .path = own_file(f->cx, f->folder, "t.xplane.pb", s.p, s.n)};
    assert_done(f->cx, ridge_profile_read(f->cx, &request, &f->profile));
    assert_parts_sum(&f->profile);
}

static void names_and_statistics_come_behind_events(void **state)
{
    trace_fixture *f = *state;
    read_space(f, space(f));
    assert_int_equal(f->profile.format, RIDGE_TRACE_XPLANE);
    assert_int_equal(f->profile.n_devices, 1);
    assert_string_equal(f->profile.devices[0].name, "/device:TPU:0");
    assert_int_equal(f->profile.devices[0].operations, 2);
    assert_int_equal(trace_part(f, RIDGE_PROFILE_PART_MATMUL), 2000);
    assert_int_equal(trace_part(f, RIDGE_PROFILE_PART_ALL_GATHER), 1000);
    assert_string_equal(f->profile.ops[0].name, "fusion.1");
    assert_string_equal(f->profile.ops[0].category, "convolution fusion");
    assert_near(f->profile.ops[0].flops, 1000, 0);
    /* The third event is described by nothing. */
    assert_int_equal(f->profile.n_losses, 1);
    assert_int_equal(f->profile.losses[0].count, 1);
}

/* Cut anywhere it is read as far as it goes, or refused; never worse. */
static void what_is_cut_off_is_read_as_far_as_it_goes(void **state)
{
    trace_fixture *f = *state;
    const ridge_str whole = space(f);
    for (size_t n = 1; n < whole.n; n += 3) {
        ridge_profile p;
        const ridge_profile_request request = {
            .path = own_file(f->cx, f->folder, "cut.xplane.pb", whole.p, n)};
        const ridge_status st = ridge_profile_read(f->cx, &request, &p);
        assert_true(st == RIDGE_OK || st == RIDGE_E_PARSE);
        ridge_ctx_clear(f->cx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_statistics_come_behind_events),
        cmocka_unit_test(what_is_cut_off_is_read_as_far_as_it_goes),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
