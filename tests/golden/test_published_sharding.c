/* Worked examples of sharding: tests/golden/published/sharding.jsonl. */
#include "mesh_arrays.h"
#include "near.h"

#include "ridge/program.h"
#include "ridge/shard.h"

#include <string.h>

/* One row being computed. */
typedef struct row {
    ridge_ctx *cx;
    const char *id;
    ridge_node inputs, expected;
    double rel_tol;
    int checked;
} row;

static ridge_arena *arena_of(const row *r)
{
    return ridge_ctx_arena(r->cx);
}

static long long in(const row *r, const char *key)
{
    int64_t v = 0;
    if (!ridge_json_i64(ridge_json_get(&r->inputs, key), &v))
        fail_msg("%s: no number '%s'", r->id, key);
    return v;
}

static const char *in_text(const row *r, const char *key)
{
    const char *text = "";
    if (!ridge_json_text(ridge_json_get(&r->inputs, key), &text))
        fail_msg("%s: no text '%s'", r->id, key);
    return text;
}

static void want(row *r, const char *key, double got)
{
    const ridge_node n = ridge_json_get(&r->expected, key);
    double v = 0;
    bool flag = false;
    if (ridge_json_bool(n, &flag)) {
        v = flag;
    } else if (!ridge_json_double(n, &v)) {
        fail_msg("%s: nothing expected of '%s'", r->id, key);
    }
    ridge_assert_near(got, v, r->rel_tol, key, r->id, 0);
    r->checked++;
}

/* "X=2,Y=8" from the row's mesh, or four ranks on X and on Y. */
static const char *mesh_of(const row *r)
{
    const ridge_node mesh = ridge_json_get(&r->inputs, "mesh");
    ridge_buf b;
    ridge_buf_init(&b, arena_of(r));
    for (size_t i = 0; i < ridge_json_size(mesh); i++) {
        const ridge_node axis = ridge_json_member(&mesh, i);
        int64_t size = 0;
        assert_true(ridge_json_i64(axis, &size));
        ridge_buf_printf(&b, "%s%s=%d", i ? "," : "", axis.key, (int)size);
    }
    return b.n ? ridge_buf_text(&b) : "X=4,Y=4";
}

static ridge_expr parse(const row *r, const char *text, const char *mesh,
                        const char *dims)
{
    ridge_expr e;
    if (ridge_expr_parse(r->cx, text, mesh, dims, &e) != RIDGE_OK)
        fail_msg("%s: %s", r->id, ridge_ctx_message(r->cx));
    return e;
}

static int64_t local(const ridge_expr *e, const ridge_expr_tensor *t, int at)
{
    return ridge_dim_local(&e->mesh, &t->sharding.dims[at], e->dims[t->dims[at]].size);
}

static double local_elements(const ridge_expr *e, const ridge_expr_tensor *t,
                             const ridge_sharding *s)
{
    int64_t sizes[RIDGE_TENSOR_DIM_MAX];
    ridge_expr_tensor_sizes(e, t, sizes);
    return ridge_sharding_local_elements(&e->mesh, s, sizes);
}

static void local_shape(row *r)
{
    const ridge_expr e = parse(r, in_text(r, "sharding"), mesh_of(r), "I=128,J=2048");
    const ridge_expr_tensor *t = &e.inputs[0];
    const ridge_node shape = ridge_json_get(&r->expected, "local_shape");
    for (int d = 0; d < t->n_dims; d++) {
        int64_t length = 0;
        assert_true(ridge_json_i64(ridge_json_at(&shape, (size_t)d), &length));
        assert_int_equal(local(&e, t, d), length);
    }
    r->checked++;
    const double bytes =
        local_elements(&e, t, &t->sharding) * (double)in(r, "bytes_per_element");
    want(r, "bytes_per_device", bytes);
    want(r, "bytes_total", bytes * (double)ridge_mesh_size(&e.mesh));
}

static void illegal(row *r)
{
    ridge_expr e;
    const ridge_status st =
        ridge_expr_parse(r->cx, in_text(r, "sharding"), mesh_of(r), "I=8,J=8", &e);
    want(r, "valid", st == RIDGE_OK);
    assert_int_equal(st, RIDGE_E_ARG);
    assert_non_null(strstr(ridge_ctx_message(r->cx), "axis X cuts two dims"));
}

/* The first strategy, which sends the least, with dims of equal length. */
static ridge_strategy cheapest(const row *r, const ridge_expr *e)
{
    ridge_strategy *all = ridge_new(arena_of(r), ridge_strategy, RIDGE_STRATEGY_MAX);
    int n = 0;
    assert_non_null(all);
    assert_int_equal(ridge_expr_strategies(r->cx, e, all, &n), RIDGE_OK);
    assert_true(n > 0);
    return all[0];
}

