#include "hlo_product.h"
#include "hlo_attribute.h"

#include <math.h>

enum { PAIRS_MOST = 1 << 22 };

/* ---- dots -------------------------------------------------------------------------
 */

static int config_ints(const ridge_node *dims, const char *key, int64_t *out)
{
    const ridge_node list = ridge_json_get(dims, key);
    const size_t n = ridge_json_size(list);
    if (n > RIDGE_HLO_RANK_MAX)
        return -1;
    for (size_t k = 0; k < n; k++) {
        const ridge_node item = ridge_json_at(&list, k);
        const char *text;
        if (ridge_json_text(item, &text) ? !ridge_parse_i64(ridge_str_of(text), &out[k])
                                         : !ridge_json_i64(item, &out[k]))
            return -1;
    }
    return (int)n;
}

/* {"dot_dimension_numbers":{"lhs_contracting_dimensions":["1"],...}}, at any depth. */
static bool config_dims(ridge_ctx *cx, const ridge_hlo_instruction *i,
                        hlo_dot_dims *out)
{
    ridge_node dims;
    const ridge_node node = hlo_config_of(cx, i);
    if (hlo_config_find(&node, "dot_dimension_numbers", 0, &dims) != RIDGE_JSON_OBJECT)
        return false;
    out->n_contracting =
        config_ints(&dims, "lhs_contracting_dimensions", out->lhs_contracting);
    out->n_batch = config_ints(&dims, "lhs_batch_dimensions", out->lhs_batch);
    return out->n_contracting >= 0 && out->n_batch >= 0 &&
           config_ints(&dims, "rhs_contracting_dimensions", out->rhs_contracting) ==
               out->n_contracting &&
           config_ints(&dims, "rhs_batch_dimensions", out->rhs_batch) == out->n_batch;
}

/* oneDNN: [.., m, k] x [.., k, n], either transposed. */
static bool onednn_dims(ridge_ctx *cx, const ridge_hlo_instruction *i,
                        const ridge_hlo_shape *lhs, const ridge_hlo_shape *rhs,
                        hlo_dot_dims *out)
{
    bool is_a = false, is_b = false;
    ridge_node a, b;
    const ridge_node node = hlo_config_of(cx, i);
    if (hlo_config_find(&node, "transpose_a", 0, &a) == RIDGE_JSON_BOOL)
        ridge_json_bool(a, &is_a);
    if (hlo_config_find(&node, "transpose_b", 0, &b) == RIDGE_JSON_BOOL)
        ridge_json_bool(b, &is_b);
    if (lhs->n < 1 || rhs->n < 1 || (lhs->n > 1 && rhs->n > 2 && lhs->n != rhs->n))
        return false;
    out->n_contracting = 1;
    out->lhs_contracting[0] = lhs->n - 1 - (is_a && lhs->n > 1);
    out->rhs_contracting[0] = rhs->n - (rhs->n > 1 && !is_b ? 2 : 1);
    out->n_batch = rhs->n > 2 ? rhs->n - 2 : 0;
    for (int d = 0; d < out->n_batch; d++)
        out->lhs_batch[d] = out->rhs_batch[d] = d;
    return true;
}

static bool attribute_dims(const ridge_hlo_instruction *i, hlo_dot_dims *out)
{
    const int most = RIDGE_HLO_RANK_MAX;
    out->n_contracting =
        hlo_attribute_ints(i, "lhs_contracting_dims", out->lhs_contracting, most);
    out->n_batch = hlo_attribute_ints(i, "lhs_batch_dims", out->lhs_batch, most);
    return out->n_contracting >= 0 && out->n_batch >= 0 &&
           hlo_attribute_ints(i, "rhs_contracting_dims", out->rhs_contracting, most) ==
               out->n_contracting &&
           hlo_attribute_ints(i, "rhs_batch_dims", out->rhs_batch, most) ==
               out->n_batch;
}

static bool do_fit(const int64_t *a, const int64_t *b, int n,
                   const ridge_hlo_shape *lhs, const ridge_hlo_shape *rhs)
{
    for (int k = 0; k < n; k++) {
        if (a[k] < 0 || a[k] >= lhs->n || b[k] < 0 || b[k] >= rhs->n ||
            lhs->dims[a[k]] != rhs->dims[b[k]])
            return false;
    }
    return true;
}

