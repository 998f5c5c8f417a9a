/*
 * Laws of checkpoints: what ranks of one mesh save, ranks of any other read back, each
 * element once, in either format, whatever the strides on both sides.
 */
#include "near.h"

#include "own_folder.h"
#include "seeded.h"

#include "ridge/execute_weights.h"

#include <string.h>

enum { TRIALS = 40, RANKS_MAX = 8, TENSORS = 3, SIDE_MAX = 9 };

/* A tensor whose element at a flat index is that index. */
typedef struct tensor {
    const char *name;
    int64_t layer;
    ridge_element element;
    int n_dims;
    int64_t shape[RIDGE_TENSOR_DIM_MAX];
    int64_t ways[RIDGE_TENSOR_DIM_MAX]; /* of the mesh that saves; product <= ranks */
} tensor;

static int64_t ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

/* Cut each dim at random while there are ranks. */
static void draw_ways(seeded *at, const tensor *t, int64_t ranks, int64_t *ways)
{
    for (int d = 0; d < t->n_dims; d++) {
        ways[d] = seeded_pick(at, 1, ranks);
        ranks /= ways[d];
    }
}

static tensor draw_tensor(seeded *at, int index)
{
    static const char *const NAMES[TENSORS] = {"wq", "m_wq", "embedding"};
    tensor t = {.name = NAMES[index], .layer = index < 2 ? seeded_pick(at, 0, 3) : -1};
    t.element = (ridge_element)seeded_pick(at, 0, 2);
    t.n_dims = (int)seeded_pick(at, 0, 4);
    for (int d = 0; d < t.n_dims; d++)
        t.shape[d] = seeded_pick(at, 1, SIDE_MAX);
    return t;
}

/* The part of rank @p rank, in chunks rounded up: the last ones may be short or empty.
 * @return false: this rank has no part */
static bool region_of(const tensor *t, const int64_t *ways, int64_t rank,
                      ridge_region *out)
{
    *out = (ridge_region){.n_dims = t->n_dims};
    bool has_some = true;
    for (int d = t->n_dims; d-- > 0; rank /= ways[d]) {
        const int64_t chunk = ceil_div(t->shape[d], ways[d]), at = rank % ways[d];
        out->shape[d] = t->shape[d];
        out->start[d] = at * chunk < t->shape[d] ? at * chunk : t->shape[d];
        const int64_t rest = t->shape[d] - out->start[d];
        out->count[d] = rest < chunk ? rest : chunk;
        has_some = has_some && out->count[d] > 0;
    }
    return rank == 0 && has_some;
}

/* ---- arrays ---------------------------------------------------------------------- */

static uint16_t bf16_of(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return (uint16_t)(bits >> 16); /* exact for what is tested */
}

static void store(ridge_element element, void *p, int64_t index, int64_t value)
{
    const int32_t i = (int32_t)value;
    const float f = (float)(value % 128); /* exact in bf16 */
    const uint16_t h = bf16_of(f);
    char *to = (char *)p + (size_t)index * ridge_element_bytes(element);
    if (element == RIDGE_ELEMENT_I32)
        memcpy(to, &i, sizeof i);
    else if (element == RIDGE_ELEMENT_F32)
        memcpy(to, &f, sizeof f);
    else
        memcpy(to, &h, sizeof h);
}

/* Padded rows: strides as of an array with one more element in each dim. */
static int64_t draw_strides(seeded *at, const ridge_region *g, int64_t *strides)
{
    int64_t step = 1;
    const int64_t pad = seeded_pick(at, 0, 1);
    for (int d = g->n_dims; d-- > 0; step *= g->count[d] + pad)
        strides[d] = step;
    return step;
}

typedef void visit_fn(void *payload, int64_t offset, int64_t value);

/* Each element of a region: where it is by strides, and its index in the whole. */
static void visit(const ridge_region *g, const int64_t *strides, visit_fn *fn,
                  void *payload)
{
    const int64_t n = ridge_region_elements(g);
    for (int64_t i = 0; i < n; i++) {
        int64_t rest = i, offset = 0, value = 0, step = 1;
        for (int d = g->n_dims; d-- > 0; step *= g->shape[d]) {
            const int64_t at = rest % g->count[d];
            rest /= g->count[d];
            offset += at * strides[d];
            value += (g->start[d] + at) * step;
        }
        fn(payload, offset, value);
    }
}

typedef struct array {
    ridge_element element;
    void *data;
} array;

static void fill_one(void *payload, int64_t offset, int64_t value)
{
    const array *a = payload;
    store(a->element, a->data, offset, value);
}

static void check_one(void *payload, int64_t offset, int64_t value)
{
    const array *a = payload;
    const size_t bytes = ridge_element_bytes(a->element);
    char want[4];
    store(a->element, want, 0, value);
    assert_memory_equal((char *)a->data + (size_t)offset * bytes, want, bytes);
}