static void matmul_case(row *r)
{
    const ridge_expr e =
        parse(r, in_text(r, "expression"), mesh_of(r), "I=1024,J=1024,K=1024");
    const ridge_strategy s = cheapest(r, &e);
    const ridge_node steps = ridge_json_get(&r->expected, "collectives");
    want(r, "case", ridge_expr_case(&e));
    assert_int_equal(ridge_json_size(steps), s.n_steps);
    for (int i = 0; i < s.n_steps; i++) {
        const char *wanted = "";
        ridge_buf got;
        ridge_buf_init(&got, arena_of(r));
        ridge_reshard_write(&e, &s.steps[i], &got);
        assert_true(ridge_json_text(ridge_json_at(&steps, (size_t)i), &wanted));
        assert_string_equal(ridge_buf_text(&got), wanted);
    }
    r->checked++;
}

static void transposes(row *r)
{
    static const struct {
        const char *key;
        ridge_step_kind kind;
    } rows[] = {{"allgather", RIDGE_STEP_ALL_GATHER},
                {"reducescatter", RIDGE_STEP_REDUCE_SCATTER}};
    for (size_t i = 0; i < RIDGE_COUNT_OF(rows); i++) {
        const ridge_reshard step = {.kind = rows[i].kind};
        const ridge_reshard back = ridge_reshard_transpose(&step);
        const char *wanted = "";
        assert_true(
            ridge_json_text(ridge_json_get(&r->expected, rows[i].key), &wanted));
        assert_string_equal(ridge_step_kind_text(back.kind), wanted);
        r->checked++;
    }
}

static void product_shapes(row *r)
{
    const char *dims = ridge_sprintf(arena_of(r), "B=%lld,D=%lld,F=%lld", in(r, "B"),
                                     in(r, "D"), in(r, "F"));
    const ridge_expr e =
        parse(r, "In[B@X,D@Y] * W[D@Y,F] -> Out[B@X,F]", mesh_of(r), dims);
    const ridge_strategy s = cheapest(r, &e);
    want(r, "in_rows", (double)local(&e, &e.inputs[0], 0));
    want(r, "in_cols", (double)local(&e, &e.inputs[0], 1));
    want(r, "w_rows", (double)local(&e, &e.inputs[1], 0));
    want(r, "w_cols", (double)local(&e, &e.inputs[1], 1));
    want(r, "out_rows", (double)local(&e, &e.output, 0));
    want(r, "out_cols", (double)local(&e, &e.output, 1));
    assert_int_equal(s.n_steps, 1);
    assert_int_equal(s.steps[0].kind, RIDGE_STEP_ALL_REDUCE);
    want(r, "all_reduce_bytes", s.steps[0].bytes);
}

/* What a block sends that gathers before its first matmul and scatters after its last.
 */
static void block_bytes(row *r)
{
    const char *dims =
        ridge_sprintf(arena_of(r), "B=%lld,D=%lld,F=8192", in(r, "B"), in(r, "D"));
    const char *mesh =
        ridge_sprintf(arena_of(r), "X=%lld,Y=%lld", in(r, "X"), in(r, "Y"));
    const ridge_expr up = parse(r, "In[B@X,D@Y] * W[D,F@Y] -> T[B@X,F@Y]", mesh, dims);
    const ridge_expr down =
        parse(r, "T[B@X,F@Y] * W[F@Y,D] -> Out[B@X,D@Y]", mesh, dims);
    const ridge_strategy before = cheapest(r, &up), after = cheapest(r, &down);
    assert_int_equal(before.steps[0].kind, RIDGE_STEP_ALL_GATHER);
    assert_int_equal(after.steps[0].kind, RIDGE_STEP_REDUCE_SCATTER);
    want(r, "all_gather_sent_bytes", ridge_strategy_sent_bytes(&up.mesh, &before));
    want(r, "reduce_scatter_sent_bytes", ridge_strategy_sent_bytes(&down.mesh, &after));
}

static void feed_forward_shapes(row *r)
{
    const char *dims =
        ridge_sprintf(arena_of(r), "B=%lld,T=%lld,D=%lld,F=%lld", in(r, "batch"),
                      in(r, "sequence_tokens"), in(r, "d_model"), in(r, "d_ff"));
    const char *mesh = ridge_sprintf(arena_of(r), "data=%lld,model=%lld",
                                     in(r, "data_parallel"), in(r, "model_parallel"));
    const ridge_expr e =
        parse(r, "In[B@data,T,D] * W[D,F@model] -> Out[B@data,T,F@model]", mesh, dims);
    const double tokens =
        (double)(local(&e, &e.inputs[0], 0) * local(&e, &e.inputs[0], 1));
    want(r, "local_batch", (double)local(&e, &e.inputs[0], 0));
    want(r, "local_d_ff", (double)local(&e, &e.inputs[1], 1));
    want(r, "tokens_per_data_shard", tokens);
    want(r, "local_output_bytes",
         2 * local_elements(&e, &e.output, &e.output.sharding));
}

