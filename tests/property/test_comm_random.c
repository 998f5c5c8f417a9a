/* Random meshes, groups, collectives and orders of waiting, from a seed that all ranks
 * share: bit for bit what a serial computation gives. */
#include "comm_cases.h"
#include "comm_runs.h"
#include "seeded.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { ROUNDS = 40, BATCH = 12 };

static ridge_engine engine;

/** What a round draws; the seed is the same on all ranks. */
typedef struct round_state {
    seeded at;
    ridge_mesh mesh;
    ridge_comm *comms[BATCH];
    uint64_t ids[BATCH]; /* of this rank's group: its values are its own */
    comm_running running[BATCH];
} round_state;

/** A mesh of that many ranks: each prime factor goes to one of three axes. */
static ridge_mesh draw_mesh(seeded *at, int ranks)
{
    ridge_mesh mesh = {.n = 3, .axes = {{"a", 1}, {"b", 1}, {"c", 1}}};
    for (int p = 2; ranks > 1; p++) {
        for (; ranks % p == 0; ranks /= p)
            mesh.axes[seeded_pick(at, 0, 2)].size *= p;
    }
    return mesh;
}

/** A group over some of the axes, in some order. */
static ridge_status draw_group(ridge_ctx *cx, ridge_comm *world, round_state *s, int i)
{
    int axes[3] = {0, 1, 2};
    for (int k = 2; k > 0; k--) {
        int other = (int)seeded_pick(&s->at, 0, k), kept = axes[k];
        axes[k] = axes[other];
        axes[other] = kept;
    }
    int n = (int)seeded_pick(&s->at, 0, 3);
    int64_t coords[RIDGE_MESH_AXIS_MAX];
    ridge_mesh_coords(&s->mesh, ridge_comm_rank(world), coords);
    for (int k = 0; k < n; k++)
        coords[axes[k]] = 0;
    s->ids[i] = 0;
    for (int a = 0; a < s->mesh.n; a++)
        s->ids[i] = s->ids[i] * 64 + (uint64_t)coords[a];
    return ridge_comm_axes(cx, world, &s->mesh, axes, n, &s->comms[i]);
}

static comm_case draw_case(seeded *at)
{
    comm_case what = {.kind = (comm_kind)seeded_pick(at, 0, COMM_KIND_COUNT - 1),
                      .element = (ridge_element)seeded_pick(at, 0, 2),
                      .reduce = (ridge_reduce)seeded_pick(at, 0, 1),
                      .n = seeded_pick(at, 0, 40),
                      .peer = (int)seeded_pick(at, 0, 30),
                      .is_in_place = seeded_pick(at, 0, 1) == 1};
    if (seeded_pick(at, 0, 3) == 0)
        what.n *= seeded_pick(at, 1, 200);
    what.cut = (ridge_cut){seeded_pick(at, 0, 6), seeded_pick(at, 0, 40),
                           seeded_pick(at, 0, 9)};
    what.seed = seeded_next(at);
    return what;
}

/** Start a batch in random groups, then wait for it in an order of this rank's own. */
static ridge_status run_round(ridge_ctx *cx, ridge_comm *world, uint64_t seed)
{
    round_state s = {.at = seed};
    s.mesh = draw_mesh(&s.at, ridge_comm_size(world));
    for (int i = 0; i < BATCH; i++) {
        if (i % 3 == 0) {
            RIDGE_TRY(draw_group(cx, world, &s, i));
        } else {
            s.comms[i] = s.comms[i - 1];
            s.ids[i] = s.ids[i - 1];
        }
        comm_case what = draw_case(&s.at);
        what.seed += s.ids[i] * 7919;
        RIDGE_TRY(comm_case_start(cx, s.comms[i], &what, &s.running[i]));
    }
    seeded own = seed * 31 + (uint64_t)ridge_comm_rank(world);
    int order[BATCH];
    for (int i = 0; i < BATCH; i++) {
        int at = (int)seeded_pick(&own, 0, i);
        order[i] = order[at];
        order[at] = i;
    }
    for (int i = 0; i < BATCH; i++) {
        ridge_status st = comm_case_finish(cx, &s.running[order[i]]);
        if (st != RIDGE_OK) {
            ridge_ctx_note(cx, "seed %llu, case %d", (unsigned long long)seed,
                           order[i]);
            return st;
        }
    }
    return RIDGE_OK;
}

static ridge_status run_rounds(ridge_ctx *cx, ridge_comm *world, void *payload)
{
    (void)payload;
    ridge_mark mark = ridge_arena_mark(ridge_ctx_arena(cx));
    for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
        RIDGE_TRY(run_round(cx, world, seed));
        ridge_arena_rewind(ridge_ctx_arena(cx), mark);
    }
    return RIDGE_OK;
}

static void test_random(void **state)
{
    (void)state;
    int counts[8];
    int n = comm_rank_counts(engine, counts);
    for (int i = 0; i < n; i++)
        assert_true(comm_run(engine, counts[i], run_rounds, NULL));
}

int main(int argc, char **argv)
{
    engine = comm_engine_of(argc, argv);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