/* ---- saving ---------------------------------------------------------------------- */

static ridge_status fetch(ridge_ctx *cx, void *payload, size_t index, void *out)
{
    const ridge_checkpoint_part *parts = payload;
    const ridge_region *g = &parts[index].region;
    int64_t strides[RIDGE_TENSOR_DIM_MAX], step = 1;
    array a = {parts[index].element, out};
    assert_non_null(cx);
    for (int d = g->n_dims; d-- > 0; step *= g->count[d])
        strides[d] = step;
    visit(g, strides, fill_one, &a);
    return RIDGE_OK;
}

static size_t draw_parts(ridge_ctx *cx, seeded *at, const tensor *tensors, int rank,
                         ridge_checkpoint_part *parts)
{
    size_t n = 0;
    for (int i = 0; i < TENSORS; i++) {
        const tensor *t = &tensors[i];
        ridge_checkpoint_part p = {
            .name = t->name, .layer = t->layer, .element = t->element};
        if (!region_of(t, t->ways, rank, &p.region))
            continue;
        if (seeded_pick(at, 0, 2) > 0) {
            int64_t *strides = ridge_new(ridge_ctx_arena(cx), int64_t, 8);
            const int64_t size = draw_strides(at, &p.region, strides);
            array a = {t->element, ridge_new(ridge_ctx_arena(cx), float, (size_t)size)};
            visit(&p.region, strides, fill_one, &a);
            p.strides = strides;
            p.data = a.data;
        }
        parts[n++] = p;
    }
    return n;
}

static void save(ridge_ctx *cx, seeded *at, const ridge_checkpoint_plan *plan,
                 const tensor *tensors)
{
    assert_done(cx, ridge_checkpoint_begin(cx, plan));
    for (int rank = 0; rank < plan->ranks; rank++) {
        ridge_checkpoint_part parts[TENSORS];
        const size_t n = draw_parts(cx, at, tensors, rank, parts);
        const ridge_checkpoint_share share = {rank, n, parts, fetch, parts};
        assert_done(cx, ridge_checkpoint_write_rank(cx, plan, &share));
    }
    assert_done(cx, ridge_checkpoint_commit(cx, plan, NULL));
}

/* ---- loading --------------------------------------------------------------------- */

static void check_region(ridge_ctx *cx, seeded *at, const ridge_checkpoint_reader *r,
                         const tensor *t, const ridge_region *g)
{
    int64_t strides[RIDGE_TENSOR_DIM_MAX];
    const int64_t size = draw_strides(at, g, strides);
    const bool is_whole_number = t->element == RIDGE_ELEMENT_I32;
    array a = {is_whole_number ? t->element : (ridge_element)seeded_pick(at, 0, 1),
               ridge_new(ridge_ctx_arena(cx), float, (size_t)size + 1)};
    const ridge_checkpoint_part want = {.name = t->name,
                                        .layer = t->layer,
                                        .element = a.element,
                                        .region = *g,
                                        .strides = strides};
    assert_done(cx, ridge_checkpoint_reader_read(cx, r, &want, a.data));
    visit(g, strides, check_one, &a);
}

static void load(ridge_ctx *cx, seeded *at, const char *dir, const tensor *tensors)
{
    const ridge_checkpoint_reader *r;
    assert_done(cx, ridge_checkpoint_reader_open(cx, dir, &r));
    assert_int_equal(ridge_checkpoint_reader_count(r), TENSORS);
    for (int i = 0; i < TENSORS; i++) {
        int64_t ways[RIDGE_TENSOR_DIM_MAX] = {0};
        const int64_t ranks = seeded_pick(at, 1, RANKS_MAX);
        draw_ways(at, &tensors[i], ranks, ways);
        for (int64_t rank = 0; rank < ranks; rank++) {
            ridge_region g;
            if (region_of(&tensors[i], ways, rank, &g))
                check_region(cx, at, r, &tensors[i], &g);
        }
    }
}

static void another_mesh_reads_what_one_mesh_saved(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= TRIALS; seed++) {
        seeded at = seed;
        ridge_ctx *cx = ridge_ctx_open();
        const char *dir = own_folder(cx, "test_checkpoint_laws.dir");
        tensor tensors[TENSORS];
        const ridge_checkpoint_plan plan = {.dir = dir,
                                            .step = (int64_t)seed,
                                            .ranks =
                                                (int)seeded_pick(&at, 1, RANKS_MAX),
                                            .model = "random"};
        print_message("seed %d\n", (int)seed);
        for (int i = 0; i < TENSORS; i++) {
            tensors[i] = draw_tensor(&at, i);
            draw_ways(&at, &tensors[i], plan.ranks, tensors[i].ways);
        }
        save(cx, &at, &plan, tensors);
        load(cx, &at, dir, tensors);
        own_folder_remove(dir);
        ridge_ctx_close(cx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_mesh_reads_what_one_mesh_saved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