bool hlo_dot_dims_find(ridge_ctx *cx, const ridge_hlo_instruction *i,
                       const ridge_hlo_shape *lhs, const ridge_hlo_shape *rhs,
                       hlo_dot_dims *out)
{
    *out = (hlo_dot_dims){.n_batch = 0};
    if (ridge_hlo_shape_is_tuple(lhs) || ridge_hlo_shape_is_tuple(rhs))
        return false;
    if (i->code != RIDGE_HLO_OP_CUSTOM_CALL) {
        if (!attribute_dims(i, out))
            return false;
    } else if (!config_dims(cx, i, out) && (!hlo_text_has(hlo_target_of(i), "onednn") ||
                                            !onednn_dims(cx, i, lhs, rhs, out))) {
        return false;
    }
    return do_fit(out->lhs_batch, out->rhs_batch, out->n_batch, lhs, rhs) &&
           do_fit(out->lhs_contracting, out->rhs_contracting, out->n_contracting, lhs,
                  rhs);
}

/* An operand of a product. */
typedef struct dot_operand {
    const ridge_hlo_shape *shape;
    const int64_t *batch, *contracting;
    char free; /* letter of the next dim that it has alone */
} dot_operand;

/* Letters of an operand: those of batch and contracting dims are shared, the others are
 * those of the result as well. */
static void add_letters(const hlo_dot_dims *dims, dot_operand o, ridge_buf *b,
                        ridge_buf *out)
{
    for (int d = 0; d < o.shape->n; d++) {
        char letter = 0;
        for (int k = 0; k < dims->n_batch; k++)
            letter = o.batch[k] == d ? (char)('a' + k) : letter;
        for (int k = 0; k < dims->n_contracting; k++)
            letter = o.contracting[k] == d ? (char)('k' + k) : letter;
        if (letter == 0) {
            letter = o.free++;
            ridge_buf_printf(out, "%c", letter);
        }
        ridge_buf_printf(b, "%c", letter);
    }
}

/* "akm,akn->amn" : a.. batch, k.. contracted, p.. of the left, u.. of the right. */
static const char *einsum_of(ridge_ctx *cx, const hlo_dot_dims *dims,
                             const ridge_hlo_shape *lhs, const ridge_hlo_shape *rhs)
{
    ridge_buf b, out;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    ridge_buf_init(&out, ridge_ctx_arena(cx));
    for (int k = 0; k < dims->n_batch; k++)
        ridge_buf_printf(&out, "%c", 'a' + k);
    const dot_operand left = {lhs, dims->lhs_batch, dims->lhs_contracting, 'p'};
    const dot_operand right = {rhs, dims->rhs_batch, dims->rhs_contracting, 'u'};
    add_letters(dims, left, &b, &out);
    ridge_buf_puts(&b, ",");
    add_letters(dims, right, &b, &out);
    ridge_buf_printf(&b, "->%s", ridge_buf_text(&out));
    return ridge_buf_text(&b);
}

static bool find_dot(ridge_ctx *cx, const ridge_hlo_instruction *i,
                     const ridge_hlo_shape *const *operands, bool has_text,
                     hlo_product *out)
{
    const ridge_hlo_shape *lhs = operands[0], *rhs = operands[1];
    hlo_dot_dims dims;
    if (!hlo_dot_dims_find(cx, i, lhs, rhs, &dims))
        return false;
    out->batch = out->k = 1;
    for (int d = 0; d < dims.n_batch; d++)
        out->batch *= (double)lhs->dims[dims.lhs_batch[d]];
    for (int d = 0; d < dims.n_contracting; d++)
        out->k *= (double)lhs->dims[dims.lhs_contracting[d]];
    const double shared = out->batch * out->k;
    if (shared <= 0)
        return false;
    out->m = ridge_hlo_shape_elements(lhs) / shared;
    out->n = ridge_hlo_shape_elements(rhs) / shared;
    out->flops = 2 * out->batch * out->m * out->k * out->n;
    if (has_text && dims.n_batch < 10 && dims.n_contracting < 5 && lhs->n < 12 &&
        rhs->n < 12)
        out->einsum = einsum_of(cx, &dims, lhs, rhs);
    return true;
}

