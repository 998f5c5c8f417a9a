/* Shapes read by the JSON scanner; work by a table of calls. */
#include "op_shapes.h"

#include "json_scan.h"

#include <string.h>

enum { SHAPES_MOST = 12, DIMS_MOST = 8 };

typedef struct call_shape {
    double dims[DIMS_MOST];
    int n;
    double elements; /* 0: no tensor */
    double element_bytes;
} call_shape;

typedef struct call_shapes {
    call_shape of[SHAPES_MOST];
    int n;
    bool has_dtype;
    ridge_dtype dtype; /* of the first tensor of a float format */
} call_shapes;

/* ---- element types -----------------------------------------------------------------
 */

typedef struct type_row {
    const char *text;
    int dtype; /* -1: no float format */
    double bytes;
} type_row;

static const type_row types_known[] = {
    {"c10::BFloat16", RIDGE_DTYPE_BF16, 2},
    {"BFloat16", RIDGE_DTYPE_BF16, 2},
    {"bf16", RIDGE_DTYPE_BF16, 2},
    {"bfloat16", RIDGE_DTYPE_BF16, 2},
    {"c10::Half", RIDGE_DTYPE_FP16, 2},
    {"Half", RIDGE_DTYPE_FP16, 2},
    {"f16", RIDGE_DTYPE_FP16, 2},
    {"float16", RIDGE_DTYPE_FP16, 2},
    {"float", RIDGE_DTYPE_FP32, 4},
    {"Float", RIDGE_DTYPE_FP32, 4},
    {"f32", RIDGE_DTYPE_FP32, 4},
    {"float32", RIDGE_DTYPE_FP32, 4},
    {"double", RIDGE_DTYPE_FP64, 8},
    {"Double", RIDGE_DTYPE_FP64, 8},
    {"f64", RIDGE_DTYPE_FP64, 8},
    {"c10::Float8_e4m3fn", RIDGE_DTYPE_FP8, 1},
    {"c10::Float8_e5m2", RIDGE_DTYPE_FP8, 1},
    {"Float8_e4m3fn", RIDGE_DTYPE_FP8, 1},
    {"c10::Float8_e4m3fnuz", RIDGE_DTYPE_FP8, 1},
    {"f8e4m3fn", RIDGE_DTYPE_FP8, 1},
    {"f8e5m2", RIDGE_DTYPE_FP8, 1},
    {"signed char", RIDGE_DTYPE_INT8, 1},
    {"Char", RIDGE_DTYPE_INT8, 1},
    {"s8", RIDGE_DTYPE_INT8, 1},
    {"unsigned char", -1, 1},
    {"Byte", -1, 1},
    {"bool", -1, 1},
    {"Bool", -1, 1},
    {"int", -1, 4},
    {"Int", -1, 4},
    {"s32", -1, 4},
    {"long int", -1, 8},
    {"long", -1, 8},
    {"Long", -1, 8},
    {"s64", -1, 8},
    {"short", -1, 2},
    {"short int", -1, 2},
};

static const type_row *type_find(ridge_str text)
{
    for (size_t i = 0; i < RIDGE_COUNT_OF(types_known); i++) {
        if (ridge_str_is(text, types_known[i].text))
            return &types_known[i];
    }
    return NULL;
}

bool op_shapes_dtype(ridge_str text, ridge_dtype *out)
{
    const type_row *row = type_find(text);
    if (row == NULL || row->dtype < 0)
        return false;
    *out = (ridge_dtype)row->dtype;
    return true;
}

double op_shapes_element_bytes(ridge_str text)
{
    const type_row *row = type_find(text);
    return row == NULL ? 0 : row->bytes;
}

/* ---- reading -----------------------------------------------------------------------
 */

/* "[141, 2048]"; of a list of tensors nothing is told. */
static void shape_read(ridge_str text, call_shape *shape)
{
    json_scan s = {text.p, text.p + text.n};
    bool is_end = false;
    scan_value v;
    int64_t dim;
    *shape = (call_shape){.n = 0};
    if (scan_mark(&s, '[') != SCAN_OK)
        return;
    while (scan_item(&s, &is_end, &v) == SCAN_OK && !is_end) {
        if (shape->n == DIMS_MOST || !scan_i64(&v, &dim) || dim < 0) {
            *shape = (call_shape){.n = 0};
            return;
        }
        shape->elements = (shape->n == 0 ? 1 : shape->elements) * (double)dim;
        shape->dims[shape->n++] = (double)dim;
    }
}

static void types_read(const char *text, call_shapes *out)
{
    json_scan s = {text, text + strlen(text)};
    bool is_end = false;
    scan_value v;
    if (scan_mark(&s, '[') != SCAN_OK)
        return;
    for (int i = 0; i < out->n && scan_item(&s, &is_end, &v) == SCAN_OK && !is_end;
         i++) {
        const type_row *row = type_find(v.raw);
        if (row == NULL || out->of[i].elements <= 0)
            continue;
        out->of[i].element_bytes = row->bytes;
        if (!out->has_dtype && row->dtype >= 0) {
            out->dtype = (ridge_dtype)row->dtype;
            out->has_dtype = true;
        }
    }
}

