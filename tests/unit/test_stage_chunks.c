/* Layers of the chunks of interleaved pipelines. */
#include "near.h"

#include "ridge/plan.h"

static ridge_layout layout_of(int64_t pp, int64_t vpp)
{
    return (ridge_layout){
        .dp = 1, .pp = pp, .vpp = vpp, .schedule = RIDGE_SCHEDULE_1F1B};
}

/* Every layer once; a chunk without one only where the embedding or the head is. */
static void check_chunks(const ridge_layout *l, int64_t layers)
{
    const int64_t chunks = l->pp * l->vpp;
    int64_t sum = 0;
    for (int64_t s = 0; s < chunks; s++) {
        const int64_t n = ridge_layout_stage_layers(l, layers, s);
        const bool is_end = s == 0 || s == chunks - 1;
        assert_true(n > 0 || (n == 0 && is_end) || layers < chunks);
        sum += n;
    }
    assert_int_equal(sum, layers);
}

static void chunks_hold_every_layer_once(void **state)
{
    (void)state;
    for (int64_t pp = 2; pp <= 6; pp++) {
        for (int64_t vpp = 2; vpp <= 4; vpp++) {
            const ridge_layout l = layout_of(pp, vpp);
            for (int64_t layers = pp * vpp - 2; layers <= 3 * pp * vpp; layers++)
                check_chunks(&l, layers);
        }
    }
}

/* 405B on 16 stages of 8 chunks: 126 layers and two ends, one a chunk. */
static void the_ends_may_be_bare(void **state)
{
    const ridge_layout l = layout_of(16, 8);
    (void)state;
    for (int64_t s = 0; s < 128; s++)
        assert_int_equal(ridge_layout_stage_layers(&l, 126, s), s > 0 && s < 127);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chunks_hold_every_layer_once),
        cmocka_unit_test(the_ends_may_be_bare),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
