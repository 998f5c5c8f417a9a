/* Elementwise functions, forward, with operands that are repeated or strided. */
#include "kernel_simd.h"

/* ---- functions ------------------------------------------------------------------- */

/* c holds the factor of SCALE; functions of one input get it as b too. */
static vec f_add(vec a, vec b, vec c)
{
    (void)c;
    return a + b;
}
static vec f_multiply(vec a, vec b, vec c)
{
    (void)c;
    return a * b;
}
static vec f_silu(vec a, vec b, vec c)
{
    (void)b, (void)c;
    return a * vec_sigmoid(a);
}
static vec f_swiglu(vec a, vec b, vec c)
{
    return f_silu(a, a, c) * b;
}
static vec f_gelu(vec a, vec b, vec c)
{
    (void)b, (void)c;
    const vec half = vec_set(0.5f) * a;
    return half + half * vec_erf(a * vec_set(0x1.6a09e6p-1f));
}
static vec f_gelu_tanh(vec a, vec b, vec c)
{
    (void)b, (void)c;
    return a * vec_sigmoid(vec_gelu_tanh(a));
}
static vec f_geglu(vec a, vec b, vec c)
{
    return f_gelu(a, a, c) * b;
}
static vec f_relu(vec a, vec b, vec c)
{
    (void)b, (void)c;
    return vec_max(vec_zero(), a);
}
static vec f_relu2(vec a, vec b, vec c)
{
    const vec y = f_relu(a, b, c);
    return y * y;
}
static vec f_sigmoid(vec a, vec b, vec c)
{
    (void)b, (void)c;
    return vec_sigmoid(a);
}

static vec f_softplus(vec a, vec b, vec c)
{
    (void)b, (void)c;
    return vec_softplus(a);
}
static vec f_exp(vec a, vec b, vec c)
{
    (void)b, (void)c;
    return vec_exp(a);
}

static void apply(ridge_function function, const float *a, const float *b, float *y,
                  int64_t n)
{
    switch (function) {
    case RIDGE_FUNCTION_ADD:
        row_map(a, b, b, y, n, f_add);
        return;
    case RIDGE_FUNCTION_MULTIPLY:
        row_map(a, b, b, y, n, f_multiply);
        return;
    case RIDGE_FUNCTION_SWIGLU:
        row_map(a, b, b, y, n, f_swiglu);
        return;
    case RIDGE_FUNCTION_GELU:
        row_map(a, a, a, y, n, f_gelu);
        return;
    case RIDGE_FUNCTION_GELU_TANH:
        row_map(a, a, a, y, n, f_gelu_tanh);
        return;
    case RIDGE_FUNCTION_GEGLU:
        row_map(a, b, b, y, n, f_geglu);
        return;
    case RIDGE_FUNCTION_RELU:
        row_map(a, a, a, y, n, f_relu);
        return;
    case RIDGE_FUNCTION_RELU2:
        row_map(a, a, a, y, n, f_relu2);
        return;
    case RIDGE_FUNCTION_SILU:
        row_map(a, a, a, y, n, f_silu);
        return;
    case RIDGE_FUNCTION_SIGMOID:
        row_map(a, a, a, y, n, f_sigmoid);
        return;
    case RIDGE_FUNCTION_SOFTPLUS:
        row_map(a, a, a, y, n, f_softplus);
        return;
    case RIDGE_FUNCTION_EXP:
        row_map(a, a, a, y, n, f_exp);
        return;
    case RIDGE_FUNCTION_COPY:
    case RIDGE_FUNCTION_SCALE:
    case RIDGE_FUNCTION_ROTARY:
    case RIDGE_FUNCTION_APPEND:
        return;
    }
}

/* ---- dims ------------------------------------------------------------------------ */

/** Without dims of size 1, and with neighbours joined that lie behind each other in
 * both operands. The innermost dim is last; at least one is left. */
