/* What one rank computes: einsums, elementwise functions, norms, lookups, updates. As
 * written in program.h, in the plainest way. */
#include "mesh_machine.h"

#include "near.h"

#include <math.h>

static const ridge_program *program_of(const mesh_call *call)
{
    return mesh_machine_program(call->machine);
}

static void run_einsum(const mesh_call *call)
{
    int64_t g[RIDGE_PROGRAM_DIM_MAX];
    mesh_walk w = {.n = 0};
    mesh_walk_array(&w, call->out[0], 0);
    for (int i = 0; i < call->op->n_inputs; i++)
        mesh_walk_array(&w, call->in[i], 0);
    for (bool more = mesh_walk_first(&w, g); more; more = mesh_walk_next(&w, g)) {
        double product = 1.0;
        for (int i = 0; i < call->op->n_inputs; i++)
            product *= *mesh_at(call->in[i], g);
        *mesh_at(call->out[0], g) += product;
    }
}

/* ---- elementwise ---------------------------------------------------------------- */

static double sigmoid(double x)
{
    return 1.0 / (1.0 + exp(-x));
}

static double gelu(double x)
{
    return x * (1.0 + erf(x / sqrt(2.0))) / 2.0;
}

static double gelu_tanh(double x)
{
    const double t = sqrt(2.0 / acos(-1.0)) * (x + 0.044715 * x * x * x);
    return 0.5 * x * (1.0 + tanh(t));
}

static double gelu_tanh_slope(double x)
{
    const double by = sqrt(2.0 / acos(-1.0));
    const double t = tanh(by * (x + 0.044715 * x * x * x));
    return 0.5 * (1.0 + t) +
           0.5 * x * (1.0 - t * t) * by * (1.0 + 3.0 * 0.044715 * x * x);
}

static double gelu_slope(double x)
{
    return (1.0 + erf(x / sqrt(2.0))) / 2.0 +
           x * exp(-x * x / 2.0) / sqrt(2.0 * acos(-1.0));
}

static double silu_slope(double x)
{
    const double s = sigmoid(x);
    return s + x * s * (1.0 - s);
}

static double function_value(const ridge_operation *op, double a, double b)
{
    switch (op->function) {
    case RIDGE_FUNCTION_COPY:
    case RIDGE_FUNCTION_APPEND:
    case RIDGE_FUNCTION_ROTARY:
        return a;
    case RIDGE_FUNCTION_ADD:
        return a + b;
    case RIDGE_FUNCTION_MULTIPLY:
        return a * b;
    case RIDGE_FUNCTION_SWIGLU:
        return a * sigmoid(a) * b;
    case RIDGE_FUNCTION_GELU:
        return gelu(a);
    case RIDGE_FUNCTION_GELU_TANH:
        return gelu_tanh(a);
    case RIDGE_FUNCTION_GEGLU:
        return gelu(a) * b;
    case RIDGE_FUNCTION_RELU:
        return fmax(a, 0.0);
    case RIDGE_FUNCTION_RELU2:
        return fmax(a, 0.0) * fmax(a, 0.0);
    case RIDGE_FUNCTION_SILU:
        return a * sigmoid(a);
    case RIDGE_FUNCTION_SIGMOID:
        return sigmoid(a);
    case RIDGE_FUNCTION_SOFTPLUS:
        return log1p(exp(-fabs(a))) + fmax(a, 0.0);
    case RIDGE_FUNCTION_EXP:
        return exp(a);
    case RIDGE_FUNCTION_SCALE:
        return a * op->scale;
    }
    fail_msg("unknown function");
    return 0.0;
}

