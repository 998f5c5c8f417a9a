/* References of kernels in double precision. */
#include "kernel_reference.h"

#include <math.h>

/* ---- attention ------------------------------------------------------------------- */

static int64_t floor_div(int64_t a, int64_t b)
{
    return a >= 0 ? a / b : -((b - 1 - a) / b);
}

bool reference_meets(const ridge__attention *a, int64_t i, int64_t j)
{
    const int64_t query = a->q_start + i, entry = a->s_start + j;
    if (j >= a->s_valid || (a->is_causal && entry > query))
        return false;
    if (a->window == 0)
        return true;
    return a->is_window_chunked
               ? floor_div(entry, a->window) == floor_div(query, a->window)
               : entry > query - a->window;
}

/** One query of one head. */
typedef struct query {
    const ridge__attention *a;
    const reference_attention *x;
    int64_t batch, i, head;
} query;

static int64_t q_row(const query *q)
{
    return (q->batch * q->a->t + q->i) * q->a->heads + q->head;
}

static int64_t kv_row(const query *q, int64_t j)
{
    const int64_t head = q->head / (q->a->heads / q->a->kv_heads);
    return (q->batch * q->a->stride_s + j) * q->a->kv_heads + head;
}

static double dot(const double *a, const double *b, int64_t n)
{
    double sum = 0.0;
    for (int64_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static bool meets(const query *q, int64_t j)
{
    const int32_t *first = q->a->first_met;
    return reference_meets(q->a, q->i, j) &&
           (first == NULL || q->a->s_start + j >= first[q->batch * q->a->t + q->i]);
}

static double score(const query *q, int64_t j)
{
    const int64_t h = q->a->h;
    if (!meets(q, j))
        return -INFINITY;
    return (double)q->a->scale *
           dot(q->x->q + q_row(q) * h, q->x->k + kv_row(q, j) * h, h);
}

static void attend_one(const query *q)
{
    const ridge__attention *a = q->a;
    double top = -INFINITY, sum = 0.0, *o = q->x->o + q_row(q) * a->hv;
    for (int64_t j = 0; j < a->s; j++)
        top = fmax(top, score(q, j));
    for (int64_t c = 0; c < a->hv; c++)
        o[c] = 0.0;
    q->x->lse[q_row(q)] = -INFINITY;
    if (isinf(top))
        return;
    for (int64_t j = 0; j < a->s; j++) {
        const double p = exp(score(q, j) - top);
        sum += p;
        for (int64_t c = 0; c < a->hv && p > 0.0; c++)
            o[c] += p * q->x->v[kv_row(q, j) * a->hv + c];
    }
    for (int64_t c = 0; c < a->hv; c++)
        o[c] /= sum;
    q->x->lse[q_row(q)] = top + log(sum);
}

static void attend_back_one(const query *q)
{
    const ridge__attention *a = q->a;
    const reference_attention *x = q->x;
    const double *d_o = x->d_o + q_row(q) * a->hv;
    const double slope = dot(d_o, x->o + q_row(q) * a->hv, a->hv);
    for (int64_t j = 0; j < a->s; j++) {
        if (!meets(q, j))
            continue;
        const int64_t row = kv_row(q, j);
        const double p = exp(score(q, j) - x->lse[q_row(q)]);
        const double d_p = dot(d_o, x->v + row * a->hv, a->hv);
        const double d_score = p * (d_p - slope) * (double)a->scale;
        for (int64_t c = 0; c < a->hv; c++)
            x->d_v[row * a->hv + c] += p * d_o[c];
        for (int64_t c = 0; c < a->h; c++) {
            x->d_k[row * a->h + c] += d_score * x->q[q_row(q) * a->h + c];
            x->d_q[q_row(q) * a->h + c] += d_score * x->k[row * a->h + c];
        }
    }
}

static void each_query(const ridge__attention *a, const reference_attention *x,
                       void (*run)(const query *q))
{
    for (int64_t b = 0; b < a->batch; b++) {
        for (int64_t i = 0; i < a->t; i++) {
            for (int64_t n = 0; n < a->heads; n++)
                run(&(query){a, x, b, i, n});
        }
    }
}

void reference_attend(const ridge__attention *a, const reference_attention *x)
{
    each_query(a, x, attend_one);
}

void reference_attend_back(const ridge__attention *a, const reference_attention *x)
{
    each_query(a, x, attend_back_one);
}

/* ---- rows ------------------------------------------------------------------------ */

static double sigmoid(double x)
{
    return 1.0 / (1.0 + exp(-x));
}
static double gelu(double x)
{
    return 0.5 * x * (1.0 + erf(x / sqrt(2.0)));
}

static double gelu_tanh(double x)
{
    const double t = sqrt(2.0 / acos(-1.0)) * (x + 0.044715 * x * x * x);
    return 0.5 * x * (1.0 + tanh(t));
}

double reference_function(ridge_function f, double a, double b, double scale)
{
    switch (f) {
    case RIDGE_FUNCTION_COPY:
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
        return a > 0.0 ? a : 0.0;
    case RIDGE_FUNCTION_RELU2:
        return a > 0.0 ? a * a : 0.0;
    case RIDGE_FUNCTION_SILU:
        return a * sigmoid(a);
    case RIDGE_FUNCTION_SIGMOID:
        return sigmoid(a);
    case RIDGE_FUNCTION_SOFTPLUS:
        return log1p(exp(-fabs(a))) + fmax(a, 0.0);
    case RIDGE_FUNCTION_EXP:
        return exp(a);
    case RIDGE_FUNCTION_SCALE:
        return a * scale;
    case RIDGE_FUNCTION_ROTARY:
    case RIDGE_FUNCTION_APPEND:
        break;
    }
    return NAN;
}

double reference_mean(ridge_norm_kind kind, int64_t d, const double *x)
{
    double sum = 0.0;
    for (int64_t i = 0; i < d; i++)
        sum += x[i];
    return kind == RIDGE_NORM_LAYER ? sum / (double)d : 0.0;
}

void reference_norm(ridge_norm_kind kind, int64_t d, double epsilon, const double *x,
                    const double *w, const double *b, double *y)
{
    const double mean = reference_mean(kind, d, x);
    double squares = 0.0;
    for (int64_t i = 0; i < d; i++)
        squares += (x[i] - mean) * (x[i] - mean);
    const double r = 1.0 / sqrt(squares / (double)d + epsilon);
    for (int64_t i = 0; i < d; i++)
        y[i] = (x[i] - mean) * r * (w == NULL ? 1.0 : w[i]) + (b == NULL ? 0.0 : b[i]);
}

double reference_log_sum(const double *logits, int64_t n)
{
    double top = -INFINITY, sum = 0.0;
    for (int64_t i = 0; i < n; i++)
        top = fmax(top, logits[i]);
    for (int64_t i = 0; i < n; i++)
        sum += exp(logits[i] - top);
    return top + log(sum);
}

/** How many come before expert i: larger logits, and equal ones of lower index. */
static int64_t rank_of(int64_t experts, const double *logits, int64_t i)
{
    int64_t rank = 0;
    for (int64_t j = 0; j < experts; j++)
        rank += logits[j] > logits[i] || (logits[j] == logits[i] && j < i);
    return rank;
}

void reference_route(int64_t experts, int64_t k, const double *logits, double *gates)
{
    double top = -INFINITY, sum = 0.0;
    for (int64_t i = 0; i < experts; i++)
        top = fmax(top, logits[i]);
    for (int64_t i = 0; i < experts; i++) {
        gates[i] = rank_of(experts, logits, i) < k ? exp(logits[i] - top) : 0.0;
        sum += gates[i];
    }
    for (int64_t i = 0; i < experts; i++)
        gates[i] /= sum;
}
