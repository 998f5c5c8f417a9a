/* Operations on parts: their local shapes, and attributes that speak of sizes. */
#include "hlo_attribute.h"
#include "spmd_writer.h"

#include "ridge/profile_hlo_partition.h"

#include <string.h>

/* ---- sizes in attributes ----------------------------------------------------------
 */

static void put_sizes(spmd_writer *w, const char *key, const spmd_array *a)
{
    ridge_buf_printf(w->out, ", %s={", key);
    for (int d = 0; d < a->n; d++)
        ridge_buf_printf(w->out, "%s%lld", d ? "," : "", (long long)a->dims[d]);
    ridge_buf_puts(w->out, "}");
}

/* slice={[0:4], [1:8:2]}: of dims that are cut all of the part. */
static void put_slice(const spmd_part *p, const ridge_hlo_instruction *i)
{
    ridge_str text = ridge_hlo_attribute_of(i, "slice");
    ridge_buf *out = p->w->out;
    ridge_buf_puts(out, ", slice={");
    for (int d = 0; d < p->arrays[0].n; d++) {
        ridge_str_cut(&text, '[');
        const ridge_str one = ridge_str_cut(&text, ']');
        ridge_buf_puts(out, d ? ", " : "");
        if (spmd_part_axes(p, 0, d).n > 0)
            ridge_buf_printf(out, "[0:%lld]", (long long)p->arrays[0].dims[d]);
        else
            ridge_buf_printf(out, "[%.*s]", (int)one.n, one.p);
    }
    ridge_buf_puts(out, "}");
}

/* Of what is gathered along cut dims as much as there is; of looked-up ones one. */
static void put_slice_sizes(const spmd_part *p, const ridge_hlo_instruction *i)
{
    int64_t sizes[RIDGE_HLO_RANK_MAX];
    const int n = hlo_attribute_ints(i, "slice_sizes", sizes, RIDGE_HLO_RANK_MAX);
    const ridge_hlo_shape *whole = spmd_shape_of(p->w->m, p->op, 0);
    spmd_array a = {.n = n < 0 ? 0 : n > whole->n ? whole->n : n};
    for (int d = 0; d < a.n; d++)
        a.dims[d] = sizes[d] == whole->dims[d] && sizes[d] > 1 ? p->arrays[0].dims[d]
                                                               : sizes[d];
    put_sizes(p->w, "slice_sizes", &a);
}

/* ---- padding in sums --------------------------------------------------------------
 */

/* What is padded along a summed dim is made to change nothing. */
static void mask_sums(spmd_part *p)
{
    for (int t = 0; t < p->op->n_operands; t++) {
        const spmd_tensor *x = &p->op->tensors[t];
        for (int d = 0; d < x->n; d++) {
            const int f = x->dims[d].factors[0];
            if (spmd_factor_at(p->op, f)->kind != SPMD_REDUCE || p->axes[f].n == 0)
                continue;
            const ridge_hlo_shape *whole = spmd_shape_of(p->w->m, p->op, t);
            const spmd_place at = spmd_place_of(p->w, &p->axes[f], whole->dims[d]);
            if (at.length)
                p->arrays[t] =
                    spmd_mask_put(p->w, &p->arrays[t], d, at.length,
                                  spmd_neutral_of(p->op->reducer, whole->type));
        }
    }
}

static ridge_dim_axes summed_axes(const spmd_part *p)
{
    ridge_dim_axes all = {.n = 0};
    for (int f = 0; f < p->op->factors.n; f++) {
        for (int a = 0; spmd_factor_at(p->op, f)->kind == SPMD_REDUCE &&
                        a < p->axes[f].n && all.n < RIDGE_MESH_AXIS_MAX;
             a++)
            all.axes[all.n++] = p->axes[f].axes[a];
    }
    return all;
}

