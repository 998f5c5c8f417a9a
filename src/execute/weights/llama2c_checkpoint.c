/*
 * Checkpoints of llama2.c, little endian:
 *
 *     legacy     int32 x 7: dim, hidden_dim, n_layers, n_heads, n_kv_heads, vocab
 *                (negative: the unembedding has weights of its own), seq_len; then
 *                weights, those of all layers together: embedding, rms_att, wq, wk, wv,
 *                wo, rms_ffn, w1, w2, w3, rms_final, two tables of seq_len head_dim / 2
 *                rotary values, which are left out, and the unembedding
 *     version 1  uint32 0x616b3432, int32 version, the 7 sizes (vocab positive), one
 *                byte: the unembedding is the embedding; zeros to byte 256; then
 *                rms_att, rms_ffn, rms_final, embedding, wq, wk, wv, wo, w1, w2, w3,
 *                unembedding
 *     version 2  as version 1, but behind the byte an int32: elements of a group; each
 *                matrix is int8 and, behind its elements, an fp32 scale for each group
 *                of them in a row
 *
 * Numbers are fp32 otherwise. Matrices are [out, in], rotary pairs lie side by side. A
 * newer version is refused.
 * @source karpathy2023-llama2c (export.py, run.c)
 */
#include "weight_source.h"

#include <string.h>

enum {
    SIZES = 7,
    LEGACY_BYTES = 4 * SIZES,
    HEADER_BYTES = 256,
    MAGIC = 0x616b3432,
    MOST = 1 << 24, /* of any size */
    PIECES = 12
};

typedef struct sizes {
    bool is_legacy;
    int32_t version;
    int64_t dim, hidden, layers, heads, kv_heads, vocab, seq;
    bool is_tied;
    int64_t group; /* of version 2; 0: fp32 */
} sizes;

/* ---- header ---------------------------------------------------------------------- */

static int32_t int_at(const unsigned char *p, size_t index)
{
    const unsigned char *q = p + 4 * index;
    const uint32_t v = (uint32_t)q[0] | (uint32_t)q[1] << 8 | (uint32_t)q[2] << 16 |
                       (uint32_t)q[3] << 24;
    return (int32_t)v;
}

static bool is_size(int64_t v)
{
    return v >= 1 && v <= MOST;
}

static bool are_sizes(const sizes *s)
{
    return is_size(s->dim) && is_size(s->hidden) && is_size(s->layers) &&
           is_size(s->heads) && is_size(s->kv_heads) && is_size(s->vocab) &&
           is_size(s->seq) && s->layers <= 4096 && s->dim % s->heads == 0 &&
           s->heads % s->kv_heads == 0 && s->dim / s->heads % 2 == 0;
}

/* Groups end where rows do, so that a matrix is made of whole ones. */
static bool are_groups(const sizes *s)
{
    return s->version != 2 ||
           (is_size(s->group) && s->dim % s->group == 0 && s->hidden % s->group == 0);
}

static void take_sizes(const unsigned char *p, sizes *s)
{
    s->dim = int_at(p, 0);
    s->hidden = int_at(p, 1);
    s->layers = int_at(p, 2);
    s->heads = int_at(p, 3);
    s->kv_heads = int_at(p, 4);
    s->vocab = int_at(p, 5);
    s->seq = int_at(p, 6);
}

/* @return false: no such header */
static bool read_sizes(const unsigned char *p, size_t n, sizes *s)
{
    *s = (sizes){0};
    if (n >= HEADER_BYTES && int_at(p, 0) == MAGIC) {
        s->version = int_at(p, 1);
        take_sizes(p + 8, s);
        s->is_tied = p[8 + LEGACY_BYTES] != 0;
        s->group = s->version == 2 ? int_at(p + 9 + LEGACY_BYTES, 0) : 0;
        return are_sizes(s) && are_groups(s);
    }
    if (n < LEGACY_BYTES)
        return false;
    s->is_legacy = true;
    take_sizes(p, s);
    s->is_tied = s->vocab > 0;
    s->vocab = s->vocab < 0 ? -s->vocab : s->vocab;
    return are_sizes(s);
}

/* ---- weights --------------------------------------------------------------------- */

/* What follows the header, in this order: name, rows and columns (columns 0: a vector),
 * whether each layer has one. A name of NULL is left out. */
typedef struct piece {
    const char *name;
    int64_t rows, columns;
    bool is_layered;
    bool is_absent;
} piece;

