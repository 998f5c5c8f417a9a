/* Operations as people write them: MxKxN, an einsum, attention:decode, add:N. */
#include "word.h"

#include "ridge/cost_roofline.h"

#include <math.h>
#include <string.h>

static const char how[] = "an operation is MxKxN, an einsum such as btd,df->btf, "
                          "attention:prefill, attention:decode, add:N, elementwise:N, "
                          "dot:N, flops:N or bytes:N";

static bool is_size(double v)
{
    return v >= 1 && v <= 0x1p53 && v == floor(v);
}

static bool read_count(ridge_str text, double *out)
{
    return ridge_parse_count(ridge_str_trim(text), out) && is_size(*out);
}

/* ---- streams --------------------------------------------------------------------- */

/* name, FLOPs an element, arrays of N read or written */
static const struct {
    const char *name;
    double flops_each;
    double arrays;
    bool is_fp32; /* unless a format was asked for */
} streams[] = {
    {"add", 1, 3, true},
    {"elementwise", 1, 2, false},
    {"dot", 2, 2, false},
};

static ridge_status read_stream(ridge_ctx *cx, ridge_str name, ridge_str count,
                                bool is_format_given, ridge_op *op)
{
    for (size_t i = 0; i < RIDGE_COUNT_OF(streams); i++) {
        if (!ridge_str_is(name, streams[i].name))
            continue;
        if (!read_count(count, &op->elements)) {
            return ridge_fail(cx, RIDGE_E_ARG,
                              "%s:N wants a whole number of elements, not '%s'",
                              streams[i].name, word_of(count).s);
        }
        op->kind = RIDGE_OP_STREAM;
        if (streams[i].is_fp32 && !is_format_given) {
            op->formats = (ridge_formats){RIDGE_DTYPE_FP32, RIDGE_DTYPE_FP32,
                                          RIDGE_DTYPE_FP32, RIDGE_DTYPE_FP32};
        }
        op->flops_each = streams[i].flops_each;
        op->bytes_each = streams[i].arrays * ridge_dtype_bytes(op->formats.activation);
        return RIDGE_OK;
    }
    return ridge_fail(cx, RIDGE_E_ARG, "unknown operation '%s': %s", word_of(name).s,
                      how);
}

/* ---- attention ------------------------------------------------------------------- */

/* The field of a dim, or NULL. */
static double *attention_field(ridge_attention *a, const char *dim)
{
    const struct {
        const char *name;
        double *field;
    } fields[] = {
        {"b", &a->batch},      {"t", &a->query_tokens}, {"s", &a->context_tokens},
        {"n", &a->heads},      {"k", &a->kv_heads},     {"h", &a->head_dim},
        {"v", &a->v_head_dim}, {"w", &a->window},
    };
    for (size_t i = 0; i < RIDGE_COUNT_OF(fields); i++) {
        if (strcmp(dim, fields[i].name) == 0)
            return fields[i].field;
    }
    return NULL;
}

static ridge_status read_attention_dim(ridge_ctx *cx, ridge_str item, ridge_op *op)
{
    ridge_str value = item;
    const ridge_str name = ridge_str_trim(ridge_str_cut(&value, '='));
    char dim[8] = "";
    if (name.n < sizeof dim)
        memcpy(dim, name.p, name.n);
    double size = 0;
    const bool is_number = value.p && ridge_parse_count(ridge_str_trim(value), &size);
    if (strcmp(dim, "causal") == 0 && is_number && (size == 0 || size == 1)) {
        op->attention.is_causal = size == 1;
        return RIDGE_OK;
    }
    double *field = attention_field(&op->attention, dim);
    if (!field) {
        return ridge_fail(cx, RIDGE_E_ARG,
                          "attention: unknown dim '%s': it has b sequences, t queries, "
                          "s keys, n heads, k KV heads, h head dim, v value head dim, "
                          "w window, causal=0",
                          word_of(name).s);
    }
    if (!is_number || !is_size(size)) {
        return ridge_fail(cx, RIDGE_E_ARG,
                          "attention: %s wants a whole number, not '%s'", dim,
                          word_of(value).s);
    }
    *field = size;
    return RIDGE_OK;
}

static ridge_status check_attention(ridge_ctx *cx, const ridge_op *op)
{
    const ridge_attention *a = &op->attention;
    if (a->query_tokens <= 0 || a->context_tokens <= 0) {
        return ridge_fail(cx, RIDGE_E_ARG, "attention:%s wants %s",
                          op->is_decode ? "decode" : "prefill",
                          op->is_decode ? "s=TOKENS, the context" : "t=TOKENS");
    }
    if (a->query_tokens > a->context_tokens && a->is_causal) {
        return ridge_fail(cx, RIDGE_E_ARG,
                          "attention: t=%.0f queries do not fit in a causal context of "
                          "s=%.0f tokens",
                          a->query_tokens, a->context_tokens);
    }
    if (fmod(a->heads, a->kv_heads) != 0) {
        return ridge_fail(cx, RIDGE_E_ARG,
                          "attention: k=%.0f KV heads must divide n=%.0f heads",
                          a->kv_heads, a->heads);
    }
    return RIDGE_OK;
}

