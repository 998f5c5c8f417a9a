/* The study of when drafting pays: laws that hold of every kind. */
#include "serving_fixture.h"

#include "ridge/plan_speculation.h"

#include <math.h>

static ridge_speculation_query query_of(ridge_ctx *cx, const char *text,
                                        const ridge_serving_layout *layout,
                                        ridge_serving_desk *desk)
{
    const ridge_library *library;
    ridge_speculation_query q = {.desk = desk,
                                 .layout = layout,
                                 .context_tokens = 2048,
                                 .n_batches = 6,
                                 .batches = {1, 4, 16, 64, 256, 512},
                                 .deepest = 6};
    assert_ok(cx, ridge_library_open(cx, NULL, &library));
    assert_ok(cx, ridge_speculation_parse(cx, text, library, &q.speculation));
    return q;
}

static void run_on(ridge_ctx *cx, const char *model_name, const char *slice_text,
                   int64_t tp, const char *text, int64_t nodes,
                   ridge_speculation_study *out)
{
    const ridge_model *model = fixture_named(cx, model_name);
    const ridge_slice *slice = train_slice(cx, slice_text);
    const ridge_serving_layout layout = serving_layout_of(model, slice, tp);
    ridge_speculation_query q =
        query_of(cx, text, &layout, serving_desk_of(cx, model, slice));
    q.most_nodes = nodes;
    q.n_contexts = 2;
    q.contexts[0] = q.context_tokens;
    q.contexts[1] = 4 * q.context_tokens;
    q.cache_tokens = 300 * q.context_tokens;
    assert_ok(cx, ridge_speculation_study_run(cx, &q, out));
}

static void speed_up_is_tokens_over_what_they_cost(void **state)
{
    ridge_speculation_study s;
    run_on(*state, "llama-3-70b", "h100:4", 4, "eagle,accept=0.8", 0, &s);
    for (int i = 0; i < s.n_rows; i++) {
        const ridge_speculation_row *row = &s.rows[i];
        for (int k = 0; k < (int)s.deepest; k++) {
            const ridge_speculation_point *p = &row->chains[k];
            const double tokens = (1 - pow(0.8, k + 2)) / 0.2;
            assert_near(p->tokens, tokens, 1e-9);
            assert_near(p->speedup, tokens * row->plain_s / p->iteration_s, 1e-9);
            assert_true(p->draft_s > 0 && p->draft_s < p->iteration_s);
            assert_true(p->iteration_s > row->plain_s);
            assert_true(row->best < 0 ||
                        p->speedup <= row->chains[row->best].speedup + 1e-12);
        }
    }
    for (int i = 0; i < s.n_rows; i++) { /* its own context is one of the others */
        const ridge_speculation_row *row = &s.rows[i];
        const ridge_speculation_cell *cell = &row->contexts[0];
        assert_int_equal(cell->fits, row->batch <= 300);
        assert_int_equal(row->contexts[1].fits, row->batch <= 75);
        if (cell->fits && row->best >= 0)
            assert_near(cell->speedup, row->chains[row->best].speedup, 1e-12);
    }
    assert_true(s.rows[0].best >= 0);
    assert_true(s.rows[0].chains[s.rows[0].best].speedup > 1.5);
}

static void drafts_that_are_never_accepted_never_pay(void **state)
{
    static const char *const kinds[] = {"eagle,accept=0", "medusa,accept=0",
                                        "model=llama-3.2-1b,accept=0",
                                        "ngram,accept=0"};
    for (size_t i = 0; i < RIDGE_COUNT_OF(kinds); i++) {
        ridge_speculation_study s;
        run_on(*state, "llama-3.1-8b", "h100:1", 1, kinds[i], 0, &s);
        assert_near(s.stops_at, 0, 0);
        for (int r = 0; r < s.n_rows; r++)
            assert_int_equal(s.rows[r].best, -1);
    }
}

static void more_acceptance_is_never_slower_and_reaches_deeper(void **state)
{
    static const char *const kinds[] = {"eagle,accept=0.5", "eagle,accept=0.7",
                                        "eagle,accept=0.9", "eagle,accept=1"};
    double before = 0;
    int deep = -1;
    for (size_t i = 0; i < RIDGE_COUNT_OF(kinds); i++) {
        ridge_speculation_study s;
        run_on(*state, "llama-3-70b", "h100:4", 4, kinds[i], 0, &s);
        const ridge_speculation_row *row = &s.rows[0];
        const double best = row->best < 0 ? 1 : row->chains[row->best].speedup;
        assert_true(best >= before && row->best >= deep);
        before = best;
        deep = row->best;
    }
    assert_int_equal(deep, 5);
}

static void the_floor_is_where_it_breaks_even(void **state)
{
    ridge_speculation_study s;
    ridge_speculation_study at_floor;
    char text[64];
    run_on(*state, "llama-3-70b", "h100:4", 4, "eagle,accept=0.8", 0, &s);
    assert_true(s.floor_acceptance > 0 && s.floor_acceptance < 0.8);
    snprintf(text, sizeof text, "eagle,accept=%.9f", s.floor_acceptance * 1.02);
    run_on(*state, "llama-3-70b", "h100:4", 4, text, 0, &at_floor);
    assert_true(at_floor.rows[0].best >= 0);
    snprintf(text, sizeof text, "eagle,accept=%.9f", s.floor_acceptance * 0.98);
    run_on(*state, "llama-3-70b", "h100:4", 4, text, 0, &at_floor);
    assert_int_equal(at_floor.rows[0].best, -1);
}