/* ---- convolutions ---------------------------------------------------------------- */

/* Pairs of an output and a kernel position of one spatial dim that meet an input. */
static double meeting_pairs(const hlo_window_dim *w, int64_t input, int64_t output)
{
    const double spread =
        input > 0 ? (double)(input - 1) * (double)w->lhs_dilation + 1 : 0;
    const double all = (double)w->size * (double)output;
    double pairs = 0;
    if (all > PAIRS_MOST)
        return all / (double)w->lhs_dilation;
    for (int64_t k = 0; k < w->size; k++) {
        for (int64_t o = 0; o < output; o++) {
            const double at = (double)o * (double)w->stride - (double)w->pad_low +
                              (double)k * (double)w->rhs_dilation;
            pairs += at >= 0 && at < spread &&
                     (w->lhs_dilation == 1 || fmod(at, (double)w->lhs_dilation) == 0);
        }
    }
    return pairs;
}

/* As XLA counts: only positions that meet an input, not padding. */
static bool find_convolution(const ridge_hlo_instruction *i, const ridge_hlo_shape *lhs,
                             const ridge_hlo_shape *rhs, const ridge_hlo_shape *output,
                             hlo_product *out)
{
    hlo_window w;
    hlo_conv_dims d;
    if (!hlo_window_parse(ridge_hlo_attribute_of(i, "window"), &w) ||
        !hlo_conv_dims_parse(ridge_hlo_attribute_of(i, "dim_labels"), lhs->n, &d) ||
        rhs->n != lhs->n || output->n != lhs->n || (w.n > 0 && w.n != d.n))
        return false;
    /* what the other operand or the output has in groups is not multiplied again */
    double points = (double)output->dims[d.out_batch] *
                    (double)output->dims[d.out_feature] * (double)rhs->dims[d.rhs_in];
    for (int s = 0; s < d.n; s++) {
        hlo_window_dim dim = w.n > 0 ? w.dims[s] : (hlo_window_dim){1, 1, 0, 0, 1, 1};
        dim.size = rhs->dims[d.rhs_spatial[s]];
        points *= meeting_pairs(&dim, lhs->dims[d.lhs_spatial[s]],
                                output->dims[d.out_spatial[s]]);
    }
    const double groups = (double)hlo_attribute_int(i, "feature_group_count", 1);
    const double outputs = ridge_hlo_shape_elements(output);
    if (outputs <= 0 || groups < 1 || points <= 0)
        return false;
    out->flops = 2 * points;
    out->k = fmax(1, points / outputs);
    out->n = fmax(1, (double)output->dims[d.out_feature] / groups);
    /* a batch dim is written as a spatial one whose window meets one position each */
    out->batch = fmax(1, ridge_hlo_shape_elements(rhs) / (out->k * out->n));
    out->m = fmax(1, outputs / (out->n * out->batch));
    out->is_pointwise = out->k <= (double)rhs->dims[d.rhs_in];
    return true;
}

/* ---- both -------------------------------------------------------------------------
 */

/* Targets of custom calls that are products; a convolution where the second is true. */
static bool target_of_product(const ridge_hlo_instruction *i, bool *is_convolution)
{
    static const char *const dots[] = {"__cublas$gemm",
                                       "__cublas$lt$matmul",
                                       "__onednn$matmul",
                                       "__triton_gemm",
                                       "__cublas$lt$groupedMatmul",
                                       "hipblaslt",
                                       "te_gemm",
                                       "__cublasLt"};
    const ridge_str target = hlo_target_of(i);
    *is_convolution =
        hlo_text_has(target, "__cudnn$conv") || hlo_text_has(target, "__onednn$conv");
    if (*is_convolution)
        return true;
    for (size_t k = 0; k < RIDGE_COUNT_OF(dots); k++) {
        if (hlo_text_has(target, dots[k]))
            return true;
    }
    return false;
}