/* By its first or second input. */
static double function_slope(ridge_function f, int by, double a, double b)
{
    switch (f) {
    case RIDGE_FUNCTION_SWIGLU:
        return by == 0 ? silu_slope(a) * b : a * sigmoid(a);
    case RIDGE_FUNCTION_GEGLU:
        return by == 0 ? gelu_slope(a) * b : gelu(a);
    case RIDGE_FUNCTION_GELU:
        return gelu_slope(a);
    case RIDGE_FUNCTION_GELU_TANH:
        return gelu_tanh_slope(a);
    case RIDGE_FUNCTION_RELU:
        return a > 0.0 ? 1.0 : 0.0;
    case RIDGE_FUNCTION_RELU2:
        return 2.0 * fmax(a, 0.0);
    case RIDGE_FUNCTION_SILU:
        return silu_slope(a);
    case RIDGE_FUNCTION_SIGMOID:
        return sigmoid(a) * (1.0 - sigmoid(a));
    case RIDGE_FUNCTION_SOFTPLUS:
        return sigmoid(a);
    case RIDGE_FUNCTION_EXP:
        return exp(a);
    case RIDGE_FUNCTION_COPY:
    case RIDGE_FUNCTION_ADD:
    case RIDGE_FUNCTION_MULTIPLY:
    case RIDGE_FUNCTION_ROTARY:
    case RIDGE_FUNCTION_SCALE:
    case RIDGE_FUNCTION_APPEND:
        break;
    }
    fail_msg("a function without a backward operation of its own");
    return 0.0;
}

/* Inputs hold the same parts as the output; only a copy may keep a slice of its own. */
static void run_function(const mesh_call *call)
{
    int64_t g[RIDGE_PROGRAM_DIM_MAX];
    mesh_walk w = {.n = 0};
    mesh_walk_array(&w, call->out[0], 0);
    for (int i = 0; call->op->function != RIDGE_FUNCTION_COPY && i < call->op->n_inputs;
         i++)
        mesh_walk_array(&w, call->in[i], 0);
    for (bool more = mesh_walk_first(&w, g); more; more = mesh_walk_next(&w, g)) {
        const double a = *mesh_at(call->in[0], g);
        const double b = call->op->n_inputs > 1 ? *mesh_at(call->in[1], g) : 0.0;
        *mesh_at(call->out[0], g) = function_value(call->op, a, b);
    }
}

static void run_function_backward(const mesh_call *call)
{
    const int n = call->op->n_inputs - 1;
    int64_t g[RIDGE_PROGRAM_DIM_MAX];
    mesh_walk w = {.n = 0};
    for (int i = 0; i <= n; i++)
        mesh_walk_array(&w, call->in[i], 0);
    for (bool more = mesh_walk_first(&w, g); more; more = mesh_walk_next(&w, g)) {
        const double a = *mesh_at(call->in[0], g);
        const double b = n > 1 ? *mesh_at(call->in[1], g) : 0.0;
        const double dy = *mesh_at(call->in[n], g);
        for (int i = 0; i < n; i++) {
            mesh_part *gradient = mesh_call_gradient(call, i);
            if (gradient)
                *mesh_at(gradient, g) =
                    dy * function_slope(call->op->function, i, a, b);
        }
    }
}

static void run_rotary(const mesh_call *call)
{
    const mesh_part *x = call->in[0];
    const int last = x->tensor->dims[x->tensor->n_dims - 1];
    const int64_t size = program_of(call)->dims[last].size;
    const double turn = call->op->is_backward ? -1.0 : 1.0;
    int64_t g[RIDGE_PROGRAM_DIM_MAX];
    mesh_walk w = {.n = 0};
    mesh_walk_array(&w, x, 0);
    mesh_walk_array(&w, call->out[0], 0);
    for (bool more = mesh_walk_first(&w, g); more; more = mesh_walk_next(&w, g)) {
        const int64_t i = g[last], pair = i ^ 1;
        const double own = *mesh_at(x, g);
        if (pair >= size) {
            *mesh_at(call->out[0], g) = own;
            continue;
        }
        const double angle = turn * (double)g[call->op->position_dim] *
                             pow(10000.0, -(double)(i & ~INT64_C(1)) / (double)size);
        g[last] = pair;
        const double other = *mesh_at(x, g);
        g[last] = i;
        *mesh_at(call->out[0], g) =
            own * cos(angle) + ((i & 1) ? other : -other) * sin(angle);
    }
}

/* The output holds what the cache held; the last positions become those of x. */
static void run_append(const mesh_call *call)
{
    const mesh_part *x = call->in[0], *cache = call->out[0];
    int from = -1, to = -1;
    for (int i = 0; i < x->tensor->n_dims; i++) {
        if (x->tensor->dims[i] != cache->tensor->dims[i]) {
            from = x->tensor->dims[i];
            to = cache->tensor->dims[i];
        }
    }
    int64_t g[RIDGE_PROGRAM_DIM_MAX];
    mesh_walk w = {.n = 0};
    mesh_walk_array(&w, x, 0);
    for (bool more = mesh_walk_first(&w, g); more; more = mesh_walk_next(&w, g)) {
        if (from >= 0)
            g[to] = g[from] + program_of(call)->dims[to].size -
                    program_of(call)->dims[from].size;
        const int64_t place = mesh_place(cache, g);
        if (place >= 0)
            cache->data[place] = *mesh_at(x, g);
    }
}