/* The dim that shrank, and how many ranks it is scattered over. */
static void scatter_degree(row *r)
{
    const ridge_node was = ridge_json_get(&r->inputs, "in_shape");
    const ridge_node is = ridge_json_get(&r->inputs, "out_shape");
    const ridge_mesh mesh = {.n = 1, .axes = {{"x", 2}}};
    ridge_sharding s = {.n_dims = (int)ridge_json_size(was), .partial = 1};
    for (int d = 0; d < s.n_dims; d++) {
        int64_t from = 0, to = 0;
        assert_true(ridge_json_i64(ridge_json_at(&was, (size_t)d), &from));
        assert_true(ridge_json_i64(ridge_json_at(&is, (size_t)d), &to));
        const ridge_reshard step = {.kind = RIDGE_STEP_REDUCE_SCATTER,
                                    .n_axes = 1,
                                    .dim_from = -1,
                                    .dim_to = d};
        if (from == to)
            continue;
        assert_true(ridge_reshard_apply(&mesh, &s, &step));
        assert_int_equal(ridge_dim_local(&mesh, &s.dims[d], from), to);
        want(r, "ways", (double)ridge_reshard_ranks(&mesh, &step));
        want(r, "dimension", d);
    }
}

/* A product that stays within each shard, carried out rank by rank: no collective.
 * @param out  rank r's local entries, from r n on */
static void run_local(row *r, const ridge_expr *e, const int64_t *const *inputs,
                      int64_t *out)
{
    const ridge_strategy s = cheapest(r, e);
    mesh_array parts[2], product;
    seeded at = 1;
    assert_int_equal(s.n_steps, 0);
    for (int i = 0; i < 2; i++) {
        int64_t sizes[RIDGE_TENSOR_DIM_MAX];
        ridge_expr_tensor_sizes(e, &e->inputs[i], sizes);
        parts[i] = mesh_array_split(arena_of(r), &e->mesh, sizes,
                                    &e->inputs[i].sharding, inputs[i], &at);
    }
    assert_true(
        mesh_array_multiply(arena_of(r), e, parts, &e->output.sharding, &product));
    memcpy(out, product.values,
           (size_t)(ridge_mesh_size(&e->mesh) * product.n_local) * sizeof *out);
}

/* The mean over what each rank has of S, of the entries' own numbers. */
static void shard_mean(row *r)
{
    enum { MOST = 1024 };
    const int64_t ranks = in(r, "X"), n = in(r, "S") / ranks;
    const ridge_expr e =
        parse(r, "a[G@X,S] * ones[S] -> sum[G@X]",
              ridge_sprintf(arena_of(r), "X=%d", (int)ranks),
              ridge_sprintf(arena_of(r), "G=%d,S=%d", (int)ranks, (int)n));
    int64_t a[MOST], ones[MOST], sum[MOST];
    assert_true(ranks * n <= MOST);
    for (int64_t i = 0; i < ranks * n; i++) {
        a[i] = i;
        ones[i] = 1;
    }
    run_local(r, &e, (const int64_t *const[]){a, ones}, sum);
    for (int64_t rank = 0; rank < ranks; rank++)
        want(r, ridge_sprintf(arena_of(r), "mean_%d", (int)rank),
             (double)sum[rank] / (double)n);
    want(r, "collectives", cheapest(r, &e).n_steps);
}

/* A roll within each shard, as a product with a permutation of its entries. */
static void shard_roll(row *r)
{
    enum { MOST = 64 };
    const int64_t ranks = in(r, "shards"), n = in(r, "elements") / ranks;
    const ridge_expr e =
        parse(r, "x[G@X,S] * turn[S,T] -> y[G@X,T]",
              ridge_sprintf(arena_of(r), "X=%d", (int)ranks),
              ridge_sprintf(arena_of(r), "G=%d,S=%d,T=%d", (int)ranks, (int)n, (int)n));
    int64_t x[MOST], turn[MOST] = {0}, y[MOST];
    assert_true(ranks * n <= MOST && n * n <= MOST);
    for (int64_t i = 0; i < ranks * n; i++)
        x[i] = i;
    for (int64_t s = 0; s < n; s++)
        turn[s * n + (s + in(r, "shift")) % n] = 1;
    run_local(r, &e, (const int64_t *const[]){x, turn}, y);
    for (int64_t i = 0; i < ranks * n; i++) {
        r->checked = 0;
        want(r, "first_of_shard", (double)(y[i - i % n] - x[i - i % n]));
        want(r, "others", (double)(i % n ? y[i] - x[i] : y[1] - x[1]));
    }
}

