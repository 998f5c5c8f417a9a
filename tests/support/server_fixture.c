#include "server_fixture.h"

#include "server_formats.h"

#include <string.h>

static const ridge_catalog *catalog_of(ridge_ctx *cx)
{
    const ridge_catalog *catalog;
    assert_ok(cx, ridge_catalog_open(cx, NULL, &catalog));
    return catalog;
}

ridge_status server_fixture_parse(ridge_ctx *cx, const char *slice, const char *file,
                                  const char *text, ridge_serving_launch *out)
{
    ridge_serving_launch_query query = {
        .catalog = catalog_of(cx),
        .slice = slice == NULL ? NULL : train_slice(cx, slice)};
    assert_ok(cx, ridge_library_open(cx, NULL, &query.library));
    return ridge_serving_launch_parse(cx, ridge_str_of(text), file, &query, out);
}

bool server_fixture_has(const ridge_launch_notes *notes, const char *part)
{
    for (int i = 0; i < notes->n; i++) {
        if (strstr(notes->text[i], part) != NULL)
            return true;
    }
    return false;
}

static int64_t or_one(int64_t n)
{
    return n > 0 ? n : 1;
}

static ridge_serving_layout layout_of(ridge_ctx *cx, const server_case *c,
                                      const ridge_deployment *d)
{
    ridge_serving_layout l = {.tp = or_one(c->tp),
                              .pp = or_one(c->pp),
                              .ep = or_one(c->ep),
                              .attention_dp = or_one(c->attention_dp),
                              .has_two_batches = c->has_two_batches,
                              .redundant_experts = c->redundant_experts,
                              .kv_cut = c->kv_cut,
                              .formats = server_formats_of(d->model, d->slice),
                              .sequences = c->sequences,
                              .budget_tokens = c->budget_tokens,
                              .draft = {.kind = c->draft,
                                        .depth = c->depth,
                                        .nodes = c->nodes > 0 ? c->nodes : c->depth}};
    if (c->weight != NULL) {
        assert_ok(cx, ridge_dtype_parse(cx, c->weight, &l.formats.weight));
        l.formats.expert = l.formats.weight;
        l.formats.group = l.formats.weight == RIDGE_DTYPE_INT4 ? 128 : 0;
        const bool is_narrow = d->slice->chip->has_peak[l.formats.weight] &&
                               l.formats.weight != RIDGE_DTYPE_INT4;
        l.formats.compute = is_narrow ? l.formats.weight : l.formats.activation;
        l.formats.expert_compute = l.formats.compute;
    }
    if (c->cache != NULL)
        assert_ok(cx, ridge_dtype_parse(cx, c->cache, &l.formats.cache));
    return l;
}

ridge_deployment server_fixture_deployment(ridge_ctx *cx,
                                           ridge_serving_launcher launcher,
                                           const server_case *cases, int n)
{
    ridge_deployment d = {.model = fixture_named(cx, cases[0].model),
                          .model_name = cases[0].model,
                          .draft_name = "llama-3.2-1b",
                          .slice = train_slice(cx, cases[0].slice),
                          .longest_tokens = cases[0].longest_tokens,
                          .prompt_tokens = cases[0].prompt_tokens,
                          .choice = {.n_pools = n}};
    assert_ok(cx,
              ridge_engine_find(cx, catalog_of(cx),
                                ridge_serving_launcher_engine(launcher), &d.engine));
    for (int i = 0; i < n; i++) {
        d.choice.pools[i] =
            (ridge_service_pool){.role = cases[i].role,
                                 .servers = or_one(cases[i].replicas),
                                 .layout = layout_of(cx, &cases[i], &d)};
    }
    return d;
}