/* Of several parts one alone begins with what the sum begins with. */
static void start_once(spmd_part *p)
{
    spmd_writer *w = p->w;
    const ridge_dim_axes axes = summed_axes(p);
    const hlo_graph *g = &w->m->graphs.graphs[p->op->graph];
    const hlo_node *node = spmd_node_of(w->m, p->op);
    const char *neutral =
        spmd_neutral_of(p->op->reducer, spmd_shape_of(w->m, p->op, 1)->type);
    if (axes.n == 0 || ridge_str_is(g->nodes[node->inputs[1]].i->literal, neutral))
        return;
    const spmd_array pred = spmd_scalar_of(RIDGE_HLO_PRED);
    const spmd_array s32 = spmd_scalar_of(RIDGE_HLO_S32);
    const char *at = spmd_coordinate(w, &axes);
    const char *zero = spmd_constant_put(w, &s32, "0").name;
    const char *is_first =
        spmd_array_put(w, "first", &pred, "compare(%s, %s), direction=EQ", at, zero)
            .name;
    const spmd_array none = spmd_constant_put(w, &p->arrays[1], neutral);
    p->arrays[1] = spmd_array_put(w, "init", &p->arrays[1], "select(%s, %s, %s)",
                                  is_first, p->arrays[1].name, none.name);
}

/* ---- one operation ----------------------------------------------------------------
 */

