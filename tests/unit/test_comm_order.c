/*
 * Collectives of several steps under way together: which step comes first differs from
 * rank to rank, and must not matter.
 */
#include "near.h"

#include "comm_runs.h"

static ridge_engine engine;

enum { TOGETHER = 3, ELEMENTS = 40000 }; /* too many for sums in one step */

typedef struct sums {
    float *in[TOGETHER], *out[TOGETHER];
    ridge_pending pending[TOGETHER];
} sums;

static ridge_status start(ridge_ctx *cx, ridge_comm *world, sums *s, int i)
{
    const float own = (float)(ridge_comm_rank(world) + 1);
    for (int k = 0; k < ELEMENTS; k++)
        s->in[i][k] = own * (float)(i + 1);
    return ridge_all_reduce_start(cx, world, RIDGE_ELEMENT_F32, RIDGE_REDUCE_SUM,
                                  ELEMENTS, s->in[i], s->out[i], &s->pending[i]);
}

static ridge_status check(ridge_ctx *cx, ridge_comm *world, sums *s, int i)
{
    const int n = ridge_comm_size(world);
    const int ranks = n * (n + 1) / 2; /* 1 + 2 + .. n */
    const float want = (float)(ranks * (i + 1));
    RIDGE_TRY(ridge_comm_wait(cx, &s->pending[i]));
    for (int k = 0; k < ELEMENTS; k++) {
        if (s->out[i][k] < want || s->out[i][k] > want) {
            return ridge_fail(cx, RIDGE_E_INTERNAL, "sum %d is %g at %d, not %g", i,
                              (double)s->out[i][k], k, (double)want);
        }
    }
    return RIDGE_OK;
}

/* Rank 0 ends one before it starts the next; the others start all, and end the last one
 * first. */
static ridge_status run_rank(ridge_ctx *cx, ridge_comm *world, void *payload)
{
    sums s;
    (void)payload;
    for (int i = 0; i < TOGETHER; i++) {
        s.in[i] = ridge_new(ridge_ctx_arena(cx), float, ELEMENTS);
        s.out[i] = ridge_new(ridge_ctx_arena(cx), float, ELEMENTS);
        if (!s.in[i] || !s.out[i])
            return ridge_fail_nomem(cx);
    }
    const bool is_first = ridge_comm_rank(world) == 0;
    for (int i = 0; i < TOGETHER; i++) {
        RIDGE_TRY(start(cx, world, &s, i));
        if (is_first)
            RIDGE_TRY(check(cx, world, &s, i));
    }
    for (int i = TOGETHER - 1; !is_first && i >= 0; i--)
        RIDGE_TRY(check(cx, world, &s, i));
    return RIDGE_OK;
}

static void sums_end_in_any_order(void **state)
{
    int counts[8];
    const int n = comm_rank_counts(engine, counts);
    (void)state;
    for (int i = 0; i < n; i++)
        assert_true(comm_run(engine, counts[i], run_rank, NULL));
}

int main(int argc, char **argv)
{
    engine = comm_engine_of(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_end_in_any_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
