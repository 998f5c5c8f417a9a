/* Gradients of elementwise functions over dense operands. */
#include "kernel_simd.h"

/** The gradients of one function; a is the first operand, b the second (a, of functions
 * of one), s what the function scales by. */
typedef struct slopes {
    vec a, b;
} slopes;

typedef slopes slopes_of(vec dy, vec a, vec b, vec s);

static slopes g_add(vec dy, vec a, vec b, vec s)
{
    (void)a, (void)b, (void)s;
    return (slopes){dy, dy};
}
static slopes g_multiply(vec dy, vec a, vec b, vec s)
{
    (void)s;
    return (slopes){dy * b, dy * a};
}
static slopes g_scale(vec dy, vec a, vec b, vec s)
{
    (void)a, (void)b;
    return (slopes){dy * s, vec_zero()};
}
static slopes g_sigmoid(vec dy, vec a, vec b, vec s)
{
    (void)b, (void)s;
    const vec y = vec_sigmoid(a);
    return (slopes){dy * y * (vec_set(1.0f) - y), vec_zero()};
}
/* (a sigmoid(a))' = sigmoid(a) (1 + a (1 - sigmoid(a))) */
static slopes g_swiglu(vec dy, vec a, vec b, vec s)
{
    (void)s;
    const vec one = vec_set(1.0f), y = vec_sigmoid(a);
    return (slopes){dy * b * y * (one + a * (one - y)), dy * a * y};
}
static slopes g_silu(vec dy, vec a, vec b, vec s)
{
    (void)b;
    return g_swiglu(dy, a, vec_set(1.0f), s);
}
/* gelu(a)' = Phi(a) + a phi(a) */
static slopes g_geglu(vec dy, vec a, vec b, vec s)
{
    (void)s;
    const vec half = vec_set(0.5f);
    const vec below = half + half * vec_erf(a * vec_set(0x1.6a09e6p-1f));
    const vec density = vec_set(0x1.988454p-2f) * vec_exp(-half * a * a);
    return (slopes){dy * b * (below + a * density), dy * a * below};
}
static slopes g_gelu(vec dy, vec a, vec b, vec s)
{
    (void)b;
    return g_geglu(dy, a, vec_set(1.0f), s);
}
/* (a s(u))' = s + a s (1 - s) u', u' = sqrt(8 / pi) (1 + 3 0.044715 a^2) */
static slopes g_gelu_tanh(vec dy, vec a, vec b, vec s)
{
    (void)b, (void)s;
    const vec below = vec_sigmoid(vec_gelu_tanh(a));
    const vec rise = VEC_STEP(vec_set(0x1.b6676cp-3f), a * a, 0x1.988454p+0f);
    const vec above = vec_set(1.0f) - below;
    return (slopes){dy * (below + a * rise * below * above), vec_zero()};
}
static slopes g_relu(vec dy, vec a, vec b, vec s)
{
    (void)b, (void)s;
    return (slopes){vec_choose(vec_zero(), a, dy, vec_zero()), vec_zero()};
}
static slopes g_relu2(vec dy, vec a, vec b, vec s)
{
    (void)b, (void)s;
    return (slopes){dy * vec_set(2.0f) * vec_max(vec_zero(), a), vec_zero()};
}

static slopes g_softplus(vec dy, vec a, vec b, vec s)
{
    (void)b, (void)s;
    return (slopes){dy * vec_sigmoid(a), vec_zero()};
}
static slopes g_exp(vec dy, vec a, vec b, vec s)
{
    (void)b, (void)s;
    return (slopes){dy * vec_exp(a), vec_zero()};
}

/** Rows of the operands, and where their gradients go (NULL: not wanted), which may be
 * where an operand lies. */
typedef struct slope_rows {
    const float *dy, *a, *b;
    float *da, *db;
    float scale;
} slope_rows;