static void shapes_read(const char *dims, const char *types, call_shapes *out)
{
    json_scan s = {dims, dims + strlen(dims)};
    bool is_end = false;
    scan_value v;
    out->n = 0;
    out->has_dtype = false;
    if (scan_mark(&s, '[') != SCAN_OK)
        return;
    while (out->n < SHAPES_MOST && scan_item(&s, &is_end, &v) == SCAN_OK && !is_end)
        shape_read(v.kind == '[' ? v.raw : (ridge_str){"", 0}, &out->of[out->n++]);
    types_read(types, out);
}

typedef enum call_form {
    FORM_PRODUCT,
    FORM_PRODUCT_TRANSPOSED,
    FORM_ATTENTION,      /* heads before rows */
    FORM_ATTENTION_ROWS, /* rows before heads */
    FORM_STREAM,         /* reads all, writes as much as its largest input */
    FORM_REDUCTION,      /* reads all, writes little */
    FORM_COPY            /* into the first input, from the second */
} call_form;

typedef struct call_row {
    const char *call;
    call_form form;
    int at; /* first operand */
    bool is_backward;
    int causal_at; /* value that says whether the mask is causal; 0: none */
} call_row;

/* ---- work --------------------------------------------------------------------------
 */

static double bytes_of(const call_shape *s)
{
    return s->elements * s->element_bytes;
}

/* [batch..., m, k] x [batch..., k, n], the operands at a and b. */
static void product_work(const call_shapes *s, int a, int b, bool is_transposed,
                         call_work *w)
{
    if (b >= s->n || s->of[a].n < 2 || s->of[b].n < 2)
        return;
    const call_shape *x = &s->of[a];
    const call_shape *y = &s->of[b];
    const double k = x->dims[x->n - 1];
    const double k_of_y = y->dims[y->n - (is_transposed ? 1 : 2)];
    const double n = y->dims[y->n - (is_transposed ? 2 : 1)];
    if (k != k_of_y || k <= 0)
        return;
    const double rows = x->elements / k;
    w->class = RIDGE_CLASS_MATMUL;
    w->has_flops = true;
    w->flops = 2 * rows * k * n;
    w->has_bytes = x->element_bytes > 0 && y->element_bytes > 0;
    w->bytes = bytes_of(x) + bytes_of(y) + rows * n * x->element_bytes;
}

/* Queries, keys and values at q: [B, N, T, H], or with rows before heads [B, T, N, H].
 * A causal mask saves half.
 * @source dao2022, FLOPs of attention: two products, five in the backward pass */
static void attention_work(const call_shapes *s, const call_row *row, bool is_causal,
                           call_work *w)
{
    const bool is_backward = row->is_backward;
    const int q = row->at;
    if (q + 2 >= s->n || s->of[q].n != 4 || s->of[q + 1].n != 4 || s->of[q + 2].n != 4)
        return;
    const double *query = s->of[q].dims;
    const double *key = s->of[q + 1].dims;
    const double *value = s->of[q + 2].dims;
    const double keys = key[row->form == FORM_ATTENTION_ROWS ? 1 : 2];
    const double scores = (is_causal ? 0.5 : 1) * query[0] * query[1] * query[2] * keys;
    w->class = RIDGE_CLASS_ATTENTION;
    w->has_flops = true;
    w->flops = (is_backward ? 2.5 : 1) * 2 * scores * (query[3] + value[3]);
    w->has_bytes = s->of[q].element_bytes > 0;
    w->bytes = (is_backward ? 2.5 : 1) *
               (2 * s->of[q].elements + s->of[q + 1].elements + s->of[q + 2].elements) *
               s->of[q].element_bytes;
}

/* Reads all inputs. @param writes  of what the largest of them has */
static void stream_work(const call_shapes *s, double writes, call_work *w)
{
    double largest = 0;
    for (int i = 0; i < s->n; i++) {
        const double bytes = bytes_of(&s->of[i]);
        if (s->of[i].elements > 0 && s->of[i].element_bytes <= 0)
            return;
        w->bytes += bytes;
        largest = bytes > largest ? bytes : largest;
    }
    w->bytes += writes * largest;
    w->has_bytes = largest > 0;
    w->class = RIDGE_CLASS_OTHER;
}

