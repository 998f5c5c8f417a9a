/* The model in Megatron's options: sizes that are stated, and those that it derives.
 * @source megatron-lm-2025, megatron/training/arguments.py (validate_args) */
#include "launch_dims.h"
#include "launch_read.h"

#include <string.h>

enum { GPT2_TOKENS = 50257 };

static ridge_status read_flags(launch_sheet *s, launch_dims *d)
{
    bool no_bias = false;
    bool has_qkv_bias = false;
    bool is_untied = false;
    RIDGE_TRY(launch_sheet_flag(s, LAUNCH_NO_BIAS, &no_bias));
    RIDGE_TRY(launch_sheet_flag(s, LAUNCH_QKV_BIAS, &has_qkv_bias));
    RIDGE_TRY(launch_sheet_flag(s, LAUNCH_UNTIED, &is_untied));
    RIDGE_TRY(launch_sheet_flag(s, LAUNCH_GATED, &d->is_gated));
    RIDGE_TRY(launch_sheet_flag(s, LAUNCH_QK_NORM, &d->has_qk_norm));
    RIDGE_TRY(launch_sheet_flag(s, LAUNCH_OUT_GATE, &d->has_out_gate));
    RIDGE_TRY(launch_sheet_flag(s, LAUNCH_MLA, &d->is_mla));
    RIDGE_TRY(launch_sheet_flag(s, LAUNCH_SHARED_GATE, &d->has_shared_gate));
    RIDGE_TRY(launch_sheet_flag(s, LAUNCH_ROUTER_BIAS, &d->has_router_bias));
    RIDGE_TRY(launch_sheet_want(s, LAUNCH_EXPERT_GROUPS, &d->expert_groups));
    RIDGE_TRY(launch_sheet_want(s, LAUNCH_GROUPS_PER_TOKEN, &d->groups_per_token));
    d->is_tied = !is_untied;
    d->has_qkv_bias = has_qkv_bias || !no_bias;
    d->has_out_bias = d->has_mlp_bias = !no_bias;
    return RIDGE_OK;
}

static ridge_status read_forms(launch_sheet *s, launch_dims *d)
{
    const char *norm = "LayerNorm";
    const char *positions = "learned_absolute";
    bool is_rotary = false;
    RIDGE_TRY(launch_sheet_text(s, LAUNCH_NORM, &norm));
    RIDGE_TRY(launch_sheet_flag(s, LAUNCH_ROPE, &is_rotary));
    if (!is_rotary)
        RIDGE_TRY(launch_sheet_text(s, LAUNCH_POSITION_KIND, &positions));
    d->is_layer_norm = strcmp(norm, "LayerNorm") == 0;
    d->has_learned_positions = !is_rotary && strcmp(positions, "learned_absolute") == 0;
    RIDGE_TRY(launch_sheet_want(s, LAUNCH_POSITIONS, &d->positions));
    if (d->has_learned_positions && d->positions == 0)
        return launch_sheet_fail(s, RIDGE_E_PARSE, LAUNCH_POSITIONS,
                                 "learned positions need it");
    return RIDGE_OK;
}

/* "(1024,0)", "1024,0": tokens to the left that a token sees. */
static ridge_status read_window(launch_sheet *s, launch_dims *d)
{
    if (!launch_sheet_has(s, LAUNCH_WINDOW))
        return RIDGE_OK;
    const char *value = NULL;
    RIDGE_TRY(launch_sheet_text(s, LAUNCH_WINDOW, &value));
    const size_t skip = strspn(value, "([ ");
    const size_t n = strspn(value + skip, "0123456789");
    if (value[skip] == '-')
        return RIDGE_OK; /* (-1, 0): none */
    if (!ridge_parse_i64((ridge_str){value + skip, n}, &d->window))
        return launch_sheet_fail(s, RIDGE_E_PARSE, LAUNCH_WINDOW,
                                 "'%.60s': expected (TOKENS,0)", value);
    d->window++; /* and itself */
    return RIDGE_OK;
}

