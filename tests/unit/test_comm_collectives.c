/* Every collective, element and kind of cut, on groups of every shape: bit for bit what
 * a serial computation gives, on the engine that the argument names. */
#include "comm_cases.h"
#include "comm_runs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static ridge_engine engine;

static void run_all(ridge_rank_fn *fn)
{
    int counts[8];
    int n = comm_rank_counts(engine, counts);
    for (int i = 0; i < n; i++)
        assert_true(comm_run(engine, counts[i], fn, NULL));
}

static const ridge_element elements[] = {RIDGE_ELEMENT_F32, RIDGE_ELEMENT_BF16,
                                         RIDGE_ELEMENT_I32};

/* ---- kinds and sizes ------------------------------------------------------------- */

/** Whole, with padding in the last part, with parts that are padding alone, empty. */
static const ridge_cut cuts[] = {{1, 48, 1}, {3, 24, 5}, {2, 7, 3},   {4, 1, 2},
                                 {1, 5, 1},  {1, 0, 4},  {0, 4, 4},   {2, 24, 0},
                                 {1, 13, 7}, {5, 2, 1},  {1, 900, 3}, {30, 3, 40}};

static ridge_status each_cut(ridge_ctx *cx, ridge_comm *world, void *payload)
{
    (void)payload;
    for (size_t e = 0; e < RIDGE_COUNT_OF(elements); e++) {
        for (size_t c = 0; c < RIDGE_COUNT_OF(cuts); c++) {
            comm_case what = {.kind = COMM_ALL_GATHER,
                              .element = elements[e],
                              .cut = cuts[c],
                              .seed = e * 100 + c};
            RIDGE_TRY(comm_case_run(cx, world, &what));
            what.kind = COMM_REDUCE_SCATTER;
            RIDGE_TRY(comm_case_run(cx, world, &what));
        }
    }
    return RIDGE_OK;
}

static ridge_status each_size(ridge_ctx *cx, ridge_comm *world, void *payload)
{
    (void)payload;
    ridge_mark mark = ridge_arena_mark(ridge_ctx_arena(cx));
    static const int64_t sizes[] = {0, 1, 3, 15, 16, 17, 129, 2049, 4099};
    for (int kind = COMM_ALL_REDUCE; kind < COMM_KIND_COUNT; kind++) {
        for (size_t e = 0; e < RIDGE_COUNT_OF(elements); e++) {
            for (size_t s = 0; s < RIDGE_COUNT_OF(sizes); s++) {
                comm_case what = {.kind = (comm_kind)kind,
                                  .element = elements[e],
                                  .reduce = RIDGE_REDUCE_SUM,
                                  .n = sizes[s],
                                  .peer = (int)s,
                                  .seed = e * 100 + s};
                RIDGE_TRY(comm_case_run(cx, world, &what));
                what.is_in_place = true;
                what.reduce = RIDGE_REDUCE_MAX;
                RIDGE_TRY(comm_case_run(cx, world, &what));
                ridge_arena_rewind(ridge_ctx_arena(cx), mark);
            }
        }
    }
    return RIDGE_OK;
}

/** So large that it is written past the caches. */
static ridge_status large(ridge_ctx *cx, ridge_comm *world, void *payload)
{
    (void)payload;
    ridge_mark mark = ridge_arena_mark(ridge_ctx_arena(cx));
    for (int kind = 0; kind < COMM_KIND_COUNT; kind++) {
        comm_case what = {.kind = (comm_kind)kind,
                          .cut = {1, 1200001, 1},
                          .n = 1200001 / (kind == COMM_ALL_TO_ALL ? 2 : 1),
                          .peer = 1,
                          .seed = 5};
        if (kind == COMM_RAGGED)
            what.n = 400001;
        RIDGE_TRY(comm_case_run(cx, world, &what));
        ridge_arena_rewind(ridge_ctx_arena(cx), mark);
    }
    return RIDGE_OK;
}

static void test_cuts(void **state)
{
    (void)state;
    run_all(each_cut);
}

static void test_sizes(void **state)
{
    (void)state;
    run_all(each_size);
}

static void test_large(void **state)
{
    (void)state;
    int ranks = engine == RIDGE_ENGINE_MPI ? ridge_launched_ranks() : 2;
    assert_true(comm_run(engine, ranks, large, NULL));
}

/** The shift of a permutation may be negative or go around several times. */
static ridge_status shifts(ridge_ctx *cx, ridge_comm *world, void *payload)
{
    (void)payload;
    for (int shift = -9; shift <= 9; shift++) {
        comm_case what = {
            .kind = COMM_PERMUTE, .n = 11, .peer = shift, .seed = (uint64_t)shift};
        RIDGE_TRY(comm_case_run(cx, world, &what));
    }
    return ridge_barrier(cx, world);
}

static void test_shifts(void **state)
{
    (void)state;
    run_all(shifts);
}

/* ---- groups ---------------------------------------------------------------------- */