static void pieces_of(const sizes *s, piece *out)
{
    const int64_t d = s->dim, f = s->hidden, kv = d / s->heads * s->kv_heads;
    const piece embedding = {"model.embed_tokens.weight", s->vocab, d, false, false};
    const piece head = {"lm_head.weight", s->vocab, d, false, s->is_tied};
    const piece att = {"input_layernorm.weight", d, 0, true, false};
    const piece ffn = {"post_attention_layernorm.weight", d, 0, true, false};
    const piece last = {"model.norm.weight", d, 0, false, false};
    const piece q = {"self_attn.q_proj.weight", d, d, true, false};
    const piece k = {"self_attn.k_proj.weight", kv, d, true, false};
    const piece v = {"self_attn.v_proj.weight", kv, d, true, false};
    const piece o = {"self_attn.o_proj.weight", d, d, true, false};
    const piece w1 = {"mlp.gate_proj.weight", f, d, true, false};
    const piece w2 = {"mlp.down_proj.weight", d, f, true, false};
    const piece w3 = {"mlp.up_proj.weight", f, d, true, false};
    const piece rotary = {NULL, s->seq, d / s->heads, false, false};
    const piece legacy[] = {embedding, att, q, k, v, o, ffn, w1, w2, w3, last, rotary};
    const piece new[] = {att, ffn, last, embedding, q, k, v, o, w1, w2, w3};
    memset(out, 0, (PIECES + 1) * sizeof *out);
    if (s->is_legacy)
        memcpy(out, legacy, sizeof legacy);
    else
        memcpy(out, new, sizeof new);
    out[s->is_legacy ? RIDGE_COUNT_OF(legacy) : RIDGE_COUNT_OF(new)] = head;
}

static bool is_packed(const piece *p, const sizes *s)
{
    return s->group > 0 && p->columns > 0;
}

/* Of one layer. Sizes are at most MOST and layers 4096, so that this fits. */
static int64_t piece_bytes(const piece *p, const sizes *s)
{
    const int64_t n = p->rows * (p->columns > 0 ? p->columns : 1);
    return is_packed(p, s) ? n + n / s->group * 4 : 4 * n;
}

static int64_t piece_layers(const piece *p, const sizes *s)
{
    return p->is_absent ? 0 : p->is_layered ? s->layers : 1;
}

static int64_t file_bytes(const sizes *s)
{
    piece pieces[PIECES + 1];
    int64_t bytes = s->is_legacy ? LEGACY_BYTES : HEADER_BYTES, all;
    pieces_of(s, pieces);
    for (int i = 0; i <= PIECES; i++) {
        const piece *p = &pieces[i];
        if (!ridge_mul_i64(piece_bytes(p, s), piece_layers(p, s), &all) ||
            !ridge_add_i64(bytes, all, &bytes))
            return -1;
    }
    return bytes;
}

static ridge_status check_file(ridge_ctx *cx, const ridge__mapped_file *file, sizes *s)
{
    if (!read_sizes(file->p, file->n, s)) {
        return ridge_fail(cx, RIDGE_E_PARSE,
                          "%s: no checkpoint: its first bytes are no sizes of a "
                          "llama2.c model",
                          file->path);
    }
    if (!s->is_legacy && s->version != 1 && s->version != 2) {
        return ridge_fail(cx, RIDGE_E_PARSE,
                          "%s: a llama2.c checkpoint of version %d: Ridge reads the "
                          "legacy format and versions 1 and 2",
                          file->path, (int)s->version);
    }
    const int64_t wanted = file_bytes(s);
    if (wanted != (int64_t)file->n) {
        return ridge_fail(cx, RIDGE_E_PARSE,
                          "%s: %zu bytes, but its sizes need %lld: the file is cut or "
                          "no llama2.c checkpoint",
                          file->path, file->n, (long long)wanted);
    }
    return RIDGE_OK;
}

/* ---- tensors --------------------------------------------------------------------- */

typedef struct lister {
    ridge_ctx *cx;
    const ridge__mapped_file *file;
    const sizes *sizes;
    ridge_weight_source *source;
    size_t at; /* in the file */
} lister;

static ridge_status add_tensor(lister *l, const piece *p, int64_t layer)
{
    ridge__stored_tensor *t = &l->source->tensors[l->source->n++];
    const char *name = p->name;
    if (p->is_layered) {
        name = ridge_sprintf(ridge_ctx_arena(l->cx), "model.layers.%lld.%s",
                             (long long)layer, p->name);
    }
    if (name == NULL)
        return ridge_fail_nomem(l->cx);
    *t = (ridge__stored_tensor){.name = name,
                                .file = l->file->path,
                                .stored = RIDGE__STORED_F32,
                                .n_dims = p->columns > 0 ? 2 : 1,
                                .shape = {p->rows, p->columns},
                                .data = l->file->p + l->at};
    t->bytes = (size_t)piece_bytes(p, l->sizes);
    l->at += t->bytes;
    if (is_packed(p, l->sizes)) {
        t->stored = RIDGE__STORED_I8;
        t->group = l->sizes->group;
        t->bytes = (size_t)(p->rows * p->columns);
        t->scales = t->data + t->bytes;
    }
    return RIDGE_OK;
}

