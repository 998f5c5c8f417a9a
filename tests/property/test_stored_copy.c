/* Strided copies against an element at a time: any order of dims, sizes beyond a tile,
 * each pair of formats; and every fp16 and bf16 number against its definition. */
#include "near.h"

#include "seeded.h"
#include "stored_tensor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TRIALS = 120, MOST = 1 << 18 };

/* ---- numbers --------------------------------------------------------------------- */

static ridge__stored_copy one(ridge__stored to, void *out, ridge__stored from,
                              const void *in)
{
    return (ridge__stored_copy){
        .to_format = to, .from_format = from, .to = out, .from = in};
}

static float as_float(ridge__stored from, uint16_t bits)
{
    float out = -1.0F;
    const ridge__stored_copy c = one(RIDGE__STORED_F32, &out, from, &bits);
    ridge__stored_copy_run(&c);
    return out;
}

static void every_half_is_read_as_defined(void **state)
{
    (void)state;
    for (uint32_t bits = 0; bits <= UINT16_MAX; bits++) {
        const int exponent = (int)(bits >> 10 & 31), fraction = (int)(bits & 1023);
        const double sign = bits >> 15 != 0 ? -1.0 : 1.0;
        const double got = (double)as_float(RIDGE__STORED_F16, (uint16_t)bits);
        if (exponent == 31) {
            assert_true(fraction == 0 ? isinf(got) && got * sign > 0.0 : isnan(got));
            continue;
        }
        const double want = exponent == 0 ? ldexp(fraction, -24)
                                          : ldexp(1024 + fraction, exponent - 25);
        assert_true(got == sign * want);
    }
}

/* bf16 is the upper half of fp32: reading and rounding back changes nothing, and what
 * lies between two goes to the nearer, a tie to the even one. */
static void rounding_to_bf16_is_to_the_nearest(void **state)
{
    (void)state;
    for (uint32_t bits = 0; bits < 0x7F80; bits++) {
        static const struct {
            uint32_t behind; /* lower half */
            int up;          /* 1, 0; -1: to the even one */
        } rows[] = {{0, 0}, {0x7FFF, 0}, {0x8000, -1}, {0x8001, 1}, {0xFFFF, 1}};
        for (size_t i = 0; i < RIDGE_COUNT_OF(rows); i++) {
            const uint32_t all = bits << 16 | rows[i].behind;
            const int up = rows[i].up < 0 ? (int)(bits & 1) : rows[i].up;
            uint16_t got = 0;
            const ridge__stored_copy c =
                one(RIDGE__STORED_BF16, &got, RIDGE__STORED_F32, &all);
            ridge__stored_copy_run(&c);
            assert_int_equal(got, bits + (uint32_t)up);
        }
        assert_true(as_float(RIDGE__STORED_BF16, (uint16_t)bits) >= 0.0F);
    }
    assert_true(isnan((double)as_float(RIDGE__STORED_BF16, 0x7FC0)));
}

/* ---- dims ------------------------------------------------------------------------ */

static const struct {
    ridge__stored to, from;
} PAIRS[] = {
    {RIDGE__STORED_F32, RIDGE__STORED_F32},  {RIDGE__STORED_F32, RIDGE__STORED_BF16},
    {RIDGE__STORED_F32, RIDGE__STORED_F16},  {RIDGE__STORED_BF16, RIDGE__STORED_F32},
    {RIDGE__STORED_BF16, RIDGE__STORED_F16}, {RIDGE__STORED_BF16, RIDGE__STORED_BF16},
    {RIDGE__STORED_F64, RIDGE__STORED_F64},  {RIDGE__STORED_U8, RIDGE__STORED_U8}};

/* Dense steps for the dims in a random order. */
static void draw_steps(seeded *at, int n, const int64_t *counts, int64_t *steps)
{
    int order[RIDGE_TENSOR_DIM_MAX];
    int64_t step = 1;
    for (int i = 0; i < n; i++) {
        const int place = (int)seeded_pick(at, 0, i);
        order[i] = order[place];
        order[place] = i;
    }
    for (int i = 0; i < n; i++) {
        steps[order[i]] = step;
        step *= counts[order[i]];
    }
}

static int64_t draw_counts(seeded *at, int n, int64_t *counts)
{
    int64_t room = MOST;
    for (int i = 0; i < n; i++) {
        const int64_t most = room < 700 ? room : 700;
        counts[i] = seeded_pick(at, 0, 3) == 0 ? seeded_pick(at, 1, 3 < most ? 3 : most)
                                               : seeded_pick(at, 1, most);
        room /= counts[i];
    }
    return MOST;
}

static ridge__stored_copy draw_copy(seeded *at)
{
    const size_t pair = (size_t)seeded_pick(at, 0, RIDGE_COUNT_OF(PAIRS) - 1);
    int64_t counts[4], to[4], from[4];
    ridge__stored_copy c = {.n = (int)seeded_pick(at, 1, 4),
                            .to_format = PAIRS[pair].to,
                            .from_format = PAIRS[pair].from};
    draw_counts(at, c.n, counts);
    draw_steps(at, c.n, counts, to);
    draw_steps(at, c.n, counts, from);
    for (int i = 0; i < c.n; i++)
        c.dims[i] = (ridge__copy_dim){counts[i], to[i], from[i]};
    return c;
}

/* The same, an element at a time. */
static void copy_plainly(const ridge__stored_copy *c, int at, int64_t to, int64_t from)
{
    if (at < c->n) {
        for (int64_t i = 0; i < c->dims[at].count; i++)
            copy_plainly(c, at + 1, to + i * c->dims[at].to,
                         from + i * c->dims[at].from);
        return;
    }
    ridge__stored_copy single = *c;
    single.n = 0;
    single.to += to * (int64_t)ridge__stored_bytes(c->to_format);
    single.from += from * (int64_t)ridge__stored_bytes(c->from_format);
    ridge__stored_copy_run(&single);
}

static void any_order_of_dims_copies_every_element(void **state)
{
    (void)state;
    unsigned char *source = malloc(8 * MOST), *got = malloc(8 * MOST);
    unsigned char *want = malloc(8 * MOST);
    seeded at = 3;
    assert_true(source != NULL && got != NULL && want != NULL);
    for (size_t i = 0; i < 8 * MOST; i++)
        source[i] = (unsigned char)seeded_next(&at);
    for (uint64_t seed = 1; seed <= TRIALS; seed++) {
        at = seed;
        ridge__stored_copy c = draw_copy(&at);
        c.from = source;
        memset(got, 0x5A, 8 * MOST);
        memset(want, 0x5A, 8 * MOST);
        c.to = got;
        ridge__stored_copy_run(&c);
        c.to = want;
        copy_plainly(&c, 0, 0, 0);
        if (memcmp(got, want, 8 * MOST) != 0)
            fail_msg("seed %d", (int)seed);
    }
    free(source);
    free(got);
    free(want);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_half_is_read_as_defined),
        cmocka_unit_test(rounding_to_bf16_is_to_the_nearest),
        cmocka_unit_test(any_order_of_dims_copies_every_element),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