/** The group of these axes has the ranks that it should, and does what it should. */
static ridge_status check_group(ridge_ctx *cx, ridge_comm *world,
                                const ridge_mesh *mesh, const int *axes, int n_axes)
{
    ridge_comm *group;
    RIDGE_TRY(ridge_comm_axes(cx, world, mesh, axes, n_axes, &group));
    int64_t coords[RIDGE_MESH_AXIS_MAX], size = 1, rank = 0;
    ridge_mesh_coords(mesh, ridge_comm_rank(world), coords);
    for (int i = 0; i < n_axes; i++) {
        size *= mesh->axes[axes[i]].size;
        rank = rank * mesh->axes[axes[i]].size + coords[axes[i]];
        coords[axes[i]] = 0;
    }
    if (ridge_comm_size(group) != size || ridge_comm_rank(group) != rank)
        return ridge_fail(cx, RIDGE_E_INTERNAL, "rank %d of %d instead of %lld of %lld",
                          ridge_comm_rank(group), ridge_comm_size(group),
                          (long long)rank, (long long)size);
    uint64_t seed = 77; /* of this group alone, so that no other's values pass */
    for (int a = 0; a < mesh->n; a++)
        seed = seed * 131 + (uint64_t)coords[a];
    for (int kind = 0; kind < COMM_KIND_COUNT; kind++) {
        comm_case what = {.kind = (comm_kind)kind,
                          .cut = {2, 9, 3},
                          .n = 10,
                          .peer = 1,
                          .seed = seed};
        RIDGE_TRY(comm_case_run(cx, group, &what));
    }
    return RIDGE_OK;
}

static ridge_status groups(ridge_ctx *cx, ridge_comm *world, void *payload)
{
    (void)payload;
    static const int sets[][3] = {{0, 1, 2}, {2, 1, 0}, {1, 0, 2}, {2, 0, 1}};
    int ranks = ridge_comm_size(world);
    int first = ranks % 2 == 0 ? 2 : ranks;
    int second = ranks / first % 2 == 0 ? 2 : 1;
    ridge_mesh mesh = {
        .n = 3, .axes = {{"a", first}, {"b", second}, {"c", ranks / first / second}}};
    for (size_t s = 0; s < RIDGE_COUNT_OF(sets); s++) {
        for (int n = 0; n <= 3; n++)
            RIDGE_TRY(check_group(cx, world, &mesh, sets[s], n));
    }
    ridge_mesh flat = {.n = 2, .axes = {{"a", ranks / first}, {"b", first}}};
    for (size_t s = 0; s < 2; s++)
        RIDGE_TRY(check_group(cx, world, &flat, &sets[s][s], 1));
    return RIDGE_OK;
}

static void test_groups(void **state)
{
    (void)state;
    run_all(groups);
}

static ridge_status wrong_groups(ridge_ctx *cx, ridge_comm *world, void *payload)
{
    (void)payload;
    ridge_comm *group;
    ridge_mesh mesh = {.n = 1, .axes = {{"x", ridge_comm_size(world) + 1}}};
    static const int axes[] = {0, 0};
    if (ridge_comm_axes(cx, world, &mesh, axes, 1, &group) != RIDGE_E_ARG ||
        strstr(ridge_ctx_message(cx), "run as many as it has") == NULL)
        return ridge_fail(cx, RIDGE_E_INTERNAL, "a mesh of another size is refused");
    mesh.axes[0].size--;
    if (ridge_comm_axes(cx, world, &mesh, axes, 2, &group) != RIDGE_E_ARG)
        return ridge_fail(cx, RIDGE_E_INTERNAL, "an axis twice is refused");
    return RIDGE_OK;
}

static void test_wrong_groups(void **state)
{
    (void)state;
    run_all(wrong_groups);
}

/* ---- many under way -------------------------------------------------------------- */

enum { MANY = 60 };

/** Some in the world, some in groups, waited for in another order on each rank. */
static ridge_status out_of_order(ridge_ctx *cx, ridge_comm *world, void *payload)
{
    (void)payload;
    int ranks = ridge_comm_size(world);
    ridge_mesh mesh = {.n = 2, .axes = {{"a", ranks % 2 == 0 ? 2 : 1}, {"b", 0}}};
    mesh.axes[1].size = ranks / mesh.axes[0].size;
    ridge_comm *comms[3] = {world};
    for (int a = 0; a < 2; a++)
        RIDGE_TRY(ridge_comm_axes(cx, world, &mesh, &a, 1, &comms[a + 1]));
    comm_running running[MANY];
    for (int i = 0; i < MANY; i++) {
        comm_case what = {.kind = (comm_kind)(i % COMM_KIND_COUNT),
                          .element = elements[i % 3],
                          .cut = {3, 5 + i % 4, 2},
                          .n = 1 + i * 7 % 50,
                          .peer = i,
                          .seed = (uint64_t)i};
        RIDGE_TRY(comm_case_start(cx, comms[i % 3], &what, &running[i]));
    }
    static const int strides[] = {1, 7, 11, 13, 17, 23, 29, 31};
    int stride = strides[ridge_comm_rank(world) % 8];
    for (int i = 0; i < MANY; i++)
        RIDGE_TRY(comm_case_finish(
            cx, &running[(i * stride + ridge_comm_rank(world)) % MANY]));
    return RIDGE_OK;
}

