#include "hlo_attention.h"
#include "hlo_attribute.h"
#include "hlo_product.h"

#include <math.h>

/* Backward: the scores again, and four products where forward has two.
 * @source dao2022 */
#define BACKWARD_PASSES 2.5

/* ---- calls of fused kernels -------------------------------------------------------
 */

/* Pairs of a query and a key that are met. */
static double pairs_of(const ridge_attention *a)
{
    const double t = a->query_tokens, s = a->context_tokens;
    double pairs = a->is_causal && s >= t ? t * s - t * (t - 1) / 2 : t * s;
    if (a->window > 0)
        pairs = fmin(pairs, t * fmin(s, a->window));
    return pairs;
}

static void count(hlo_attention_call *out)
{
    const ridge_attention *a = &out->attention;
    out->flops = 2 * a->batch * a->heads * pairs_of(a) * (a->head_dim + a->v_head_dim) *
                 out->passes;
}

static double config_number(ridge_str text, const char *key, double fallback)
{
    int64_t n;
    return hlo_typed_int(text, key, &n) ? (double)n : fallback;
}

/* A shape as [.., rows, columns] of an operand: its dims from the back. */
static double dim_of(const ridge_hlo_shape *s, int back)
{
    const bool has_it = !ridge_hlo_shape_is_tuple(s) && s->n >= back;
    return has_it ? (double)s->dims[s->n - back] : 1;
}

/* q, k, v as [B, T, N, H] each. */
static bool find_apart(const ridge_hlo_instruction *i,
                       const ridge_hlo_shape *const *operands, ridge_attention *a)
{
    if (i->n_operands < 3 || operands[0]->n != 4 || operands[1]->n != 4 ||
        operands[2]->n != 4)
        return false;
    a->batch = dim_of(operands[0], 4);
    a->query_tokens = dim_of(operands[0], 3);
    a->heads = dim_of(operands[0], 2);
    a->head_dim = dim_of(operands[0], 1);
    a->context_tokens = dim_of(operands[1], 3);
    a->kv_heads = dim_of(operands[1], 2);
    a->v_head_dim = dim_of(operands[2], 1);
    return true;
}

/* Transformer Engine: sizes are in the configuration, or in the operands where a dump
 * left it out. mask_type 2 to 5 are causal. */
static bool find_te(const ridge_hlo_instruction *i,
                    const ridge_hlo_shape *const *operands, hlo_attention_call *out)
{
    const ridge_str text = ridge_hlo_attribute_of(i, "backend_config");
    ridge_attention *a = &out->attention;
    if (text.n == 0)
        return find_apart(i, operands, a);
    a->batch = config_number(text, "input_batch", 0);
    a->query_tokens = config_number(text, "q_max_seqlen", 0);
    a->context_tokens = config_number(text, "kv_max_seqlen", a->query_tokens);
    a->heads = config_number(text, "attn_heads", 0);
    a->kv_heads = config_number(text, "num_gqa_groups", a->heads);
    a->head_dim =
        config_number(text, "qk_head_dim", config_number(text, "head_dim", 0));
    a->v_head_dim = config_number(text, "v_head_dim", a->head_dim);
    const double mask = config_number(text, "mask_type", -1);
    a->is_causal = mask >= 2 && mask <= 5;
    out->is_mask_told = mask >= 0;
    const double window = config_number(text, "window_size_left", -1);
    a->window = window > 0 ? window : 0;
    return a->batch >= 1 && a->heads >= 1 && a->head_dim >= 1 && a->query_tokens >= 1;
}

/* cuDNN: the mask is named in the configuration. */
static bool find_cudnn(ridge_ctx *cx, const ridge_hlo_instruction *i,
                       const ridge_hlo_shape *const *operands, hlo_attention_call *out)
{
    ridge_attention *a = &out->attention;
    ridge_node mask;
    const char *text = "";
    if (!find_apart(i, operands, a))
        return false;
    const ridge_node node = hlo_config_of(cx, i);
    out->is_mask_told =
        hlo_config_find(&node, "mask_type", 0, &mask) == RIDGE_JSON_STRING &&
        ridge_json_text(mask, &text);
    a->is_causal = hlo_text_has(ridge_str_of(text), "CAUSAL");
    return true;
}