static void join_dims(ridge__elementwise *e)
{
    int kept = 0;
    for (int i = 0; i < e->n_dims; i++) {
        if (e->sizes[i] == 1)
            continue;
        const int last = kept - 1;
        const bool is_joined =
            kept > 0 && e->a_strides[last] == e->a_strides[i] * e->sizes[i] &&
            (e->b.p == NULL || e->b_strides[last] == e->b_strides[i] * e->sizes[i]);
        const int to = is_joined ? last : kept++;
        e->sizes[to] = is_joined ? e->sizes[last] * e->sizes[i] : e->sizes[i];
        e->a_strides[to] = e->a_strides[i];
        e->b_strides[to] = e->b_strides[i];
    }
    if (kept == 0) {
        e->sizes[0] = 1;
        e->a_strides[0] = e->b_strides[0] = 1;
        kept = 1;
    }
    e->n_dims = kept;
}

/** Where a row of the innermost dim begins in an operand. */
static int64_t row_offset(const ridge__elementwise *e, const int64_t *strides,
                          int64_t row)
{
    int64_t at = 0;
    for (int i = e->n_dims - 2; i >= 0; i--) {
        at += row % e->sizes[i] * strides[i];
        row /= e->sizes[i];
    }
    return at;
}

/** n elements of an operand, stride apart, in fp32. */
static const float *operand_read(ridge__array x, int64_t at, int64_t stride, int64_t n,
                                 float *room)
{
    if (stride == 1)
        return row_read(x, at, n, room);
    if (stride == 0) {
        const float value = element_read(x, at);
        for (int64_t i = 0; i < n; i++)
            room[i] = value;
        return room;
    }
    for (int64_t i = 0; i < n; i++)
        room[i] = element_read(x, at + i * stride);
    return room;
}

/* ---- running --------------------------------------------------------------------- */

/** Columns `column` .. column + n of a row; a and b are where the row begins. */
typedef struct run {
    int64_t row, column, n, a, b;
} run;

static void run_chunk(const ridge__elementwise *e, run r)
{
    float a_room[ROW], b_room[ROW], y_room[ROW];
    const int inner = e->n_dims - 1;
    const int64_t to = r.row * e->sizes[inner] + r.column;
    const int64_t sa = e->a_strides[inner], sb = e->b_strides[inner];
    const float *a = operand_read(e->a, r.a + r.column * sa, sa, r.n, a_room);
    const float *b =
        e->b.p == NULL ? a : operand_read(e->b, r.b + r.column * sb, sb, r.n, b_room);
    float *y = row_begin(e->y, to, y_room);
    if (e->function == RIDGE_FUNCTION_SCALE)
        row_scale(y, a, e->scale, r.n);
    else if (e->function == RIDGE_FUNCTION_COPY)
        row_scale(y, a, 1.0f, r.n);
    else
        apply(e->function, a, b, y, r.n);
    row_end(e->y, to, r.n, y);
}

static void elementwise_part(void *payload, int worker, int workers)
{
    const ridge__elementwise *e = payload;
    const int64_t inner = e->sizes[e->n_dims - 1];
    int64_t total = 1;
    for (int i = 0; i < e->n_dims; i++)
        total *= e->sizes[i];
    const ridge__part part = ridge__part_of(total, 64, worker, workers);
    int64_t at = part.first;
    while (at < part.end) {
        run r = {.row = at / inner, .column = at % inner};
        r.a = row_offset(e, e->a_strides, r.row);
        r.b = e->b.p == NULL ? 0 : row_offset(e, e->b_strides, r.row);
        const int64_t rest = inner - r.column;
        const int64_t stop = at + rest < part.end ? at + rest : part.end;
        for (; at < stop; at += r.n, r.column += r.n) {
            r.n = stop - at < ROW ? stop - at : ROW;
            run_chunk(e, r);
        }
    }
}

static bool is_empty(const ridge__elementwise *e)
{
    for (int i = 0; i < e->n_dims; i++) {
        if (e->sizes[i] <= 0)
            return true;
    }
    return false;
}

ridge_status RIDGE__KERNEL(elementwise)(ridge__device *d, const ridge__elementwise *e)
{
    ridge__elementwise job = *e;
    if (is_empty(e))
        return RIDGE_OK;
    join_dims(&job);
    int64_t total = 1;
    for (int i = 0; i < job.n_dims; i++)
        total *= job.sizes[i];
    work_share(d, elementwise_part, &job, total);
    return RIDGE_OK;
}