static void assert_pool(const ridge_service_pool *got, const ridge_service_pool *want)
{
    const ridge_serving_layout *a = &got->layout;
    const ridge_serving_layout *b = &want->layout;
    assert_int_equal(got->role, want->role);
    assert_int_equal(got->servers, want->servers);
    assert_int_equal(a->tp, b->tp);
    assert_int_equal(a->pp, b->pp);
    assert_int_equal(a->ep, b->ep);
    assert_int_equal(a->attention_dp, b->attention_dp);
    assert_int_equal(a->has_two_batches, b->has_two_batches);
    assert_int_equal(a->redundant_experts, b->redundant_experts);
    assert_int_equal(a->kv_cut, b->kv_cut);
    assert_int_equal(a->is_weight_gathered, b->is_weight_gathered);
    assert_int_equal(a->sequences, b->sequences);
    assert_int_equal(a->budget_tokens, b->budget_tokens);
    assert_int_equal(a->formats.weight, b->formats.weight);
    assert_int_equal(a->formats.expert, b->formats.expert);
    assert_int_equal(a->formats.compute, b->formats.compute);
    assert_int_equal(a->formats.expert_compute, b->formats.expert_compute);
    assert_int_equal(a->formats.activation, b->formats.activation);
    assert_int_equal(a->formats.cache, b->formats.cache);
    assert_int_equal(a->formats.attention, b->formats.attention);
    assert_int_equal(a->formats.group, b->formats.group);
    assert_int_equal(a->draft.kind, b->draft.kind);
    assert_int_equal(a->draft.depth, b->draft.depth);
    assert_int_equal(a->draft.nodes, b->draft.nodes);
}

void server_fixture_round_trip(ridge_ctx *cx, ridge_serving_launcher launcher,
                               const server_case *cases, int n,
                               ridge_serving_launch *back)
{
    ridge_launch_text text;
    const ridge_deployment d = server_fixture_deployment(cx, launcher, cases, n);
    assert_ok(cx, ridge_serving_launch_write(cx, launcher, &d, &text));
    assert_ok(cx, server_fixture_parse(cx, cases[0].slice, "back",
                                       ridge_buf_text(&text.text), back));
    const ridge_deployment *got = &back->deployment;
    assert_string_equal(got->model->name, d.model->name);
    assert_int_equal(got->choice.n_pools, n);
    for (int i = 0; i < n; i++)
        assert_pool(&got->choice.pools[i], &d.choice.pools[i]);
    assert_near(got->longest_tokens, d.longest_tokens, 0);
    assert_string_equal(got->engine->name, d.engine->name);
    assert_int_equal(got->engine->block_tokens, d.engine->block_tokens);
    assert_near(got->engine->memory_share, d.engine->memory_share, 1e-3);
    assert_int_equal(got->engine->has_prefix_cache, d.engine->has_prefix_cache);
    assert_int_equal(got->engine->is_host_hidden, d.engine->is_host_hidden);
    assert_near(got->engine->graph_sequences, d.engine->graph_sequences, 0);
    assert_int_equal(back->unknown.n, 0);
    assert_int_equal(back->differing.n, 0);
}

/* ---- names ----------------------------------------------------------------------- */

static bool is_listed(ridge_str names, ridge_str name)
{
    while (names.p != NULL) {
        if (ridge_str_equal(ridge_str_trim(ridge_str_cut(&names, '\n')), name))
            return true;
    }
    return false;
}

/* The name that a line sets: "--name value \\", "name: value", "name=value". */
static ridge_str name_of(ridge_str line)
{
    size_t from = 0;
    size_t to = 0;
    if (line.n > 1 && line.p[0] == '-' && line.p[1] == '-')
        from = to = 2;
    while (to < line.n && strchr(" :=", line.p[to]) == NULL)
        to++;
    const bool is_setting = from > 0 || (to < line.n && line.p[to] != ' ');
    return (ridge_str){line.p + from, is_setting ? to - from : 0};
}

void server_fixture_check_names(ridge_ctx *cx, ridge_serving_launcher launcher,
                                const server_case *c, const char *list)
{
    ridge_launch_text text;
    ridge_str names;
    const ridge_deployment d = server_fixture_deployment(cx, launcher, c, 1);
    const char *path = ridge_sprintf(
        ridge_ctx_arena(cx), "%s/support/launch-names/%s.txt", RIDGE_TEST_DIR, list);
    assert_ok(cx, ridge_file_read(cx, path, 1 << 20, &names));
    assert_ok(cx, ridge_serving_launch_write(cx, launcher, &d, &text));
    ridge_str rest = {ridge_buf_text(&text.text), text.text.n};
    while (rest.p != NULL) {
        const ridge_str line = ridge_str_trim(ridge_str_cut(&rest, '\n'));
        const bool is_other =
            line.n == 0 || line.p[0] == '#' || strncmp(line.p, "replicas=", 9) == 0;
        const ridge_str name = is_other ? (ridge_str){NULL, 0} : name_of(line);
        if (name.n > 0 && !is_listed(names, name))
            fail_msg("%.*s is in no list of %s", (int)name.n, name.p, list);
    }
}