/* A drafting model costs a pass a position: it stops before free drafts do. */
static void dear_drafts_stop_earlier(void **state)
{
    ridge_speculation_study model;
    ridge_speculation_study copied;
    run_on(*state, "llama-3.1-8b", "h100:1", 1, "model=llama-3.2-1b,accept=0.6", 0,
           &model);
    run_on(*state, "llama-3.1-8b", "h100:1", 1, "ngram,accept=0.6", 0, &copied);
    assert_true(model.stops_at <= copied.stops_at);
    for (int i = 0; i < model.n_rows; i++)
        assert_true(copied.rows[i].chains[0].draft_s <
                    0.5 * model.rows[i].chains[0].draft_s);
}

static void trees_are_at_least_as_good_as_chains(void **state)
{
    ridge_speculation_study s;
    run_on(*state, "llama-3-70b", "h100:4", 4, "medusa,accept=0.6,next=0.2", 64, &s);
    const ridge_speculation_row *one = &s.rows[0];
    assert_true(one->tree.nodes > 0);
    int64_t nodes = 0;
    for (int i = 0; i < (int)one->tree.depth; i++)
        nodes += one->widths[i];
    assert_int_equal(nodes, one->tree.nodes);
    for (int i = 0; i < s.n_rows; i++) {
        const ridge_speculation_row *row = &s.rows[i];
        assert_true(i == 0 || row->tree.nodes <= s.rows[i - 1].tree.nodes);
        assert_true(row->best < 0 ||
                    row->tree.speedup >= row->chains[row->best].speedup * 0.98);
    }
}

static void what_cannot_be_studied_is_refused(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_model *model = fixture_named(cx, "llama-3-8b");
    const ridge_slice *slice = train_slice(cx, "h100:1");
    const ridge_serving_layout layout = serving_layout_of(model, slice, 1);
    ridge_serving_desk *desk = serving_desk_of(cx, model, slice);
    ridge_speculation_study s;
    ridge_speculation_query q = query_of(cx, "none", &layout, desk);
    assert_int_equal(ridge_speculation_study_run(cx, &q, &s), RIDGE_E_ARG);
    q = query_of(cx, "eagle", &layout, desk);
    q.deepest = 99;
    assert_int_equal(ridge_speculation_study_run(cx, &q, &s), RIDGE_E_ARG);
    q.deepest = 4;
    q.batches[2] = 4;
    assert_int_equal(ridge_speculation_study_run(cx, &q, &s), RIDGE_E_ARG);
    fixture_assert_message(cx, "batches have to ascend");
}

/* What the engine does beside its kernels is in the iteration, once for a tree. */
static void the_engines_own_work_counts(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_model *model = fixture_named(cx, "llama-3-8b");
    const ridge_slice *slice = train_slice(cx, "h100:1x1");
    const ridge_serving_layout layout = serving_layout_of(model, slice, 1);
    const ridge_catalog *catalog = NULL;
    const ridge_engine *known = NULL;
    assert_ok(cx, ridge_catalog_open(cx, NULL, &catalog));
    assert_ok(cx, ridge_engine_find(cx, catalog, "vllm-v1", &known));
    ridge_engine bare = *known;
    ridge_engine slow = *known;
    bare.draft_s = bare.draft_pass_s = bare.draft_token_s = 0;
    slow.draft_s = 1e-3;
    slow.draft_pass_s = 1e-4;
    slow.draft_token_s = 1e-6;
    ridge_speculation_study a;
    ridge_speculation_study b;
    const ridge_engine *const engines[] = {&bare, &slow};
    ridge_speculation_study *const studies[] = {&a, &b};
    for (int i = 0; i < 2; i++) {
        const ridge_serving_case about = {.model = model,
                                          .slice = slice,
                                          .engine = engines[i],
                                          .longest_tokens = 4096};
        ridge_serving_desk *desk = NULL;
        assert_ok(cx, ridge_serving_desk_open(cx, &about, &desk));
        ridge_speculation_query q =
            query_of(cx, "eagle,accept=0.8/0.7,next=0.3", &layout, desk);
        q.most_nodes = 1;
        assert_ok(cx, ridge_speculation_study_run(cx, &q, studies[i]));
    }
    for (int i = 0; i < a.n_rows; i++) {
        const double batch = a.rows[i].batch;
        for (int k = 0; k < (int)a.deepest; k++)
            assert_near(b.rows[i].chains[k].draft_s - a.rows[i].chains[k].draft_s,
                        1e-3 + (k + 1) * (1e-4 + 1e-6 * batch), 1e-9);
        /* a tree of one node is the chain of one */
        assert_int_equal(b.rows[i].tree.nodes, 1);
        assert_near(b.rows[i].tree.draft_s, b.rows[i].chains[0].draft_s, 1e-9);
    }
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, fixture_open, fixture_close)
    const struct CMUnitTest tests[] = {
        TEST(speed_up_is_tokens_over_what_they_cost),
        TEST(drafts_that_are_never_accepted_never_pay),
        TEST(more_acceptance_is_never_slower_and_reaches_deeper),
        TEST(the_floor_is_where_it_breaks_even),
        TEST(dear_drafts_stop_earlier),
        TEST(trees_are_at_least_as_good_as_chains),
        TEST(the_engines_own_work_counts),
        TEST(what_cannot_be_studied_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
