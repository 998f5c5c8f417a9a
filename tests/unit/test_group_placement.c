/* Groups of a layout under every placement: they partition the slice, and each number
 * lays what it says. */
#include "group_placement.h"
#include "train_case.h"
#include "train_fixture.h"

#include <string.h>

/* Chip number `at` of a group's members, in units of each network axis. */
static bool members_differ(const ridge_slice *slice, const ridge_group *const *groups,
                           int n)
{
    static bool is_seen[4096];
    memset(is_seen, 0, sizeof is_seen);
    for (int64_t chip = 0; chip < slice->chips; chip++) {
        int64_t at[RIDGE_AXIS_MAX] = {0};
        int64_t rest = chip;
        for (int g = 0; g < n; g++) {
            for (int s = 0; s < groups[g]->n_spans; s++) {
                const ridge_span *span = &groups[g]->spans[s];
                at[span->axis] += rest % span->size * span->stride;
                rest /= span->size;
            }
        }
        int64_t index = 0;
        for (int a = slice->n_axes - 1; a >= 0; a--) {
            if (at[a] >= slice->axes[a].size)
                return false;
            index = index * slice->axes[a].size + at[a];
        }
        if (is_seen[index])
            return false;
        is_seen[index] = true;
    }
    return true;
}

static int check_all(const ridge_slice *slice, const ridge_layout *layout)
{
    int laid = 0;
    for (int p = 0; p < train_placement_most(slice); p++) {
        train_groups g;
        if (!train_groups_place(slice, layout, p, &g))
            continue;
        const train_ways w = train_layout_ways(layout);
        const ridge_group *const dense[] = {&g.tp, &g.shards, &g.replicas, &g.pp};
        const ridge_group *const experts[] = {&g.ep, &g.expert_shards,
                                              &g.expert_replicas, &g.pp};
        assert_int_equal(g.tp.ranks, layout->tp);
        assert_int_equal(g.pp.ranks, layout->pp);
        assert_int_equal(g.ep.ranks, layout->ep);
        assert_int_equal(g.shards.ranks * g.replicas.ranks,
                         layout->cp * layout->fsdp * layout->dp);
        assert_true(members_differ(slice, dense, 4));
        if (w.expert_width == 1)
            assert_true(members_differ(slice, experts, 4));
        laid++;
    }
    return laid;
}

static void groups_partition_the_slice(void **state)
{
    ridge_ctx *cx = *state;
    static const char *const slices[] = {"v5p:4x4x8", "v5e:8x16", "h100:16x8",
                                         "2*v5e:8x8"};
    ridge_layout dense = train_layout(2, 4, 4, 2, 2);
    ridge_layout experts = train_layout(2, 8, 1, 2, 4);
    dense.zero_stage = 3;
    experts.zero_stage = 1;
    experts.ep = 8;
    for (size_t i = 0; i < RIDGE_COUNT_OF(slices); i++) {
        const ridge_slice *slice = train_slice(cx, slices[i]);
        assert_int_equal(slice->chips, 128);
        assert_true(check_all(slice, &dense) > train_placement_count(slice));
        assert_true(check_all(slice, &experts) > train_placement_count(slice));
    }
}

static void numbers_name_orders(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_slice *slice = train_slice(cx, "h100:16x8");
    int axes[TRAIN_MESH_AXES];
    bool is_seen[3125] = {false};
    assert_int_equal(train_placement_count(slice), 2);
    assert_int_equal(train_placement_most(slice), 122);
    for (int p = 2; p < 122; p++) {
        int code = 0;
        train_placement_axes(slice, p, axes);
        for (int i = 0; i < TRAIN_MESH_AXES; i++)
            code = 5 * code + axes[i];
        assert_false(is_seen[code]);
        is_seen[code] = true;
    }
    train_placement_axes(slice, 1, axes);
    assert_int_equal(axes[3], TRAIN_AXIS_PP); /* stages inside replicas */
    train_placement_axes(slice, 2 + 119, axes);
    assert_int_equal(axes[0], TRAIN_AXIS_PP);
    assert_int_equal(axes[4], TRAIN_AXIS_TP);
}

/* Shards over cp and fsdp are one group on each network axis, or there is none. */
static void shards_that_lie_apart_are_no_placement(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_slice *slice = train_slice(cx, "h100:1x8");
    ridge_layout l = train_layout(1, 2, 2, 2, 1);
    int legal = 0;
    l.zero_stage = 3;
    for (int p = 2; p < train_placement_most(slice); p++) {
        train_groups g;
        int axes[TRAIN_MESH_AXES];
        if (!train_groups_place(slice, &l, p, &g))
            continue;
        train_placement_axes(slice, p, axes);
        int tp = 0, cp = 0, shards = 0;
        for (int i = 0; i < TRAIN_MESH_AXES; i++) {
            tp = axes[i] == TRAIN_AXIS_TP ? i : tp;
            cp = axes[i] == TRAIN_AXIS_CP ? i : cp;
            shards = axes[i] == TRAIN_AXIS_SHARDS ? i : shards;
        }
        assert_false((cp < tp) != (shards < tp));
        assert_int_equal(g.shards.n_spans, 1);
        legal++;
    }
    assert_int_equal(legal, 80); /* of 120: tp is not between the two */
}

static void a_number_beyond_the_last_is_told(void **state)
{
    ridge_ctx *cx = *state;
    ridge_train_request request =
        train_request(train_dense_model(cx), train_slice(cx, "h100:1x8"), 64, 2048);
    ridge_train_result result;
    assert_ok(cx, ridge_knobs_set(cx, &request.knobs, "placement", "122"));
    assert_int_equal(ridge_train_search(cx, &request, &result), RIDGE_E_ARG);
    fixture_assert_message(cx, "has 0 to 121");
    assert_int_equal(ridge_knobs_set(cx, &request.knobs, "placement", "732"),
                     RIDGE_E_ARG);
    assert_int_equal(ridge_knobs_set(cx, &request.knobs, "placement", "all"),
                     RIDGE_E_ARG);
    assert_ok(cx, ridge_knobs_set(cx, &request.knobs, "placement", "any"));
    assert_ok(cx, ridge_train_search(cx, &request, &result));
    assert_true(result.n_layouts > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_partition_the_slice),
        cmocka_unit_test(numbers_name_orders),
        cmocka_unit_test(shards_that_lie_apart_are_no_placement),
        cmocka_unit_test(a_number_beyond_the_last_is_told),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