static void run_elementwise(const mesh_call *call)
{
    const ridge_function f = call->op->function;
    const bool is_plain = f == RIDGE_FUNCTION_COPY || f == RIDGE_FUNCTION_ADD ||
                          f == RIDGE_FUNCTION_MULTIPLY || f == RIDGE_FUNCTION_SCALE;
    if (f == RIDGE_FUNCTION_ROTARY)
        run_rotary(call);
    else if (f == RIDGE_FUNCTION_APPEND)
        run_append(call);
    else if (call->op->is_backward && !is_plain)
        run_function_backward(call);
    else
        run_function(call);
}

/* ---- norm ----------------------------------------------------------------------- */

/* The dims over which the norm goes, of one row. */
static int row_dims(const mesh_call *call)
{
    const bool has_weight = call->op->n_inputs > (call->op->is_backward ? 2 : 1);
    return has_weight ? call->in[1]->tensor->n_dims : 1;
}

/* A row's elements become (x - mean) scale. */
typedef struct row_place {
    double mean, scale, n;
} row_place;

static row_place place_of(const mesh_call *call, const mesh_walk *row, int64_t *g)
{
    const mesh_part *x = call->in[0];
    double sum = 0.0, squares = 0.0;
    row_place p = {.n = 0.0};
    for (bool more = mesh_walk_first(row, g); more; more = mesh_walk_next(row, g)) {
        sum += *mesh_at(x, g);
        p.n += 1.0;
    }
    p.mean = call->op->norm == RIDGE_NORM_LAYER ? sum / p.n : 0.0;
    for (bool more = mesh_walk_first(row, g); more; more = mesh_walk_next(row, g)) {
        const double z = *mesh_at(x, g) - p.mean;
        squares += z * z;
    }
    p.scale = 1.0 / sqrt(squares / p.n + 1e-6);
    return p;
}

static void norm_row(const mesh_call *call, const mesh_walk *row, int64_t *g)
{
    const row_place p = place_of(call, row, g);
    for (bool more = mesh_walk_first(row, g); more; more = mesh_walk_next(row, g)) {
        double y = (*mesh_at(call->in[0], g) - p.mean) * p.scale;
        if (call->op->n_inputs > 1)
            y *= *mesh_at(call->in[1], g);
        if (call->op->n_inputs > 2)
            y += *mesh_at(call->in[2], g);
        *mesh_at(call->out[0], g) = y;
    }
}

static void norm_row_backward(const mesh_call *call, const mesh_walk *row, int64_t *g)
{
    const bool has_weight = call->op->n_inputs > 2;
    const mesh_part *dy = call->in[has_weight ? 2 : 1];
    mesh_part *dx = mesh_call_gradient(call, 0);
    mesh_part *dw = has_weight ? mesh_call_gradient(call, 1) : NULL;
    mesh_part *db = call->op->n_outputs > 2 ? call->out[2] : NULL;
    double dot = 0.0, level = 0.0;
    const row_place p = place_of(call, row, g);
    for (bool more = mesh_walk_first(row, g); more; more = mesh_walk_next(row, g)) {
        const double w = has_weight ? *mesh_at(call->in[1], g) : 1.0;
        dot += w * *mesh_at(dy, g) * (*mesh_at(call->in[0], g) - p.mean);
        level += call->op->norm == RIDGE_NORM_LAYER ? w * *mesh_at(dy, g) / p.n : 0.0;
    }
    for (bool more = mesh_walk_first(row, g); more; more = mesh_walk_next(row, g)) {
        const double w = has_weight ? *mesh_at(call->in[1], g) : 1.0;
        const double z = *mesh_at(call->in[0], g) - p.mean, d = *mesh_at(dy, g);
        if (dx)
            *mesh_at(dx, g) =
                p.scale * (w * d - level - z * dot * p.scale * p.scale / p.n);
        if (dw)
            *mesh_at(dw, g) += d * z * p.scale;
        if (db)
            *mesh_at(db, g) += d;
    }
}

