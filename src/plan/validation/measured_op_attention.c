/* Measured attention: decode and prefill, with heads of their own or latent ones. */
#include "measured_op.h"

#include <string.h>

static bool is_named(const measured_record *r, const char *name, const char *value)
{
    const char *text = measured_record_text(r, name);
    return text != NULL && strcmp(text, value) == 0;
}

static ridge_dtype format_of(const char *text)
{
    return text != NULL && strcmp(text, "fp8") == 0 ? RIDGE_DTYPE_FP8
                                                    : RIDGE_DTYPE_BF16;
}

static ridge_dtype first_format(const measured_record *r, const char *name,
                                const char *other)
{
    const char *text = measured_record_text(r, name);
    return format_of(text != NULL ? text : measured_record_text(r, other));
}

static ridge_status read_lengths(ridge_ctx *cx, const measured_record *r,
                                 bool is_decode, ridge_attention *a)
{
    double v;
    if (!measured_record_number(r, "batch", &a->batch))
        return ridge_fail(cx, RIDGE_E_ARG, "the batch is not stated");
    if (!measured_record_either(r, "kv_len", "seq_len", &a->context_tokens))
        return ridge_fail(cx, RIDGE_E_ARG, "the length is not stated");
    a->query_tokens = is_decode ? 1 : a->context_tokens;
    if (measured_record_number(r, "q_len", &v))
        a->query_tokens = v;
    if (a->query_tokens > a->context_tokens) {
        return ridge_fail(cx, RIDGE_E_ARG, "more queries than keys: %.0f of %.0f",
                          a->query_tokens, a->context_tokens);
    }
    return RIDGE_OK;
}

enum { HEAD_DIM_MOST = 65536 };

/* A single head dim, or "192/128": that of keys and that of values. */
static bool read_head_dims(const measured_record *r, ridge_attention *a)
{
    const char *text = measured_record_text(r, "head_dim");
    if (text == NULL) {
        const bool has_one = measured_record_number(r, "head_dim", &a->head_dim);
        a->v_head_dim = a->head_dim;
        return has_one;
    }
    ridge_str rest = ridge_str_of(text);
    if (!ridge_parse_double(ridge_str_cut(&rest, '/'), &a->head_dim))
        return false;
    a->v_head_dim = a->head_dim;
    if (rest.p != NULL && !ridge_parse_double(rest, &a->v_head_dim))
        return false;
    return a->head_dim >= 1 && a->v_head_dim >= 1 && a->head_dim <= HEAD_DIM_MOST &&
           a->v_head_dim <= HEAD_DIM_MOST;
}

/* Latent attention: decode works on the latent itself, one KV head for all; prefill
 * unfolds it to heads of 192 and 128 (deepseek-v2-2024, section 2.1). */
static void set_latent(const measured_record *r, bool is_decode, ridge_attention *a)
{
    double rank = 512;
    double rope = 64;
    measured_record_number(r, "kv_rank", &rank);
    measured_record_number(r, "rope_dim", &rope);
    a->head_dim = is_decode ? rank + rope : 128 + rope;
    a->v_head_dim = is_decode ? rank : 128;
    a->kv_heads = is_decode ? 1 : a->heads;
    a->is_latent = true;
}

static ridge_status read_heads(ridge_ctx *cx, const measured_record *r, bool is_latent,
                               bool is_decode, ridge_attention *a)
{
    if (!measured_record_either(r, "q_heads", "n_heads", &a->heads))
        return ridge_fail(cx, RIDGE_E_ARG, "the number of heads is not stated");
    if (is_latent) {
        set_latent(r, is_decode, a);
        return RIDGE_OK;
    }
    a->kv_heads = a->heads;
    measured_record_either(r, "kv_heads", "n_kv_heads", &a->kv_heads);
    if (!read_head_dims(r, a))
        return ridge_fail(cx, RIDGE_E_ARG, "the head dim is not stated");
    if (a->kv_heads > a->heads)
        return ridge_fail(cx, RIDGE_E_ARG, "more KV heads than query heads");
    return RIDGE_OK;
}

/* The mask: as stated; charts that do not say are of the whole square. */
static bool is_causal(const measured_record *r, bool is_decode)
{
    return !is_decode && is_named(r, "causal", "yes");
}

static void read_formats(const measured_record *r, ridge_attention *a)
{
    a->compute = first_format(r, "compute_dtype", "dtype");
    a->cache = first_format(r, "kv_dtype", "dtype");
    a->activation = RIDGE_DTYPE_BF16;
    if (is_named(r, "dtype", "fp16") || is_named(r, "dtype", "fp16/bf16"))
        a->activation = a->cache = a->compute = RIDGE_DTYPE_FP16;
}

static const char *kind_of(bool is_latent, bool is_decode)
{
    if (is_latent)
        return is_decode ? "mla decode" : "mla prefill";
    return is_decode ? "attention decode" : "attention prefill";
}

/* Calls through an engine store keys and values, and TensorRT-LLM's rotate queries and
 * keys as well; benchmarks of a kernel do neither. Decode kernels of FlashInfer come
 * with the engine's launches. */
static void read_call(const measured_record *r, bool is_decode, ridge_attention *a)
{
    const char *framework = measured_record_text(r, "framework");
    if (framework == NULL) {
        /* a layer that was timed inside of its engine */
        a->is_engine_call = measured_record_text(r, "layer") != NULL;
        return;
    }
    const bool is_kernel =
        strcmp(framework, "flashinfer") == 0 || strcmp(framework, "fa3") == 0;
    a->is_engine_call = is_decode || !is_kernel;
    a->rotates = strncmp(framework, "trtllm", 6) == 0;
}

ridge_status measured_attention_read(ridge_ctx *cx, const measured_record *r,
                                     measured_op *out)
{
    const char *op = measured_record_text(r, "op");
    const bool is_latent = strncmp(op, "mla", 3) == 0 || strncmp(op, "MLA", 3) == 0;
    const bool is_decode = strstr(op, "decode") != NULL;
    ridge_attention *a = &out->attention;
    out->class = MEASURED_ATTENTION;
    out->kind = kind_of(is_latent, is_decode);
    RIDGE_TRY(read_lengths(cx, r, is_decode, a));
    RIDGE_TRY(read_heads(cx, r, is_latent, is_decode, a));
    read_formats(r, a);
    a->is_causal = is_causal(r, is_decode);
    read_call(r, is_decode, a);
    measured_record_number(r, "sliding_window", &a->window);
    out->what =
        ridge_sprintf(ridge_ctx_arena(cx),
                      "b=%.0f t=%.0f s=%.0f n=%.0f k=%.0f h=%.0f/%.0f w=%.0f %s/%s",
                      a->batch, a->query_tokens, a->context_tokens, a->heads,
                      a->kv_heads, a->head_dim, a->v_head_dim, a->window,
                      ridge_dtype_text(a->compute), ridge_dtype_text(a->cache));
    if (out->what == NULL)
        return ridge_fail_nomem(cx);
    const double scores = a->batch * a->heads * a->query_tokens * a->context_tokens *
                          (a->is_causal ? 0.5 : 1);
    double bytes = a->batch * a->kv_heads * a->context_tokens *
                   (a->head_dim + (is_latent ? 0 : a->v_head_dim)) *
                   ridge_dtype_bytes(a->cache);
    return measured_seconds(cx, r, 2 * scores * (a->head_dim + a->v_head_dim), bytes,
                            &out->measured_s);
}
