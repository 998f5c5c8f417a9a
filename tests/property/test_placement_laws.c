/*
 * Laws of slices and placements over random valid inputs: groups tile the slice, every
 * chip is in exactly one group of each mesh axis, what is written parses to itself,
 * legal shapes are those that are suggested.
 */
#include "hardware_fixture.h"
#include "near.h"

#include <string.h>

#include "torus_rules.h"

enum { TRIALS = 2000 };

/* splitmix64 (Steele et al. 2014): seeded, the same everywhere. */
static uint64_t next_random(uint64_t *seed)
{
    uint64_t z = (*seed += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static int64_t pick(uint64_t *seed, int64_t low, int64_t high)
{
    return low + (int64_t)(next_random(seed) % (uint64_t)(high - low + 1));
}

static const ridge_slice *random_slice(const fixture_world *w, uint64_t *seed)
{
    char text[64];
    switch (pick(seed, 0, 3)) {
    case 0:
        snprintf(text, sizeof text, "gpu:%dx%d", (int)pick(seed, 1, 130),
                 (int)pick(seed, 1, 8));
        break;
    case 1:
        snprintf(text, sizeof text, "%d*cube:%dx%dx%d", (int)pick(seed, 1, 3),
                 4 * (int)pick(seed, 1, 4), 4 * (int)pick(seed, 1, 4),
                 4 * (int)pick(seed, 1, 4));
        break;
    case 2:
        snprintf(text, sizeof text, "flat:%dx%d", 1 << pick(seed, 3, 4),
                 1 << pick(seed, 3, 4));
        break;
    default:
        snprintf(text, sizeof text, "pair:%dx8", (int)pick(seed, 1, 4));
        break;
    }
    return fixture_slice(w->cx, w->catalog, text);
}

/* Split the chips into random factors, prime by prime. */
static int random_mesh(uint64_t *seed, int64_t chips, int64_t *sizes)
{
    const int n = (int)pick(seed, 1, 6);
    for (int i = 0; i < n; i++)
        sizes[i] = 1;
    for (int64_t p = 2; chips > 1; p++) {
        while (chips % p == 0) {
            sizes[pick(seed, 0, n - 1)] *= p;
            chips /= p;
        }
    }
    return n;
}

static void random_order(uint64_t *seed, int n, int *order)
{
    for (int i = 0; i < n; i++)
        order[i] = i;
    for (int i = n - 1; i > 0; i--) {
        const int64_t j = pick(seed, 0, i);
        const int t = order[i];
        order[i] = order[j];
        order[j] = t;
    }
}

/* The span on an axis that begins where others have reached, or NULL. */
static const ridge_span *span_from(const ridge_group *groups, int n, int axis,
                                   int64_t reached)
{
    for (int g = 0; g < n; g++) {
        for (int i = 0; i < groups[g].n_spans; i++) {
            const ridge_span *span = &groups[g].spans[i];
            if (span->axis == axis && span->stride == reached)
                return span;
        }
    }
    return NULL;
}

/* On one axis the spans, taken by stride, continue each other up to its size. */
static bool tiles_axis(const ridge_group *groups, int n, int axis, int64_t size)
{
    int64_t reached = 1;
    for (const ridge_span *span = span_from(groups, n, axis, 1); span != NULL;
         span = span_from(groups, n, axis, reached))
        reached *= span->size;
    return reached == size;
}

static bool is_well_formed(const ridge_group *group, int64_t size)
{
    int64_t ranks = 1;
    for (int i = 0; i < group->n_spans; i++) {
        ranks *= group->spans[i].size;
        if (group->spans[i].size < 2 || group->spans[i].stride < 1)
            return false;
        if (i > 0 && group->spans[i].axis <= group->spans[i - 1].axis)
            return false;
    }
    return ranks == size && group->ranks == size;
}

static void groups_tile_the_slice(void **state)
{
    int filled = 0;
    for (uint64_t trial = 0; trial < TRIALS; trial++) {
        uint64_t seed = trial;
        int64_t sizes[RIDGE_MESH_AXIS_MAX];
        int order[RIDGE_AXIS_MAX];
        ridge_group groups[RIDGE_MESH_AXIS_MAX];
        const ridge_slice *s = random_slice(*state, &seed);
        const int n = random_mesh(&seed, s->chips, sizes);
        random_order(&seed, s->n_axes, order);
        if (!ridge_placement_fill(s, order, sizes, n, groups))
            continue;
        filled++;
        for (int i = 0; i < n; i++) {
            if (!is_well_formed(&groups[i], sizes[i]))
                fail_msg("seed %d: group %d of %s", (int)trial, i, s->text);
        }
        for (int a = 0; a < s->n_axes; a++) {
            if (!tiles_axis(groups, n, a, s->axes[a].size)) {
                fail_msg("seed %d: axis %s of %s", (int)trial, s->axes[a].name,
                         s->text);
            }
        }
    }
    assert_true(filled > TRIALS / 4);
}

/* The coordinate of a chip along one mesh axis. */
static int64_t mesh_coordinate(const ridge_slice *s, const ridge_group *group,
                               int64_t chip)
{
    int64_t coordinate = 0;
    int64_t weight = 1;
    for (int i = 0; i < group->n_spans; i++) {
        const ridge_span *span = &group->spans[i];
        int64_t on_axis = chip;
        for (int a = 0; a < span->axis; a++)
            on_axis /= s->axes[a].size;
        on_axis %= s->axes[span->axis].size;
        coordinate += on_axis / span->stride % span->size * weight;
        weight *= span->size;
    }
    return coordinate;
}

/* Mesh coordinates number the chips: no two chips share all of them. */
static void every_chip_has_its_own_coordinates(void **state)
{
    fixture_world *w = *state;
    for (uint64_t trial = 0; trial < 200; trial++) {
        uint64_t seed = trial + 77;
        int64_t sizes[RIDGE_MESH_AXIS_MAX];
        ridge_group groups[RIDGE_MESH_AXIS_MAX];
        const ridge_slice *s = random_slice(w, &seed);
        const int n = random_mesh(&seed, s->chips, sizes);
        if (!ridge_placement_fill(s, NULL, sizes, n, groups))
            continue;
        const ridge_mark mark = ridge_arena_mark(ridge_ctx_scratch(w->cx));
        bool *is_seen = ridge_new(ridge_ctx_scratch(w->cx), bool, (size_t)s->chips);
        assert_non_null(is_seen);
        for (int64_t chip = 0; chip < s->chips; chip++) {
            int64_t rank = 0;
            for (int i = n - 1; i >= 0; i--)
                rank = rank * sizes[i] + mesh_coordinate(s, &groups[i], chip);
            if (rank < 0 || rank >= s->chips || is_seen[rank])
                fail_msg("seed %d: chip %d of %s", (int)trial, (int)chip, s->text);
            is_seen[rank] = true;
        }
        ridge_arena_rewind(ridge_ctx_scratch(w->cx), mark);
    }
}

static void one_mesh_axis_covers_every_axis_whole(void **state)
{
    for (uint64_t trial = 0; trial < TRIALS / 4; trial++) {
        uint64_t seed = trial;
        const ridge_slice *s = random_slice(*state, &seed);
        ridge_group group;
        assert_true(ridge_placement_fill(s, NULL, &s->chips, 1, &group));
        assert_int_equal(group.n_spans, s->n_axes);
        for (int i = 0; i < group.n_spans; i++) {
            assert_int_equal(group.spans[i].size, s->axes[i].size);
            assert_int_equal(ridge_span_has_wraparound(s, &group.spans[i]),
                             s->axes[i].has_wraparound);
        }
    }
}

static void axes_multiply_to_the_chips_and_text_parses_to_itself(void **state)
{
    fixture_world *w = *state;
    for (uint64_t trial = 0; trial < TRIALS / 4; trial++) {
        uint64_t seed = trial;
        const ridge_slice *s = random_slice(w, &seed);
        int64_t chips = 1;
        for (int i = 0; i < s->n_axes; i++) {
            assert_true(s->axes[i].size > 1);
            chips *= s->axes[i].size;
        }
        assert_int_equal(chips, s->chips);
        assert_true(s->hosts >= 1 && s->hosts <= s->chips);
        const ridge_slice *again = fixture_slice(w->cx, w->catalog, s->text);
        assert_string_equal(again->text, s->text);
        assert_int_equal(again->chips, s->chips);
    }
}

static void suggested_shapes_are_legal_and_nearest(void **state)
{
    fixture_world *w = *state;
    static const char *const names[] = {"cube-pod", "flat-pod"};
    for (size_t k = 0; k < RIDGE_COUNT_OF(names); k++) {
        const ridge_system *system = NULL;
        assert_int_equal(ridge_system_find(w->cx, w->catalog, names[k], &system),
                         RIDGE_OK);
        for (int64_t chips = 1; chips < 9000; chips += 37) {
            torus_shape shapes[8];
            const int n = ridge__shape_nearest(system, chips, false, 8, shapes);
            int64_t last = 0;
            assert_int_equal(n, 8);
            for (int i = 0; i < n; i++) {
                const int64_t d = ridge__shape_chips(&shapes[i]) - chips;
                assert_true(ridge__shape_is_legal(system, &shapes[i]));
                assert_true((d < 0 ? -d : d) >= last);
                last = d < 0 ? -d : d;
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_tile_the_slice),
        cmocka_unit_test(every_chip_has_its_own_coordinates),
        cmocka_unit_test(one_mesh_axis_covers_every_axis_whole),
        cmocka_unit_test(axes_multiply_to_the_chips_and_text_parses_to_itself),
        cmocka_unit_test(suggested_shapes_are_legal_and_nearest),
    };
    return cmocka_run_group_tests(tests, fixture_world_open, fixture_world_close);
}