/* Pallas on TPUs: q as [.., N, T, H], k and v as [.., K, S, H], among other operands.
 */
static bool find_pallas(const ridge_hlo_instruction *i,
                        const ridge_hlo_shape *const *operands, hlo_attention_call *out)
{
    const ridge_hlo_shape *found[3];
    int n = 0;
    for (int k = 0; k < i->n_operands && n < 3; k++) {
        const ridge_hlo_shape *s = operands[k];
        if ((s->n == 3 || s->n == 4) && ridge_hlo_type_is_float(s->type))
            found[n++] = s;
    }
    if (n < 3)
        return false;
    ridge_attention *a = &out->attention;
    a->batch = found[0]->n == 4 ? dim_of(found[0], 4) : 1;
    a->heads = dim_of(found[0], 3);
    a->query_tokens = dim_of(found[0], 2);
    a->head_dim = dim_of(found[0], 1);
    a->kv_heads = dim_of(found[1], 3);
    a->context_tokens = dim_of(found[1], 2);
    a->v_head_dim = dim_of(found[2], 1);
    return true;
}

static bool is_backward(const ridge_hlo_instruction *i)
{
    const ridge_str target = hlo_target_of(i), scope = ridge_hlo_scope_of(i);
    return hlo_text_has(target, "ackward") || hlo_text_has(target, "_bwd") ||
           hlo_text_has(scope, "_bwd") || hlo_text_has(scope, "_dkv") ||
           hlo_text_has(scope, "_dq");
}

static bool is_pallas_attention(const ridge_hlo_instruction *i)
{
    const ridge_str scope = ridge_hlo_scope_of(i);
    return (ridge_str_is(hlo_target_of(i), "tpu_custom_call") ||
            hlo_text_has(hlo_target_of(i), "triton_kernel_call")) &&
           (hlo_text_has(scope, "splash") || hlo_text_has(scope, "flash_attention") ||
            hlo_text_has(scope, "mha"));
}

bool hlo_attention_call_find(ridge_ctx *cx, const ridge_hlo_instruction *i,
                             const ridge_hlo_shape *const *operands,
                             hlo_attention_call *out)
{
    const ridge_str target = hlo_target_of(i);
    *out = (hlo_attention_call){.passes = is_backward(i) ? BACKWARD_PASSES : 1};
    if (i->code != RIDGE_HLO_OP_CUSTOM_CALL || i->n_operands < 1)
        return false;
    const bool is_found =
        hlo_text_has(target, "te_fused_attn") ? find_te(i, operands, out)
        : hlo_text_has(target, "cudnn$fmha")  ? find_cudnn(cx, i, operands, out)
        : is_pallas_attention(i)              ? find_pallas(i, operands, out)
                                              : false;
    if (!is_found)
        return false;
    const ridge_dtype dtype = ridge_hlo_type_dtype(operands[0]->type);
    const bool is_wide = ridge_dtype_bytes(dtype) > ridge_dtype_bytes(RIDGE_DTYPE_BF16);
    out->attention.activation = out->attention.cache = out->attention.compute =
        ridge_hlo_type_is_float(operands[0]->type) && !is_wide ? dtype
                                                               : RIDGE_DTYPE_BF16;
    count(out);
    return true;
}

/* ---- attention in pieces ----------------------------------------------------------
 */

enum { VISITS_MOST = 256, DEPTH_MOST = 40 };

/** A walk back from the second product. */
typedef struct back_walk {
    const hlo_kernels *k;
    bool has_softmax; /* a sum of exponentials was met */
    int scores;       /* the product that was met behind it; -1 */
    int n;
    int met[VISITS_MOST];
} back_walk;