static ridge_status add_piece(lister *l, const piece *p)
{
    const int64_t n = piece_layers(p, l->sizes);
    if (p->rows == 0)
        return RIDGE_OK;
    if (p->name == NULL) {
        l->at += (size_t)(piece_bytes(p, l->sizes) * n);
        return RIDGE_OK;
    }
    for (int64_t i = 0; i < n; i++)
        RIDGE_TRY(add_tensor(l, p, i));
    return RIDGE_OK;
}

ridge_status ridge__llama2c_read(ridge_ctx *cx, const ridge__mapped_file *file,
                                 ridge_weight_source *source)
{
    sizes s;
    piece pieces[PIECES + 1];
    RIDGE_TRY(check_file(cx, file, &s));
    const size_t most = (size_t)s.layers * PIECES + PIECES;
    source->tensors = ridge_new(ridge_ctx_arena(cx), ridge__stored_tensor, most);
    if (source->tensors == NULL)
        return ridge_fail_nomem(cx);
    lister l = {cx, file, &s, source, s.is_legacy ? LEGACY_BYTES : HEADER_BYTES};
    pieces_of(&s, pieces);
    for (int i = 0; i <= PIECES; i++)
        RIDGE_TRY(add_piece(&l, &pieces[i]));
    source->format = "llama2.c";
    source->numerics.has_paired_rope = true;
    return ridge__weight_source_index(cx, source);
}

/* ---- the model ------------------------------------------------------------------- */

bool ridge_llama2c_is_checkpoint(const char *path)
{
    unsigned char head[HEADER_BYTES];
    sizes s;
    if (ridge_path_is_dir(path))
        return false;
    FILE *f = fopen(path, "rb");
    if (f == NULL)
        return false;
    const size_t n = fread(head, 1, sizeof head, f);
    const bool is_seekable = fseek(f, 0, SEEK_END) == 0;
    const long end = is_seekable ? ftell(f) : -1;
    fclose(f);
    return read_sizes(head, n, &s) && file_bytes(&s) == end;
}

static ridge_json *config_of(ridge_ctx *cx, const sizes *s)
{
    ridge_json *c = ridge_json_object(cx);
    ridge_json_set_text(c, "model_type", "llama");
    ridge_json_set_i64(c, "hidden_size", s->dim);
    ridge_json_set_i64(c, "intermediate_size", s->hidden);
    ridge_json_set_i64(c, "num_hidden_layers", s->layers);
    ridge_json_set_i64(c, "num_attention_heads", s->heads);
    ridge_json_set_i64(c, "num_key_value_heads", s->kv_heads);
    ridge_json_set_i64(c, "vocab_size", s->vocab);
    ridge_json_set_i64(c, "max_position_embeddings", s->seq);
    ridge_json_set_bool(c, "tie_word_embeddings", s->is_tied);
    ridge_json_set_text(c, "hidden_act", "silu");
    ridge_json_set_text(c, "torch_dtype", "float32");
    ridge_json_set_double(c, "rms_norm_eps", 1e-5);
    ridge_json_set_double(c, "rope_theta", 10000.0);
    return c;
}

/* "dir/stories260K.bin": "stories260K". */
static const char *model_name(ridge_ctx *cx, const char *path)
{
    const char *slash = strrchr(path, '/');
    ridge_str name = ridge_str_of(slash == NULL ? path : slash + 1);
    if (name.n > 4 && memcmp(name.p + name.n - 4, ".bin", 4) == 0)
        name.n -= 4;
    return ridge_str_dup(ridge_ctx_arena(cx), name);
}

ridge_status ridge_llama2c_model(ridge_ctx *cx, const char *path,
                                 const ridge_model **model, ridge_numerics *numerics)
{
    ridge__mapped_file file;
    sizes s;
    ridge_buf text;
    ridge_node root;
    ridge_buf_init(&text, ridge_ctx_arena(cx));
    RIDGE_TRY(ridge__mapped_file_open(cx, path, &file));
    RIDGE_TRY(check_file(cx, &file, &s));
    RIDGE_TRY(ridge_json_write(cx, config_of(cx, &s), &text));
    RIDGE_TRY(
        ridge_json_parse(cx, (ridge_str){ridge_buf_text(&text), text.n}, path, &root));
    const char *name = model_name(cx, path);
    if (name == NULL)
        return ridge_fail_nomem(cx);
    RIDGE_TRY(ridge_numerics_read(cx, root, numerics));
    RIDGE_TRY(ridge_model_from_config(cx, root, name, model));
    numerics->has_paired_rope = true;
    return RIDGE_OK;
}