static ridge_status read_attention(ridge_ctx *cx, ridge_str phase, const char *dims,
                                   ridge_op *op)
{
    op->kind = RIDGE_OP_ATTENTION;
    op->is_decode = ridge_str_is(phase, "decode");
    if (!op->is_decode && phase.n > 0 && !ridge_str_is(phase, "prefill")) {
        return ridge_fail(cx, RIDGE_E_ARG,
                          "attention:%s: it is attention:prefill or attention:decode",
                          word_of(phase).s);
    }
    op->attention = (ridge_attention){
        .batch = 1,
        .query_tokens = op->is_decode ? 1 : 0,
        .heads = 32,
        .head_dim = 128,
        .is_causal = true,
        .activation = op->formats.activation,
        .cache = op->formats.weight,
        .compute = op->formats.compute,
    };
    ridge_str rest = ridge_str_of(dims ? dims : "");
    while (rest.p && rest.n > 0)
        RIDGE_TRY(read_attention_dim(cx, ridge_str_cut(&rest, ','), op));
    ridge_attention *a = &op->attention;
    if (a->context_tokens <= 0)
        a->context_tokens = op->is_decode ? 0 : a->query_tokens;
    if (a->query_tokens <= 0)
        a->query_tokens = a->context_tokens;
    if (a->kv_heads <= 0)
        a->kv_heads = a->heads;
    if (a->v_head_dim <= 0)
        a->v_head_dim = a->head_dim;
    return check_attention(cx, op);
}

/* ---- matmul ---------------------------------------------------------------------- */

static ridge_status read_matmul(ridge_ctx *cx, ridge_str text, ridge_op *op)
{
    double dims[3];
    ridge_str rest = text;
    for (int i = 0; i < 3; i++) {
        const ridge_str part = ridge_str_cut(&rest, 'x');
        if (!part.p || !read_count(part, &dims[i]) || (i < 2 && !rest.p)) {
            return ridge_fail(cx, RIDGE_E_PARSE, "operation '%.60s': %s", op->text,
                              how);
        }
    }
    if (rest.p) {
        return ridge_fail(cx, RIDGE_E_PARSE,
                          "operation '%.60s': a matmul has three dims, MxKxN",
                          op->text);
    }
    op->kind = RIDGE_OP_MATMUL;
    op->matmul = (ridge_matmul){
        .batch = 1,
        .m = dims[0],
        .k = dims[1],
        .n = dims[2],
        .activation = op->formats.activation,
        .weight = op->formats.weight,
        .output = op->formats.output,
        .compute = op->formats.compute,
    };
    return RIDGE_OK;
}

/* ---- work ------------------------------------------------------------------------ */

/* The field of a dim, or NULL. */
static double *work_field(ridge_op *op, ridge_str dim)
{
    return ridge_str_is(dim, "flops")   ? &op->work_flops
           : ridge_str_is(dim, "bytes") ? &op->work_bytes
                                        : NULL;
}

static ridge_status read_work_item(ridge_ctx *cx, ridge_str name, ridge_str value,
                                   ridge_op *op)
{
    double *field = work_field(op, name);
    if (!field) {
        return ridge_fail(cx, RIDGE_E_ARG,
                          "work has flops= and bytes=, no '%s': write flops:1e12 "
                          "bytes=2e9",
                          word_of(name).s);
    }
    if (*field > 0) {
        return ridge_fail(cx, RIDGE_E_ARG, "%s is given twice: leave one out",
                          word_of(name).s);
    }
    double size = 0;
    const bool is_number =
        value.p &&
        (ridge_parse_count(ridge_str_trim(value), &size) ||
         (field == &op->work_bytes && ridge_parse_bytes(ridge_str_trim(value), &size)));
    if (!is_number || !(size > 0 && size <= 1e30)) {
        return ridge_fail(cx, RIDGE_E_ARG, "%s: expected a number above 0, not '%s'",
                          word_of(name).s, word_of(value).s);
    }
    *field = size;
    return RIDGE_OK;
}

static bool is_work(ridge_str name)
{
    return ridge_str_is(name, "flops") || ridge_str_is(name, "bytes");
}

/* "flops:1e12" and "bytes=2e9", or the other way round. */
static ridge_status read_work(ridge_ctx *cx, ridge_str name, ridge_str size,
                              const char *dims, ridge_op *op)
{
    op->kind = RIDGE_OP_WORK;
    RIDGE_TRY(read_work_item(cx, name, size, op));
    ridge_str rest = ridge_str_of(dims ? dims : "");
    while (rest.p && rest.n > 0) {
        ridge_str value = ridge_str_cut(&rest, ',');
        const ridge_str key = ridge_str_trim(ridge_str_cut(&value, '='));
        RIDGE_TRY(read_work_item(cx, key, value, op));
    }
    return RIDGE_OK;
}