/* The instruction's name as HLO may have it. */
static const char *stem_of(const spmd_part *p)
{
    const ridge_str name = spmd_node_of(p->w->m, p->op)->i->name;
    const bool is_digit = name.n == 0 || (name.p[0] >= '0' && name.p[0] <= '9');
    const size_t at = name.n > 0 && name.p[0] == '%' ? 1 : 0;
    char *text = ridge_new(ridge_ctx_arena(p->w->m->cx), char, name.n + 3);
    size_t n = 0;
    if (text == NULL)
        return "v";
    if (is_digit)
        text[n++] = 'v';
    for (size_t k = at; k < name.n && name.p[k] != ','; k++) {
        const char ch = name.p[k];
        const bool is_word = (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') ||
                             (ch >= '0' && ch <= '9') || ch == '.' || ch == '-';
        text[n++] = (char)(is_word ? ch : '_');
    }
    return n > 0 ? text : "v";
}

static void put_code(const spmd_part *p)
{
    const ridge_hlo_instruction *i = spmd_node_of(p->w->m, p->op)->i;
    ridge_buf *out = p->w->out;
    ridge_buf_printf(out, "%s(",
                     i->code == RIDGE_HLO_OP_BITCAST ? "reshape"
                                                     : ridge_hlo_opcode_text(i->code));
    if (i->code == RIDGE_HLO_OP_PARAMETER || i->code == RIDGE_HLO_OP_CONSTANT)
        ridge_buf_add(out, i->literal);
    for (int t = 0; t < p->op->n_operands; t++)
        ridge_buf_printf(out, "%s%s", t ? ", " : "", p->arrays[t].name);
    ridge_buf_puts(out, ")");
}

/* What manual computations say of groups holds for all devices. */
static bool is_network(const ridge_hlo_instruction *i)
{
    return ridge_hlo_opcode_kind(i->code) == RIDGE_HLO_KIND_NETWORK;
}

static void put_attributes(const spmd_part *p)
{
    static const char *const slices[] = {"slice", NULL};
    static const char *const dynamic[] = {"dynamic_slice_sizes", NULL};
    static const char *const gathers[] = {"slice_sizes", NULL};
    static const char *const channel[] = {"channel_id", NULL};
    const ridge_hlo_instruction *i = spmd_node_of(p->w->m, p->op)->i;
    if (i->code == RIDGE_HLO_OP_SLICE) {
        put_slice(p, i);
        spmd_attributes_put(p->w, i, slices);
    } else if (i->code == RIDGE_HLO_OP_DYNAMIC_SLICE) {
        put_sizes(p->w, "dynamic_slice_sizes", &p->arrays[p->op->n_operands]);
        spmd_attributes_put(p->w, i, dynamic);
    } else if (i->code == RIDGE_HLO_OP_GATHER) {
        put_slice_sizes(p, i);
        spmd_attributes_put(p->w, i, gathers);
    } else {
        spmd_attributes_put(p->w, i, is_network(i) ? channel : NULL);
        if (is_network(i))
            ridge_buf_printf(p->w->out, ", channel_id=%d", ++p->w->n_channels);
        if ((i->code == RIDGE_HLO_OP_REDUCE || i->code == RIDGE_HLO_OP_SCATTER) &&
            i->n_called == 0)
            ridge_buf_printf(
                p->w->out, ", to_apply=%s",
                spmd_combiner_name(p->w, SPMD_REDUCER_ADD, p->arrays[0].type));
    }
    ridge_buf_puts(p->w->out, "\n");
}

/* Several results are taken out of one. */
static void put_many(spmd_part *p)
{
    spmd_writer *w = p->w;
    const int n = p->op->n - p->op->n_operands;
    const char *name =
        ridge_sprintf(ridge_ctx_arena(w->m->cx), "%%%s.%d", stem_of(p), ++w->n_names);
    w->out->is_short |= name == NULL;
    ridge_buf_printf(w->out, "  %s = (", name ? name : "");
    for (int k = 0; k < n; k++) {
        const spmd_array *a = &p->arrays[p->op->n_operands + k];
        ridge_buf_printf(w->out, "%s%s[", k ? ", " : "", ridge_hlo_type_text(a->type));
        for (int d = 0; d < a->n; d++)
            ridge_buf_printf(w->out, "%s%lld", d ? "," : "", (long long)a->dims[d]);
        ridge_buf_puts(w->out, "]");
    }
    ridge_buf_puts(w->out, ") ");
    put_code(p);
    put_attributes(p);
    for (int k = 0; k < n; k++) {
        spmd_array *a = &p->arrays[p->op->n_operands + k];
        *a = spmd_array_put(w, "part", a, "get-tuple-element(%s), index=%d", name, k);
    }
}

/* A constant of one value is as large as its part. */
static bool put_splat(spmd_part *p)
{
    const ridge_hlo_instruction *i = spmd_node_of(p->w->m, p->op)->i;
    spmd_array *a = &p->arrays[p->op->n_operands];
    if (i->code != RIDGE_HLO_OP_CONSTANT || a->n == 0 || i->literal.n == 0 ||
        memchr(i->literal.p, '{', i->literal.n) ||
        memchr(i->literal.p, '[', i->literal.n) ||
        memchr(i->literal.p, '"', i->literal.n))
        return false;
    *a = spmd_constant_put(p->w, a,
                           ridge_sprintf(ridge_ctx_arena(p->w->m->cx), "%.*s",
                                         (int)i->literal.n, i->literal.p));
    return true;
}

bool spmd_op_is_name(const spmd *m, const spmd_op *op)
{
    const hlo_node *node = spmd_node_of(m, op);
    const ridge_str target = hlo_target_of(node->i);
    if (op->n_operands != 1 || op->n != 2)
        return false;
    const ridge_hlo_shape *in = spmd_shape_of(m, op, 0), *out = spmd_shape_of(m, op, 1);
    const bool is_alike =
        in->type == out->type && in->n == out->n && !ridge_hlo_shape_is_tuple(in) &&
        (in->n == 0 ||
         memcmp(in->dims, out->dims, (size_t)in->n * sizeof *in->dims) == 0);
    return is_alike &&
           (node->i->code == RIDGE_HLO_OP_BITCAST || ridge_str_is(target, "Sharding") ||
            ridge_str_is(target, "xla.sdy.FuncResultSharding") ||
            ridge_str_is(target, "xla.sdy.PropagationBarrier"));
}

static void put_op(spmd_part *p)
{
    const hlo_node *node = spmd_node_of(p->w->m, p->op);
    if (p->op->manual >= 0) { /* what a device has is the same */
        p->arrays[1].name = p->arrays[0].name;
        return;
    }
    if (put_splat(p) || spmd_index_write(p))
        return;
    if (p->op->reducer != SPMD_REDUCER_NONE)
        mask_sums(p);
    if (node->i->code == RIDGE_HLO_OP_REDUCE && p->op->n_operands == 2)
        start_once(p);
    if (ridge_hlo_shape_is_tuple(&node->i->shape)) {
        put_many(p);
        return;
    }
    if (p->op->n == p->op->n_operands)
        return;
    spmd_array_open(p->w, stem_of(p), &p->arrays[p->op->n_operands]);
    put_code(p);
    put_attributes(p);
}

/* Tell what is gathered because the operation needs it entirely. */
static ridge_status note_whole(spmd_part *p, int t)
{
    spmd_writer *w = p->w;
    const spmd_value *v = spmd_value_at(w->m, p->op->tensors[t].value);
    const ridge_hlo_instruction *i = spmd_node_of(w->m, p->op)->i;
    for (int d = 0; d < p->op->tensors[t].n; d++) {
        const int f = p->op->tensors[t].dims[d].factors[0];
        if (spmd_factor_at(p->op, f)->kind != SPMD_WHOLE || v->sharding.dims[d].n == 0)
            continue;
        ridge_hlo_gathered *g = hlo_list_push(w->m->scratch, &w->gathered);
        if (g == NULL)
            return ridge_fail_nomem(w->m->cx);
        *g = (ridge_hlo_gathered){
            .what = p->op->reason
                        ? ridge_sprintf(ridge_ctx_arena(w->m->cx), "%s: %s",
                                        ridge_hlo_opcode_text(i->code), p->op->reason)
                        : ridge_sprintf(ridge_ctx_arena(w->m->cx),
                                        "%s works along dim %d of what it takes",
                                        ridge_hlo_opcode_text(i->code), d),
            .line = i->line,
            .bytes = ridge_hlo_shape_bytes(v->shape),
            .times = w->m->graphs.graphs[w->graph].times};
        return g->what ? RIDGE_OK : ridge_fail_nomem(w->m->cx);
    }
    return RIDGE_OK;
}

ridge_status spmd_op_write(spmd_writer *w, const spmd_op *op,
                           const ridge_dim_axes *axes)
{
    spmd_part p = {w, op, axes,
                   ridge_new(w->m->scratch, spmd_array, (size_t)op->n + 1)};
    if (p.arrays == NULL)
        return ridge_fail_nomem(w->m->cx);
    w->op = op;
    w->why = ridge_hlo_opcode_text(spmd_node_of(w->m, op)->i->code);
    for (int t = 0; t < op->n_operands; t++) {
        const ridge_sharding s = spmd_sharding_of(w->m, op, t, axes);
        RIDGE_TRY(note_whole(&p, t));
        RIDGE_TRY(spmd_form_want(w, op->tensors[t].value, &s, &p.arrays[t]));
    }
    for (int t = op->n_operands; t < op->n; t++) {
        const ridge_sharding s = spmd_sharding_of(w->m, op, t, axes);
        p.arrays[t] = spmd_array_local(w->m, op->tensors[t].value, &s);
    }
    put_op(&p);
    const ridge_dim_axes sums = summed_axes(&p);
    w->reducer = op->reducer;
    for (int t = op->n_operands; t < op->n; t++) {
        const int value = op->tensors[t].value;
        ridge_sharding s = spmd_sharding_of(w->m, op, t, axes);
        for (int a = 0; a < sums.n; a++)
            s.partial |= 1U << sums.axes[a];
        const ridge_sharding *to = &spmd_value_at(w->m, value)->sharding;
        if (s.partial == 0)
            RIDGE_TRY(spmd_form_add(w, value, &s, &p.arrays[t]));
        if (ridge_sharding_equal(&s, to))
            continue;
        RIDGE_TRY(spmd_reshard_put(w, value, &s, to, &p.arrays[t]));
        RIDGE_TRY(spmd_form_add(w, value, to, &p.arrays[t]));
    }
    w->op = NULL;
    return RIDGE_OK;
}