RIDGE__INLINE void each(const slope_rows *rows, int64_t n, slopes_of *g)
{
    const slope_rows r = *rows;
    const vec s = vec_set(r.scale);
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        const slopes y = g(vec_load(r.dy + i), vec_load(r.a + i), vec_load(r.b + i), s);
        if (r.da != NULL)
            vec_store(r.da + i, y.a);
        if (r.db != NULL)
            vec_store(r.db + i, y.b);
    }
    if (i == n)
        return;
    const int64_t k = n - i;
    const slopes y =
        g(vec_load_n(r.dy + i, k), vec_load_n(r.a + i, k), vec_load_n(r.b + i, k), s);
    if (r.da != NULL)
        vec_store_n(r.da + i, y.a, k);
    if (r.db != NULL)
        vec_store_n(r.db + i, y.b, k);
}

static void apply(ridge_function function, const slope_rows *r, int64_t n)
{
    switch (function) {
    case RIDGE_FUNCTION_COPY:
    case RIDGE_FUNCTION_ADD:
        each(r, n, g_add);
        return;
    case RIDGE_FUNCTION_MULTIPLY:
        each(r, n, g_multiply);
        return;
    case RIDGE_FUNCTION_SWIGLU:
        each(r, n, g_swiglu);
        return;
    case RIDGE_FUNCTION_GELU:
        each(r, n, g_gelu);
        return;
    case RIDGE_FUNCTION_GELU_TANH:
        each(r, n, g_gelu_tanh);
        return;
    case RIDGE_FUNCTION_GEGLU:
        each(r, n, g_geglu);
        return;
    case RIDGE_FUNCTION_RELU:
        each(r, n, g_relu);
        return;
    case RIDGE_FUNCTION_RELU2:
        each(r, n, g_relu2);
        return;
    case RIDGE_FUNCTION_SILU:
        each(r, n, g_silu);
        return;
    case RIDGE_FUNCTION_SIGMOID:
        each(r, n, g_sigmoid);
        return;
    case RIDGE_FUNCTION_SOFTPLUS:
        each(r, n, g_softplus);
        return;
    case RIDGE_FUNCTION_EXP:
        each(r, n, g_exp);
        return;
    case RIDGE_FUNCTION_SCALE:
        each(r, n, g_scale);
        return;
    case RIDGE_FUNCTION_ROTARY:
    case RIDGE_FUNCTION_APPEND:
        return;
    }
}

static void run_chunk(const ridge__elementwise *e, int64_t i, int64_t n)
{
    float dy_room[ROW], a_room[ROW], b_room[ROW], da_room[ROW], db_room[ROW];
    slope_rows r = {.dy = row_read(e->d_y, i, n, dy_room), .scale = e->scale};
    r.a = e->a.p == NULL ? r.dy : row_read(e->a, i, n, a_room);
    r.b = e->b.p == NULL ? r.a : row_read(e->b, i, n, b_room);
    r.da = e->d_a.p == NULL ? NULL : row_begin(e->d_a, i, da_room);
    r.db = e->d_b.p == NULL ? NULL : row_begin(e->d_b, i, db_room);
    apply(e->function, &r, n);
    if (r.da != NULL)
        row_end(e->d_a, i, n, r.da);
    if (r.db != NULL)
        row_end(e->d_b, i, n, r.db);
}

static void backward_part(void *payload, int worker, int workers)
{
    const ridge__elementwise *e = payload;
    const ridge__part part = ridge__part_of(e->sizes[0], 64, worker, workers);
    for (int64_t i = part.first; i < part.end; i += ROW)
        run_chunk(e, i, part.end - i < ROW ? part.end - i : ROW);
}

ridge_status RIDGE__KERNEL(elementwise_backward)(ridge__device *d,
                                                 const ridge__elementwise *e)
{
    ridge__elementwise job = *e;
    work_share(d, backward_part, &job, e->sizes[0]);
    return RIDGE_OK;
}