/* ---- any ------------------------------------------------------------------------- */

static ridge_status fail_dims(ridge_ctx *cx, const char *dims)
{
    return ridge_fail(cx, RIDGE_E_ARG,
                      "dims '%.60s' have no meaning here: only an einsum, attention, "
                      "flops: and bytes: take them",
                      dims);
}

ridge_status ridge_op_parse(ridge_ctx *cx, const ridge_op_request *request,
                            ridge_op *out)
{
    const char *text = request->text;
    const char *dims = request->dims;
    ridge_op op = {
        .text = text, .formats = request->formats, .memory = RIDGE_MEMORY_HBM};
    const bool has_dims = dims && dims[0] != '\0';
    ridge_str rest = ridge_str_trim(ridge_str_of(text));
    if (strchr(text, ',') || strstr(text, "->")) {
        op.kind = RIDGE_OP_EINSUM;
        RIDGE_TRY(ridge_einsum_parse(cx, text, dims, &op.einsum));
        *out = op;
        return RIDGE_OK;
    }
    const bool is_matmul = rest.n > 0 && rest.p[0] >= '0' && rest.p[0] <= '9';
    const ridge_str whole = rest;
    const ridge_str name = ridge_str_cut(&rest, ':');
    if (ridge_str_is(name, "attention")) {
        RIDGE_TRY(read_attention(cx, rest, dims, &op));
    } else if (is_work(name)) {
        RIDGE_TRY(read_work(cx, name, rest, dims, &op));
    } else if (has_dims) {
        return fail_dims(cx, dims);
    } else if (is_matmul) {
        RIDGE_TRY(read_matmul(cx, whole, &op));
    } else {
        RIDGE_TRY(read_stream(cx, name, rest, request->is_format_given, &op));
    }
    *out = op;
    return RIDGE_OK;
}

static bool resize_matmul(ridge_matmul *m, const char *dim, double size)
{
    const char name = dim[0];
    double *field = name == 'm'   ? &m->m
                    : name == 'k' ? &m->k
                    : name == 'n' ? &m->n
                    : name == 'b' ? &m->batch
                                  : NULL;
    if (!field || dim[1] != '\0')
        return false;
    *field = size;
    return true;
}

/* Prefill keeps T = S while one of them is swept and they were equal. */
static bool resize_attention(ridge_op *op, const char *dim, double size)
{
    ridge_attention *a = &op->attention;
    double *field = attention_field(a, dim);
    if (!field)
        return false;
    const bool is_square = !op->is_decode && a->query_tokens == a->context_tokens;
    const bool is_tokens = field == &a->query_tokens || field == &a->context_tokens;
    if (is_square && is_tokens)
        a->query_tokens = a->context_tokens = size;
    const bool had_own_v = a->v_head_dim != a->head_dim;
    *field = size;
    if (field == &a->head_dim && !had_own_v)
        a->v_head_dim = size;
    return a->query_tokens <= a->context_tokens || !a->is_causal;
}

static bool resize_work(ridge_op *op, const char *dim, double size)
{
    double *field = work_field(op, ridge_str_of(dim));
    if (field)
        *field = size;
    return field != NULL;
}

bool ridge_op_resize(ridge_op *op, const char *dim, double size)
{
    if (!is_size(size))
        return false;
    switch (op->kind) {
    case RIDGE_OP_MATMUL:
        return resize_matmul(&op->matmul, dim, size);
    case RIDGE_OP_EINSUM:
        return dim[0] != '\0' && dim[1] == '\0' &&
               ridge_einsum_resize(&op->einsum, dim[0], (int64_t)size);
    case RIDGE_OP_ATTENTION:
        return resize_attention(op, dim, size);
    case RIDGE_OP_STREAM:
        op->elements = size;
        return strcmp(dim, "n") == 0;
    case RIDGE_OP_WORK:
        return resize_work(op, dim, size);
    }
    return false;
}

ridge_op_cost ridge_op_price(const ridge_chip *chip, const ridge_op *op)
{
    switch (op->kind) {
    case RIDGE_OP_MATMUL:
        return ridge_matmul_cost(chip, &op->matmul, op->memory);
    case RIDGE_OP_EINSUM:
        return ridge_einsum_cost(chip, &op->einsum, &op->formats, op->memory);
    case RIDGE_OP_ATTENTION:
        return ridge_attention_cost(chip, &op->attention);
    case RIDGE_OP_WORK:
        return ridge_work_cost(chip, op->formats.compute, op->work_flops,
                               op->work_bytes, op->memory);
    case RIDGE_OP_STREAM:
        break;
    }
    return ridge_stream_cost_from(chip, op->flops_each * op->elements,
                                  op->bytes_each * op->elements, op->memory);
}