static ridge_status read_attention(launch_sheet *s, launch_dims *d)
{
    bool has_groups = false;
    int64_t groups = 0;
    int64_t nope = 0;
    RIDGE_TRY(launch_sheet_want(s, LAUNCH_HEADS, &d->heads));
    if (d->heads == 0)
        return launch_sheet_fail(s, RIDGE_E_PARSE, LAUNCH_HEADS, "it is missing");
    RIDGE_TRY(launch_sheet_flag(s, LAUNCH_HAS_GROUPS, &has_groups));
    if (has_groups)
        RIDGE_TRY(launch_sheet_i64(s, LAUNCH_KV_HEADS, 1, 1000000, &groups));
    d->kv_heads = has_groups ? groups : d->heads;
    RIDGE_TRY(launch_sheet_want(s, LAUNCH_HEAD_DIM, &d->head_dim));
    if (d->head_dim == 0)
        d->head_dim = d->d_model / d->heads;
    d->v_head_dim = d->head_dim;
    if (!d->is_mla)
        return read_window(s, d);
    RIDGE_TRY(launch_sheet_want(s, LAUNCH_Q_LORA, &d->q_lora_rank));
    RIDGE_TRY(launch_sheet_i64(s, LAUNCH_KV_LORA, 1, 1000000, &d->kv_lora_rank));
    RIDGE_TRY(launch_sheet_i64(s, LAUNCH_NOPE_DIM, 1, 1000000, &nope));
    RIDGE_TRY(launch_sheet_i64(s, LAUNCH_ROPE_DIM, 0, 1000000, &d->rope_head_dim));
    RIDGE_TRY(launch_sheet_i64(s, LAUNCH_V_HEAD_DIM, 1, 1000000, &d->v_head_dim));
    d->head_dim = nope + d->rope_head_dim;
    d->kv_heads = d->heads;
    return RIDGE_OK;
}

/* Width where none is stated: 4 D, or two thirds of it for three matrices, as a
 * multiple of 64. */
static int64_t usual_width(const launch_dims *d)
{
    if (!d->is_gated)
        return 4 * d->d_model;
    return (4 * d->d_model * 2 / 3) / 64 * 64;
}

/* ---- which layers have experts --------------------------------------------------- */

typedef struct pattern {
    const char *p;
    bool *layers; /* [most] */
    int64_t n, most;
} pattern;

static bool read_count(pattern *r, int64_t *out)
{
    const size_t n = strspn(r->p, "0123456789");
    if (!ridge_parse_i64((ridge_str){r->p, n}, out))
        return false;
    r->p += n;
    return true;
}

static bool repeat_last(pattern *r, int64_t length, int64_t times)
{
    if (length < 1 || times < 0 || times > r->most)
        return false;
    if (times == 0)
        r->n -= length;
    for (int64_t t = 1; t < times; t++) {
        for (int64_t i = 0; i < length; i++) {
            if (r->n == r->most)
                return false;
            r->layers[r->n] = r->layers[r->n - length];
            r->n++;
        }
    }
    return true;
}

/* [0,1,1]*3 */
static bool read_list(pattern *r)
{
    const int64_t start = r->n;
    int64_t v;
    for (r->p++; *r->p != ']';) {
        if (!read_count(r, &v) || r->n == r->most)
            return false;
        r->layers[r->n++] = v != 0;
        r->p += strspn(r->p, ", ");
    }
    r->p++;
    r->p += strspn(r->p, " )");
    if (*r->p != '*')
        return true;
    r->p++;
    r->p += strspn(r->p, " ");
    return read_count(r, &v) && repeat_last(r, r->n - start, v);
}

/* A list of Python's, "([0]*3+[1]*58)", or every n-th layer. */
static ridge_status read_pattern(launch_sheet *s, launch_dims *d)
{
    const char *value = NULL;
    int64_t every = 0;
    RIDGE_TRY(launch_sheet_text(s, LAUNCH_MOE_PATTERN, &value));
    pattern r = {.p = value,
                 .layers = ridge_new(ridge_ctx_arena(s->cx), bool, (size_t)d->layers),
                 .most = d->layers};
    if (r.layers == NULL)
        return ridge_fail_nomem(s->cx);
    d->is_moe = r.layers;
    if (ridge_parse_i64(ridge_str_of(value), &every) && every > 0) {
        for (int64_t i = 0; i < d->layers; i++)
            r.layers[i] = i % every == 0;
        return RIDGE_OK;
    }
    r.p += strspn(r.p, "( ");
    while (*r.p == '[' && read_list(&r))
        r.p += strspn(r.p, ") +");
    if (*r.p != '\0' || r.n != d->layers) {
        return launch_sheet_fail(s, RIDGE_E_PARSE, LAUNCH_MOE_PATTERN,
                                 "'%.60s': expected a number or a list of %lld layers",
                                 value, (long long)d->layers);
    }
    return RIDGE_OK;
}

static ridge_status read_experts(launch_sheet *s, launch_dims *d)
{
    RIDGE_TRY(launch_sheet_want(s, LAUNCH_EXPERTS, &d->experts));
    if (d->experts == 0)
        return RIDGE_OK;
    d->expert_d_ff = d->d_ff;
    RIDGE_TRY(launch_sheet_want(s, LAUNCH_EXPERT_D_FF, &d->expert_d_ff));
    RIDGE_TRY(launch_sheet_i64(s, LAUNCH_EXPERTS_PER_TOKEN, 1, 1000000,
                               &d->experts_per_token));
    RIDGE_TRY(launch_sheet_want(s, LAUNCH_SHARED_D_FF, &d->shared_d_ff));
    d->shared_experts = d->shared_d_ff > 0 ? 1 : 0;
    return read_pattern(s, d);
}