static void run_norm(const mesh_call *call)
{
    const mesh_part *x = call->in[0];
    const int n_row = row_dims(call), n = x->tensor->n_dims;
    int64_t g[RIDGE_PROGRAM_DIM_MAX];
    mesh_walk rows = {.n = 0}, row = {.n = 0};
    mesh_walk_array(&rows, x, n_row);
    for (int i = n - n_row; i < n; i++) {
        const int64_t size = program_of(call)->dims[x->tensor->dims[i]].size;
        mesh_walk_add(&row, x->tensor->dims[i], (mesh_span){0, size, size});
    }
    for (bool more = mesh_walk_first(&rows, g); more; more = mesh_walk_next(&rows, g)) {
        if (call->op->is_backward)
            norm_row_backward(call, &row, g);
        else
            norm_row(call, &row, g);
    }
}

/* ---- lookups and updates -------------------------------------------------------- */

/* A rank without the row of a token gives nothing: the sum over ranks is the row. */
static void run_gather(const mesh_call *call)
{
    const bool is_backward = call->op->is_backward;
    const mesh_part *table = is_backward ? call->out[0] : call->in[0];
    const mesh_part *indices = call->in[is_backward ? 0 : 1];
    const mesh_part *rows = is_backward ? call->in[1] : call->out[0];
    int64_t g[RIDGE_PROGRAM_DIM_MAX];
    mesh_walk w = {.n = 0};
    mesh_walk_array(&w, rows, 0);
    mesh_walk_array(&w, indices, 0);
    for (bool more = mesh_walk_first(&w, g); more; more = mesh_walk_next(&w, g)) {
        g[table->tensor->dims[0]] = (int64_t)*mesh_at(indices, g);
        const int64_t place = mesh_place(table, g);
        if (place < 0)
            continue;
        if (is_backward)
            table->data[place] += *mesh_at(rows, g);
        else
            *mesh_at(rows, g) = table->data[place];
    }
}

/* Inputs weight, gradient [, master], m, v; outputs the same without the gradient. */
static void run_update(const mesh_call *call)
{
    const bool has_master = call->op->n_inputs == 5;
    const int m_at = has_master ? 3 : 2, n = call->op->n_outputs;
    int64_t g[RIDGE_PROGRAM_DIM_MAX];
    mesh_walk w = {.n = 0};
    for (int i = 0; i < call->op->n_inputs; i++)
        mesh_walk_array(&w, call->in[i], 0);
    for (bool more = mesh_walk_first(&w, g); more; more = mesh_walk_next(&w, g)) {
        const double d = *mesh_at(call->in[1], g);
        const double m = 0.9 * *mesh_at(call->in[m_at], g) + 0.1 * d;
        const double v = 0.95 * *mesh_at(call->in[m_at + 1], g) + 0.05 * d * d;
        const double old = *mesh_at(call->in[has_master ? 2 : 0], g);
        const double now = old - 0.001 * m / (sqrt(v) + 1e-8);
        *mesh_at(call->out[0], g) = now;
        if (has_master)
            *mesh_at(call->out[1], g) = now;
        *mesh_at(call->out[n - 2], g) = m;
        *mesh_at(call->out[n - 1], g) = v;
    }
}

void mesh_run_operation(const mesh_call *call)
{
    static void (*const RUN[RIDGE_OPCODE_COUNT])(const mesh_call *) = {
        [RIDGE_OPCODE_EINSUM] = run_einsum,
        [RIDGE_OPCODE_ATTENTION] = mesh_run_attention,
        [RIDGE_OPCODE_SCAN] = mesh_run_scan,
        [RIDGE_OPCODE_NORM] = run_norm,
        [RIDGE_OPCODE_ELEMENTWISE] = run_elementwise,
        [RIDGE_OPCODE_GATHER] = run_gather,
        [RIDGE_OPCODE_LOSS] = mesh_run_loss,
        [RIDGE_OPCODE_ROUTE] = mesh_run_route,
        [RIDGE_OPCODE_DISPATCH] = mesh_run_dispatch,
        [RIDGE_OPCODE_COMBINE] = mesh_run_combine,
        [RIDGE_OPCODE_UPDATE] = run_update,
        [RIDGE_OPCODE_SEND] = run_function,
    };
    if (!RUN[call->op->code])
        fail_msg("no kernel for %s", ridge_opcode_text(call->op->code));
    RUN[call->op->code](call);
}
