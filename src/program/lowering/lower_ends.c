/*
 * What stands around the layers: token and position tables, final norms, logits, loss.
 * Further dims: WE width of the token table where it is not D, X rows of the position
 * table. Prediction layers (MTP) and vision towers are left out, as in the model's
 * total.
 */
#include "lower.h"

/* ---- tables ---------------------------------------------------------------------- */

/* Rows of the table from which positions are taken; 0: none. What a model's
 * embedding_params hold beyond the token table tells. */
typedef struct tables {
    int64_t width;     /* of the token table */
    int64_t rest;      /* parameters beyond it */
    int64_t positions; /* rows */
    int norm_vectors;  /* of a norm behind it */
} tables;

static tables read_tables(const ridge__lower *l)
{
    enum { LEAST_POSITIONS = 64, NORM_VECTORS_MOST = 2 };
    const ridge_model *m = l->model;
    tables t = {.width = m->d_model};
    const bool is_narrow = m->embedding_params / m->d_model < m->vocab && m->vocab > 0;
    if (is_narrow && m->unembedding_params > 0) {
        t.width = m->unembedding_params / m->vocab;
    } else if (is_narrow) {
        t.width = m->embedding_params / m->vocab;
    }
    t.rest = m->embedding_params - m->vocab * t.width;
    const int64_t rows = t.width > 0 ? t.rest / t.width : 0;
    const int64_t least =
        m->max_positions > 0 ? m->max_positions : (int64_t)LEAST_POSITIONS;
    if (rows >= least && rows > NORM_VECTORS_MOST) {
        t.positions = rows;
    } else if (rows >= 1 && rows <= NORM_VECTORS_MOST) {
        t.norm_vectors = (int)rows;
    }
    t.rest -= t.width * (t.positions + t.norm_vectors);
    return t;
}

static int gather(ridge__lower *l, const char *out, int table, int indices,
                  ridge__dims dims)
{
    ridge_operation op = ridge__operation_new(RIDGE_OPCODE_GATHER, NULL);
    op.part = l->part;
    op.n_inputs = 2;
    op.inputs[0] = table;
    op.inputs[1] = indices;
    return ridge__lower_op(l, &op, out, dims);
}

/* One stack's table look-ups. Names start with the stem. */
typedef struct lookup {
    const char *tokens, *positions, *token_out, *position_out, *sum, *norm, *out;
} lookup;

static const lookup DECODER = {"tokens", "positions",  "x_tokens", "x_positions",
                               "x_sum",  "embed_norm", "x"};
static const lookup ENCODER = {"source",        "source_positions", "source_tokens",
                               "source_places", "source_sum",       "source_norm",
                               "source_x"};

typedef struct table_weights {
    int tokens, positions; /* weights; positions -1: none */
    int dim_w;
} table_weights;

/* A map from the table's width to D; the decoder's also serves the source. */
static int widen(ridge__lower *l, const lookup *names, int x, int dim_w)
{
    if (dim_w == l->dim_d || ridge__builder_is_bad(&l->b))
        return x;
    if (l->embedding_map < 0) {
        l->embedding_map =
            ridge__lower_weight(l, "embedding_map", RIDGE__DIMS(dim_w, l->dim_d));
    }
    return ridge__lower_einsum(l, names->out, x, l->embedding_map,
                               RIDGE__DIMS(l->dim_b, l->dim_t, l->dim_d));
}

static int look_up(ridge__lower *l, const lookup *names, const table_weights *w,
                   const tables *t)
{
    const int b = l->dim_b, s = l->dim_t;
    const bool has_sum = w->positions >= 0, has_norm = t->norm_vectors > 0;
    const bool is_wide = w->dim_w == l->dim_d;
    const char *last = is_wide ? names->out : names->norm;
    const int tokens = ridge__lower_tensor(l, RIDGE_ROLE_INPUT, names->tokens,
                                           RIDGE_DTYPE_FP32, RIDGE__DIMS(b, s));
    int x = gather(l, has_sum || has_norm || !is_wide ? names->token_out : last,
                   w->tokens, tokens, RIDGE__DIMS(b, s, w->dim_w));
    if (has_sum) {
        const int places = ridge__lower_tensor(l, RIDGE_ROLE_INPUT, names->positions,
                                               RIDGE_DTYPE_FP32, RIDGE__DIMS(s));
        const int p = gather(l, names->position_out, w->positions, places,
                             RIDGE__DIMS(s, w->dim_w));
        x = ridge__lower_function(l, has_norm || !is_wide ? names->sum : last,
                                  RIDGE_FUNCTION_ADD, x, p);
    }
    if (has_norm)
        x = ridge__lower_norm(l, last, x, RIDGE__DIMS(w->dim_w), t->norm_vectors);
    return widen(l, names, x, w->dim_w);
}

/* Parameters of the head that no map of ours holds: the bias of the logits stands
 * apart.
 */