/* ---- the vocabulary -------------------------------------------------------------- */

static ridge_status find_vocab(launch_sheet *s, const ridge_launch_query *query,
                               int64_t *out)
{
    const char *tokenizer = "";
    const char *type = "";
    const ridge_model *model = NULL;
    if (launch_sheet_has(s, LAUNCH_TOKENIZER_MODEL))
        RIDGE_TRY(launch_sheet_text(s, LAUNCH_TOKENIZER_MODEL, &tokenizer));
    if (launch_sheet_has(s, LAUNCH_TOKENIZER_TYPE))
        RIDGE_TRY(launch_sheet_text(s, LAUNCH_TOKENIZER_TYPE, &type));
    if (tokenizer[0] != '\0' && !ridge_path_exists(tokenizer) &&
        ridge_model_load(s->cx, query->library, tokenizer, &model) == RIDGE_OK) {
        *out = model->vocab;
        launch_notes_add(s->cx, &s->launch->assumed, "vocab-size %lld, of %.80s",
                         (long long)*out, tokenizer);
        return RIDGE_OK;
    }
    if (launch_sheet_has(s, LAUNCH_VOCAB_FILE) ||
        strcmp(type, "GPT2BPETokenizer") == 0) {
        *out = GPT2_TOKENS;
        launch_notes_add(s->cx, &s->launch->assumed, "vocab-size %d, of GPT-2's tokens",
                         GPT2_TOKENS);
        return RIDGE_OK;
    }
    return launch_sheet_fail(s, RIDGE_E_PARSE, LAUNCH_VOCAB,
                             "the file does not state it: add --vocab-size");
}

static ridge_status read_vocab(launch_sheet *s, const ridge_launch_query *query,
                               int64_t tp, launch_dims *d)
{
    int64_t multiple = 128;
    RIDGE_TRY(launch_sheet_want(s, LAUNCH_VOCAB, &d->vocab));
    if (d->vocab == 0)
        RIDGE_TRY(find_vocab(s, query, &d->vocab));
    if (strcmp(launch_sheet_name(s, LAUNCH_VOCAB), "padded-vocab-size") == 0 &&
        launch_sheet_has(s, LAUNCH_VOCAB))
        return RIDGE_OK;
    RIDGE_TRY(launch_sheet_i64(s, LAUNCH_VOCAB_MULTIPLE, 1, 1000000, &multiple));
    multiple *= tp;
    d->vocab = ridge_ceil_div(d->vocab, multiple) * multiple;
    return RIDGE_OK;
}

ridge_status launch_megatron_model(launch_sheet *s, const ridge_launch_query *query,
                                   int64_t tp, ridge_launch *launch)
{
    launch_dims d = {0};
    RIDGE_TRY(launch_sheet_want(s, LAUNCH_LAYERS, &d.layers));
    RIDGE_TRY(launch_sheet_want(s, LAUNCH_D_MODEL, &d.d_model));
    if (d.layers == 0 || d.d_model == 0) {
        return launch_sheet_fail(
            s, RIDGE_E_PARSE, d.layers == 0 ? LAUNCH_LAYERS : LAUNCH_D_MODEL,
            "the file describes no model: add it, or give a model as well");
    }
    if (d.layers > LAUNCH_LAYERS_MOST) {
        return launch_sheet_fail(s, RIDGE_E_PARSE, LAUNCH_LAYERS, "expected at most %d",
                                 LAUNCH_LAYERS_MOST);
    }
    RIDGE_TRY(read_flags(s, &d));
    RIDGE_TRY(read_forms(s, &d));
    RIDGE_TRY(read_attention(s, &d));
    d.d_ff = usual_width(&d);
    RIDGE_TRY(launch_sheet_want(s, LAUNCH_D_FF, &d.d_ff));
    RIDGE_TRY(read_experts(s, &d));
    RIDGE_TRY(read_vocab(s, query, tp, &d));
    if (launch_sheet_has(s, LAUNCH_SPEC)) {
        launch_notes_add(s->cx, &launch->differing,
                         "%s:%d: %s %.80s: layers by a definition of its own; priced "
                         "by the stated sizes",
                         s->file, s->given[LAUNCH_SPEC]->line,
                         s->given[LAUNCH_SPEC]->name, s->given[LAUNCH_SPEC]->value);
    }
    launch->model_name = launch_model_title(s);
    const ridge_status st =
        launch_dims_model(s->cx, &d, launch->model_name, &launch->model);
    if (st != RIDGE_OK)
        ridge_ctx_note(s->cx, "%s", s->file);
    return st;
}