static const call_row calls[] = {
    {"aten::mm", FORM_PRODUCT, 0, false, 0},
    {"aten::bmm", FORM_PRODUCT, 0, false, 0},
    {"aten::addmm", FORM_PRODUCT, 1, false, 0},
    {"aten::addmm_", FORM_PRODUCT, 1, false, 0},
    {"aten::_addmm_activation", FORM_PRODUCT, 1, false, 0},
    {"aten::baddbmm", FORM_PRODUCT, 1, false, 0},
    {"aten::baddbmm_", FORM_PRODUCT, 1, false, 0},
    {"aten::_scaled_mm", FORM_PRODUCT, 0, false, 0},
    {"aten::matmul", FORM_PRODUCT, 0, false, 0},
    {"aten::linear", FORM_PRODUCT_TRANSPOSED, 0, false, 0},
    {"aiter::gemm_a16w16", FORM_PRODUCT_TRANSPOSED, 0, false, 0},
    {"aten::_flash_attention_forward", FORM_ATTENTION_ROWS, 0, false, 8},
    {"aten::_efficient_attention_forward", FORM_ATTENTION_ROWS, 0, false, 9},
    {"aten::_cudnn_attention_forward", FORM_ATTENTION, 0, false, 0},
    {"aten::_scaled_dot_product_flash_attention", FORM_ATTENTION, 0, false, 4},
    {"aten::_scaled_dot_product_efficient_attention", FORM_ATTENTION, 0, false, 6},
    {"aten::_scaled_dot_product_cudnn_attention", FORM_ATTENTION, 0, false, 6},
    {"aten::_flash_attention_backward", FORM_ATTENTION_ROWS, 1, true, 11},
    {"aten::_efficient_attention_backward", FORM_ATTENTION_ROWS, 1, true, 0},
    {"aten::_scaled_dot_product_flash_attention_backward", FORM_ATTENTION, 1, true, 11},
    {"aten::_scaled_dot_product_cudnn_attention_backward", FORM_ATTENTION, 1, true, 0},
    {"aten::copy_", FORM_COPY, 0, false, 0},
    {"aten::sum", FORM_REDUCTION, 0, false, 0},
    {"aten::mean", FORM_REDUCTION, 0, false, 0},
    {"aten::argmax", FORM_REDUCTION, 0, false, 0},
    {"aten::max", FORM_REDUCTION, 0, false, 0},
    {"aten::add", FORM_STREAM, 0, false, 0},
    {"aten::add_", FORM_STREAM, 0, false, 0},
    {"aten::sub", FORM_STREAM, 0, false, 0},
    {"aten::mul", FORM_STREAM, 0, false, 0},
    {"aten::mul_", FORM_STREAM, 0, false, 0},
    {"aten::div", FORM_STREAM, 0, false, 0},
    {"aten::neg", FORM_STREAM, 0, false, 0},
    {"aten::pow", FORM_STREAM, 0, false, 0},
    {"aten::rsqrt", FORM_STREAM, 0, false, 0},
    {"aten::silu", FORM_STREAM, 0, false, 0},
    {"aten::gelu", FORM_STREAM, 0, false, 0},
    {"aten::relu", FORM_STREAM, 0, false, 0},
    {"aten::relu_", FORM_STREAM, 0, false, 0},
    {"aten::tanh", FORM_STREAM, 0, false, 0},
    {"aten::sigmoid", FORM_STREAM, 0, false, 0},
    {"aten::native_layer_norm", FORM_STREAM, 0, false, 0},
    {"aten::_softmax", FORM_STREAM, 0, false, 0},
    {"aten::_log_softmax", FORM_STREAM, 0, false, 0},
};

static void copy_work(const call_shapes *s, call_work *w)
{
    if (s->n < 2 || s->of[0].element_bytes <= 0 || s->of[1].element_bytes <= 0)
        return;
    w->bytes = bytes_of(&s->of[0]) + bytes_of(&s->of[1]);
    w->has_bytes = w->bytes > 0;
    w->class = RIDGE_CLASS_OTHER;
}

/* Value at a place: true, or a kind of mask that is not 0. */
static bool is_causal(const char *values, int at)
{
    json_scan s = {values, values + strlen(values)};
    bool is_end = false;
    scan_value v;
    if (at == 0 || scan_mark(&s, '[') != SCAN_OK)
        return false;
    for (int i = 0; scan_item(&s, &is_end, &v) == SCAN_OK && !is_end; i++) {
        if (i == at)
            return SCAN_IS(v.raw, "True") || SCAN_IS(v.raw, "1") || SCAN_IS(v.raw, "2");
    }
    return false;
}

static void row_work(const call_row *row, const call_shapes *s, const char *values,
                     call_work *w)
{
    switch (row->form) {
    case FORM_PRODUCT:
    case FORM_PRODUCT_TRANSPOSED:
        product_work(s, row->at, row->at + 1, row->form == FORM_PRODUCT_TRANSPOSED, w);
        break;
    case FORM_ATTENTION:
    case FORM_ATTENTION_ROWS:
        attention_work(s, row, is_causal(values, row->causal_at), w);
        break;
    case FORM_STREAM:
        stream_work(s, 1, w);
        break;
    case FORM_REDUCTION:
        stream_work(s, 0, w);
        break;
    case FORM_COPY:
        copy_work(s, w);
        break;
    }
}

call_work op_shapes_work(const call_text *text)
{
    call_work w = {.class = RIDGE_CLASS_OTHER};
    call_shapes s;
    for (size_t i = 0; i < RIDGE_COUNT_OF(calls); i++) {
        if (strcmp(calls[i].call, text->call) != 0)
            continue;
        shapes_read(text->dims, text->types, &s);
        row_work(&calls[i], &s, text->values, &w);
        w.has_dtype = s.has_dtype;
        w.dtype = s.dtype;
        return w;
    }
    return w;
}