static int64_t unread_head_params(const ridge__lower *l, int64_t width)
{
    const ridge_model *m = l->model;
    int64_t rest = m->head_params - (m->has_unembedding_bias ? m->vocab : 0);
    if (width != m->d_model)
        rest -= width * m->d_model;
    return rest > 0 ? rest : 0;
}

void ridge__lower_embed(ridge__lower *l, bool has_source, int *x, int *source)
{
    const ridge_model *m = l->model;
    const tables t = read_tables(l);
    const int dim_w =
        t.width == m->d_model ? l->dim_d : ridge__lower_dim(l, "WE", t.width);
    table_weights w = {.positions = -1, .dim_w = dim_w};
    *x = *source = -1;
    w.tokens = ridge__lower_weight(l, "embedding", RIDGE__DIMS(l->dim_v, dim_w));
    if (t.positions > 0) {
        const int rows = ridge__lower_dim(l, "X", t.positions);
        w.positions =
            ridge__lower_weight(l, "position_table", RIDGE__DIMS(rows, dim_w));
    }
    l->embedding = w.tokens;
    l->part = RIDGE_PART_NORM;
    if (has_source && l->how.phase != RIDGE_PHASE_DECODE) {
        const int outer = l->dim_t;
        tables plain = t;
        plain.norm_vectors = 0; /* a norm of the table is the decoder's */
        l->dim_t = ridge__lower_dim(l, "S", l->how.context_tokens);
        *source = look_up(l, &ENCODER, &w, &plain);
        l->dim_t = outer;
    }
    *x = look_up(l, &DECODER, &w, &t);
    ridge__lower_unread(l, "embedding_rest", t.rest);
    ridge__lower_unread(l, "head_rest", unread_head_params(l, t.width));
}

/* ---- head ------------------------------------------------------------------------ */

int ridge__lower_final_norm(ridge__lower *l, const char *out, int x)
{
    const ridge_model *m = l->model;
    const int64_t vectors = m->final_norm_params / m->d_model;
    const int vectors_here =
        vectors > l->vectors_per_norm ? l->vectors_per_norm : (int)vectors;
    l->final_norm_params += vectors_here * m->d_model;
    return ridge__lower_norm(l, out, x, RIDGE__DIMS(l->dim_d), vectors_here);
}

static void add_loss(ridge__lower *l, int logits)
{
    const ridge__dims dims = RIDGE__DIMS(l->dim_b, l->dim_t);
    ridge_operation op = ridge__operation_new(RIDGE_OPCODE_LOSS, NULL);
    op.n_inputs = 2;
    op.inputs[0] = logits;
    op.inputs[1] =
        ridge__lower_tensor(l, RIDGE_ROLE_INPUT, "labels", RIDGE_DTYPE_FP32, dims);
    ridge__lower_op(l, &op, "loss", dims);
}

/* The token table again, or one of its own. */
static int unembedding(ridge__lower *l, int dim_w)
{
    if (l->model->is_tied)
        return l->embedding;
    return ridge__lower_weight(l, "unembedding", RIDGE__DIMS(l->dim_v, dim_w));
}

void ridge__lower_head(ridge__lower *l, int x)
{
    const ridge_model *m = l->model;
    l->part = RIDGE_PART_NORM;
    int h = m->final_norm_params > 0 ? ridge__lower_final_norm(l, "final_norm", x) : x;
    /* A decoder alone keeps no norm of its encoder. */
    if (!l->is_two_stacks || l->how.phase != RIDGE_PHASE_DECODE)
        ridge__lower_unread(l, "final_norm_rest",
                            m->final_norm_params - l->final_norm_params);
    if (!m->has_unembedding || ridge__builder_is_bad(&l->b))
        return;
    const int dim_w = l->b.p.tensors[l->embedding].dims[1];
    if (l->embedding_map >= 0) {
        h = ridge__lower_einsum(l, "narrow", h, l->embedding_map,
                                RIDGE__DIMS(l->dim_b, l->dim_t, dim_w));
    }
    const int table = unembedding(l, dim_w);
    ridge_operation op = ridge__operation_new(RIDGE_OPCODE_EINSUM, NULL);
    op.is_head = true;
    op.n_inputs = 2;
    op.inputs[0] = h;
    op.inputs[1] = table;
    const ridge__dims dims = RIDGE__DIMS(l->dim_b, l->dim_t, l->dim_v);
    int logits = ridge__lower_op(
        l, &op, m->has_unembedding_bias ? "logits_raw" : "logits", dims);
    if (m->has_unembedding_bias) {
        logits = ridge__lower_bias(l, "logits", logits, "unembedding_bias",
                                   RIDGE__DIMS(l->dim_v));
    }
    if (l->how.phase == RIDGE_PHASE_TRAIN)
        add_loss(l, logits);
}