bool hlo_product_is(const ridge_hlo_instruction *i)
{
    bool is_convolution;
    if (i->code == RIDGE_HLO_OP_CUSTOM_CALL)
        return target_of_product(i, &is_convolution);
    return ridge_hlo_opcode_kind(i->code) == RIDGE_HLO_KIND_PRODUCT &&
           !hlo_dot_is_map(i);
}

bool hlo_dot_is_map(const ridge_hlo_instruction *i)
{
    int64_t dims[RIDGE_HLO_RANK_MAX];
    return i->code == RIDGE_HLO_OP_DOT &&
           hlo_attribute_ints(i, "lhs_contracting_dims", dims, RIDGE_HLO_RANK_MAX) == 0;
}

static int precision_of(const ridge_hlo_instruction *i)
{
    const ridge_str text = ridge_hlo_attribute_of(i, "operand_precision");
    if (hlo_text_has(text, "highest"))
        return 3;
    return hlo_text_has(text, "high") ? 2 : 1;
}

/* ragged_dot: [m, k] x [g, k, n]: each row meets one of the g. */
static bool find_ragged(const ridge_hlo_shape *lhs, const ridge_hlo_shape *rhs,
                        hlo_product *out)
{
    if (lhs->n != 2 || rhs->n != 3 || rhs->dims[0] < 1)
        return false;
    out->batch = (double)rhs->dims[0];
    out->k = (double)rhs->dims[1];
    out->n = (double)rhs->dims[2];
    out->m = fmax(1, (double)lhs->dims[0] / out->batch);
    out->flops = 2 * (double)lhs->dims[0] * out->k * out->n;
    return true;
}

bool hlo_product_find(ridge_ctx *cx, const ridge_hlo_instruction *i,
                      const ridge_hlo_shape *const *operands, bool has_text,
                      hlo_product *out)
{
    const ridge_hlo_shape *output = &i->shape;
    bool is_convolution = i->code == RIDGE_HLO_OP_CONVOLUTION;
    *out = (hlo_product){.precision = precision_of(i)};
    if (!hlo_product_is(i) || i->n_operands < 2)
        return false;
    if (i->code == RIDGE_HLO_OP_CUSTOM_CALL) {
        out->is_custom_call = target_of_product(i, &is_convolution);
        /* the second part of the result is the library's workspace */
        if (ridge_hlo_shape_is_tuple(output) && output->n > 0)
            output = &output->parts[0];
    }
    if (ridge_hlo_shape_is_tuple(output) || ridge_hlo_shape_is_tuple(operands[0]) ||
        ridge_hlo_shape_is_tuple(operands[1]))
        return false;
    out->lhs = operands[0]->type;
    out->rhs = operands[1]->type;
    out->output = output->type;
    if (is_convolution)
        return find_convolution(i, operands[0], operands[1], output, out);
    if (i->code == RIDGE_HLO_OP_RAGGED_DOT)
        return find_ragged(operands[0], operands[1], out);
    return find_dot(cx, i, operands, has_text, out);
}

ridge_dtype hlo_compute_dtype(const ridge_chip *chip, ridge_hlo_type lhs,
                              ridge_hlo_type rhs, int precision, double *passes)
{
    /* more bits come from more passes over bf16 parts: 3 for high, 6 for highest.
     * @source xla-precision-2025 */
    static const double bf16_passes[] = {1, 1, 3, 6};
    const ridge_dtype a = ridge_hlo_type_dtype(lhs), b = ridge_hlo_type_dtype(rhs);
    const ridge_dtype wide = ridge_dtype_bytes(a) >= ridge_dtype_bytes(b) ? a : b;
    *passes = 1;
    if (ridge_dtype_bytes(wide) < ridge_dtype_bytes(RIDGE_DTYPE_FP32) ||
        wide == RIDGE_DTYPE_FP64 || chip == NULL)
        return wide;
    if (chip->kind == RIDGE_CHIP_TPU) {
        *passes = bf16_passes[precision];
        return RIDGE_DTYPE_BF16;
    }
    const bool has_tf32 = chip->has_peak[RIDGE_DTYPE_TF32];
    return precision == 1 && has_tf32 ? RIDGE_DTYPE_TF32 : RIDGE_DTYPE_FP32;
}