/* FLOPs of a product, and the elements of a tensor of it. */
static double flops_of(const row *r, const char *text, const char *tensor,
                       double *elements)
{
    const char *whole = ridge_sprintf(
        arena_of(r),
        "program experts train\ndims S=%lld D=%lld F=%lld E=%lld\nblock b\n%s\n",
        in(r, "S"), in(r, "D"), in(r, "F"), in(r, "E"), text);
    const ridge_program *p;
    if (ridge_program_parse(r->cx, ridge_str_of(whole), r->id, &p) != RIDGE_OK)
        fail_msg("%s: %s", r->id, ridge_ctx_message(r->cx));
    const int t = ridge_program_tensor_find(p, tensor);
    assert_true(t >= 0);
    *elements = ridge_tensor_elements(p, &p->tensors[t]);
    return ridge_program_count(p).matmul_flops;
}

/* Weights gathered for each token; each expert's buffer as long as all tokens; rows
 * sorted by expert, each multiplied once. */
static void expert_buffers(row *r)
{
    double weights, padded, ragged;
    flops_of(r,
             "weight x[S,D] bf16\nweight w[S,D,F] bf16\n"
             "h[S,F] bf16 = einsum x, w",
             "w", &weights);
    const double padded_flops = flops_of(r,
                                         "weight x[E,S,D] bf16\nweight w[E,D,F] bf16\n"
                                         "h[E,S,F] bf16 = einsum x, w",
                                         "x", &padded);
    const double ragged_flops = flops_of(r,
                                         "weight x[S,D] bf16\nweight w[D,F] bf16\n"
                                         "h[S,F] bf16 = einsum x, w",
                                         "x", &ragged);
    want(r, "gathered_weight_elements", weights);
    want(r, "padded_buffer_elements", padded);
    want(r, "ragged_buffer_elements", ragged);
    want(r, "padded_flops", padded_flops);
    want(r, "ragged_flops", ragged_flops);
}

static void check_row(row *r)
{
    static const struct {
        const char *prefix;
        void (*compute)(row *r);
    } kinds[] = {{"ch3-pq1", local_shape},
                 {"ch3-invalid", illegal},
                 {"ch3-case-", matmul_case},
                 {"ch3-q6", matmul_case},
                 {"ch3-vjp", transposes},
                 {"ch10-local-shapes", product_shapes},
                 {"ch10-p3-block-bytes", block_bytes},
                 {"ch10-p1-shard-mean", shard_mean},
                 {"ch10-p1-roll", shard_roll},
                 {"ch10-p2-moe-buffers", expert_buffers},
                 {"ch9-ffw-local-shapes", feed_forward_shapes},
                 {"ch9-reduce-scatter-degree", scatter_degree}};
    for (size_t i = 0; i < RIDGE_COUNT_OF(kinds); i++) {
        if (strncmp(r->id, kinds[i].prefix, strlen(kinds[i].prefix)) != 0)
            continue;
        kinds[i].compute(r);
        if (r->checked != (int)ridge_json_size(r->expected))
            fail_msg("%s: %d members compared", r->id, r->checked);
        return;
    }
    fail_msg("%s: no function computes it", r->id);
}

static void published_shardings_are_reproduced(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    assert_non_null(cx);
    const char *path = RIDGE_TEST_DIR "/golden/published/sharding.jsonl";
    ridge_str rest;
    int rows = 0;
    assert_int_equal(ridge_file_read(cx, path, 1 << 20, &rest), RIDGE_OK);
    while (rest.p && rest.n > 0) {
        row r = {.cx = cx};
        ridge_node node;
        assert_int_equal(ridge_json_parse(cx, ridge_str_cut(&rest, '\n'), path, &node),
                         RIDGE_OK);
        r.inputs = ridge_json_get(&node, "inputs");
        r.expected = ridge_json_get(&node, "expected");
        assert_true(ridge_json_text(ridge_json_get(&node, "id"), &r.id));
        assert_true(ridge_json_double(ridge_json_get(&node, "rel_tol"), &r.rel_tol));
        check_row(&r);
        rows++;
    }
    assert_int_equal(rows, 19);
    ridge_ctx_close(cx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_shardings_are_reproduced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