static void test_out_of_order(void **state)
{
    (void)state;
    run_all(out_of_order);
}

/** One is waited for long after as many as may be under way have come and gone. */
static ridge_status one_kept(ridge_ctx *cx, ridge_comm *world, void *payload)
{
    (void)payload;
    comm_case what = {.kind = COMM_ALL_REDUCE, .n = 100, .seed = 3};
    comm_running kept, other;
    RIDGE_TRY(comm_case_start(cx, world, &what, &kept));
    for (int i = 0; i < 3 * RIDGE_PENDING_MAX; i++) {
        comm_case next = {.kind = (comm_kind)(i % COMM_KIND_COUNT),
                          .cut = {1, 4, 2},
                          .n = 8,
                          .peer = 1,
                          .seed = (uint64_t)i};
        RIDGE_TRY(comm_case_start(cx, world, &next, &other));
        RIDGE_TRY(comm_case_finish(cx, &other));
    }
    return comm_case_finish(cx, &kept);
}

static void test_one_kept(void **state)
{
    (void)state;
    run_all(one_kept);
}

/** Messages of one tag come in order; tags do not mix. */
static ridge_status tags(ridge_ctx *cx, ridge_comm *world, void *payload)
{
    (void)payload;
    enum { TAGS = 4, EACH = 5, ALL = TAGS * EACH };
    int size = ridge_comm_size(world), rank = ridge_comm_rank(world);
    int32_t sent[ALL], received[ALL];
    ridge_pending pending[2 * ALL];
    for (int i = 0; i < ALL; i++) {
        sent[i] = rank * 1000 + i;
        RIDGE_TRY(ridge_send_start(cx, world, RIDGE_ELEMENT_I32, 1, (rank + 1) % size,
                                   i / EACH, &sent[i], &pending[i]));
    }
    for (int i = 0; i < ALL; i++) {
        int from = (TAGS - 1 - i / EACH) * EACH + i % EACH; /* the last tag first */
        RIDGE_TRY(ridge_receive_start(cx, world, RIDGE_ELEMENT_I32, 1,
                                      (rank + size - 1) % size, from / EACH,
                                      &received[from], &pending[ALL + i]));
    }
    for (int i = 2 * ALL - 1; i >= 0; i--)
        RIDGE_TRY(ridge_comm_wait(cx, &pending[i]));
    for (int i = 0; i < ALL; i++) {
        if (received[i] != (rank + size - 1) % size * 1000 + i)
            return ridge_fail(cx, RIDGE_E_INTERNAL, "message %d holds %d", i,
                              received[i]);
    }
    return RIDGE_OK;
}

static void test_tags(void **state)
{
    (void)state;
    run_all(tags);
}

/* ---- arguments ------------------------------------------------------------------- */

static ridge_status wrong_arguments(ridge_ctx *cx, ridge_comm *world, void *payload)
{
    (void)payload;
    ridge_pending pending = {0};
    int32_t x = 0, y = 0;
    int beyond = ridge_comm_size(world);
    bool is_refused =
        ridge_all_reduce_start(cx, world, RIDGE_ELEMENT_I32, RIDGE_REDUCE_SUM, -1, &x,
                               &y, &pending) == RIDGE_E_ARG &&
        ridge_broadcast_start(cx, world, RIDGE_ELEMENT_I32, 1, beyond, &x, &y,
                              &pending) == RIDGE_E_ARG &&
        ridge_send_start(cx, world, RIDGE_ELEMENT_I32, 1, -1, 0, &x, &pending) ==
            RIDGE_E_ARG &&
        ridge_send_start(cx, world, RIDGE_ELEMENT_I32, 1, 0, -1, &x, &pending) ==
            RIDGE_E_ARG &&
        ridge_all_gather_start(cx, world, RIDGE_ELEMENT_I32,
                               &(ridge_cut){1 << 30, 1 << 30, 1 << 30}, &x, &y,
                               &pending) == RIDGE_E_ARG &&
        ridge_all_gather_start(cx, world, RIDGE_ELEMENT_I32, &(ridge_cut){1, -4, 1}, &x,
                               &y, &pending) == RIDGE_E_ARG;
    if (!is_refused || pending.comm != NULL)
        return ridge_fail(cx, RIDGE_E_INTERNAL, "a wrong argument is refused");
    return ridge_comm_wait(cx, &pending); /* of nothing */
}

static void test_wrong_arguments(void **state)
{
    (void)state;
    run_all(wrong_arguments);
}

int main(int argc, char **argv)
{
    engine = comm_engine_of(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cuts),         cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_large),        cmocka_unit_test(test_shifts),
        cmocka_unit_test(test_groups),       cmocka_unit_test(test_wrong_groups),
        cmocka_unit_test(test_out_of_order), cmocka_unit_test(test_one_kept),
        cmocka_unit_test(test_tags),         cmocka_unit_test(test_wrong_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