static bool was_met(const back_walk *w, int node)
{
    for (int k = 0; k < w->n; k++) {
        if (w->met[k] == node)
            return true;
    }
    return false;
}

static bool is_passed(const hlo_node *n)
{
    const ridge_hlo_kind kind = ridge_hlo_opcode_kind(n->i->code);
    return kind == RIDGE_HLO_KIND_MAP || kind == RIDGE_HLO_KIND_HARD ||
           kind == RIDGE_HLO_KIND_REDUCE || kind == RIDGE_HLO_KIND_MOVE ||
           hlo_node_is_free(n) || hlo_dot_is_map(n->i);
}

/* The sum of a softmax: a reduction of what an exponential gave. */
static bool is_softmax_sum(const back_walk *w, const hlo_node *n)
{
    const hlo_graph *g = w->k->graph;
    if (n->i->code != RIDGE_HLO_OP_REDUCE || n->n_inputs < 1)
        return false;
    int at = hlo_graph_value(g, n->inputs[0]);
    while (g->nodes[at].i->code == RIDGE_HLO_OP_CONVERT && g->nodes[at].n_inputs == 1)
        at = hlo_graph_value(g, g->nodes[at].inputs[0]);
    return g->nodes[at].i->code == RIDGE_HLO_OP_EXPONENTIAL;
}

static void walk_back(back_walk *w, int node, int depth)
{
    const hlo_node *n = &w->k->graph->nodes[node];
    if (w->scores >= 0 || w->n == VISITS_MOST || depth > DEPTH_MOST || was_met(w, node))
        return;
    w->met[w->n++] = node;
    if (hlo_product_is(n->i)) {
        w->scores = w->has_softmax ? node : -1;
        return;
    }
    if (!is_passed(n))
        return;
    w->has_softmax |= is_softmax_sum(w, n);
    for (int k = 0; k < n->n_inputs; k++)
        walk_back(w, n->inputs[k], depth + 1);
}

/* Scores have batch dims, the heads, and so has the product behind them. */
static bool is_score(const hlo_node *n)
{
    int64_t dims[RIDGE_HLO_RANK_MAX];
    const ridge_hlo_shape *s = &n->i->shape;
    return !ridge_hlo_shape_is_tuple(s) && s->n >= 3 && s->dims[s->n - 1] > 1 &&
           hlo_attribute_ints(n->i, "lhs_batch_dims", dims, RIDGE_HLO_RANK_MAX) > 0;
}

static void mark(const back_walk *w, int output, bool *is_attention)
{
    const int *of = w->k->kernel_of;
    for (int k = 0; k < w->n; k++) {
        if (of[w->met[k]] >= 0 && w->met[k] >= w->scores)
            is_attention[of[w->met[k]]] = true;
    }
    if (of[output] >= 0)
        is_attention[of[output]] = true;
}

int hlo_attention_mark(const hlo_kernels *kernels, bool *is_attention,
                       hlo_attention_pieces *pieces, int most)
{
    const hlo_graph *g = kernels->graph;
    int n = 0;
    for (int node = 0; node < g->n; node++) {
        const hlo_node *x = &g->nodes[node];
        if (!hlo_product_is(x->i) || x->i->code == RIDGE_HLO_OP_CUSTOM_CALL)
            continue;
        for (int k = 0; k < x->n_inputs && k < 2; k++) {
            back_walk w = {.k = kernels, .scores = -1};
            walk_back(&w, x->inputs[k], 0);
            if (w.scores < 0 || !is_score(&g->nodes[w.scores]) || !is_score(x))
                continue;
            mark(&w, node, is_attention);
            const ridge_hlo_shape *s = &g->nodes[w.scores].i->shape;
            if (n < most)
                pieces[n] =
                    (hlo_attention_pieces){w.scores, node, ridge_hlo_shape_elements(s),
                                           s->dims[s->n - 2], s->dims[s->n - 1]};
            n++;
            break;
        }
    }
    return n;
}
