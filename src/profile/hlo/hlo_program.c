/*
 * A module as a program. Dims of values are joined where operations make them one
 * (union-find); the program is then written in its notation and read by its own reader,
 * which checks it.
 */
#include "ridge/profile_hlo_program.h"

#include "hlo_attribute.h"
#include "hlo_maker.h"
#include "hlo_product.h"

#include <string.h>

/* ---- tensors ----------------------------------------------------------------------
 */

static int dim_of(hlo_maker *k, int s)
{
    const int root = hlo_maker_root(k, s);
    if (k->dim_of[root] < 0)
        k->dim_of[root] = k->n_dims++;
    return k->dim_of[root];
}

/* "[d0,d3]": dims of one are left out. */
static ridge_status put_dims(hlo_maker *k, int node)
{
    const hlo_node *n = &k->g->nodes[node];
    int seen[RIDGE_HLO_RANK_MAX], count = 0;
    if (ridge_hlo_shape_is_tuple(&n->i->shape))
        return hlo_maker_fail(k, n, "is a tuple");
    ridge_buf_puts(&k->out, "[");
    for (int d = 0; d < n->i->shape.n; d++) {
        if (n->i->shape.dims[d] == 1)
            continue;
        const int dim = dim_of(k, hlo_maker_slot(k, node, d));
        for (int j = 0; j < count; j++) {
            if (seen[j] == dim)
                return hlo_maker_fail(k, n,
                                      "has one dim twice, as scores of self-attention "
                                      "have");
        }
        ridge_buf_printf(&k->out, "%sd%d", count ? "," : "", dim);
        seen[count++] = dim;
    }
    ridge_buf_printf(&k->out, "] %s",
                     ridge_dtype_text(ridge_hlo_type_dtype(n->i->shape.type)));
    return RIDGE_OK;
}

static ridge_status add_rules(hlo_maker *k, int node, ridge_str text)
{
    ridge_sharding s;
    const ridge_hlo_shape *shape = hlo_maker_shape(k, node);
    if (text.p == NULL || k->mesh.n == 0 || ridge_hlo_shape_is_tuple(shape))
        return RIDGE_OK;
    RIDGE_TRY(hlo_sharding_read(k->cx, text, &k->mesh, shape->n, &s));
    const int tensor = k->tensor_of[node];
    for (int d = 0; tensor >= 0 && d < shape->n; d++) {
        if (s.dims[d].n == 0 || shape->dims[d] == 1)
            continue;
        ridge_rule *rule = hlo_list_push(ridge_ctx_scratch(k->cx), &k->rules);
        if (rule == NULL)
            return ridge_fail_nomem(k->cx);
        *rule =
            (ridge_rule){.tensor = ridge_sprintf(ridge_ctx_arena(k->cx), "t%d", tensor),
                         .dim = ridge_sprintf(ridge_ctx_arena(k->cx), "d%d",
                                              dim_of(k, hlo_maker_slot(k, node, d))),
                         .n_axes = s.dims[d].n};
        for (int a = 0; a < s.dims[d].n; a++)
            rule->axes[a] =
                ridge_str_dup(ridge_ctx_arena(k->cx), k->mesh.names[s.dims[d].axes[a]]);
    }
    return RIDGE_OK;
}

/* A weight is what a product takes straight from outside; but for the first argument.
 */
static bool is_weight(const hlo_maker *k, int node)
{
    const hlo_node *n = &k->g->nodes[node];
    if (ridge_str_is(n->i->literal, "0"))
        return false;
    for (int u = 0; u < n->n_users; u++) {
        const hlo_node *user = &k->g->nodes[k->g->users[n->first_user + u]];
        const bool is_name = hlo_node_is_free(user) && user->n_users > 0;
        const hlo_node *end =
            is_name ? &k->g->nodes[k->g->users[user->first_user]] : user;
        if (hlo_product_is(end->i))
            return true;
    }
    return false;
}

static ridge_status declare(hlo_maker *k, int node)
{
    k->tensor_of[node] = node;
    ridge_buf_printf(&k->out, "  %s t%d", is_weight(k, node) ? "weight" : "input",
                     node);
    RIDGE_TRY(put_dims(k, node));
    ridge_buf_puts(&k->out, "\n");
    return add_rules(k, node, hlo_sharding_text(k->g->nodes[node].i));
}

/* Functions of programs that take as many FLOPs for an element. */
static const char *function_for(const ridge_hlo_instruction *i, int n)
{
    if (n >= 2)
        return i->code == RIDGE_HLO_OP_MULTIPLY || i->code == RIDGE_HLO_OP_DIVIDE
                   ? "multiply"
                   : "add";
    if (ridge_hlo_opcode_kind(i->code) == RIDGE_HLO_KIND_HARD)
        return "sigmoid";
    return i->code == RIDGE_HLO_OP_CONVERT || i->code == RIDGE_HLO_OP_COPY ? "copy"
                                                                           : "relu";
}

/* Arrays among the inputs, each once; at most two, as functions have. */
static int arrays_of(const hlo_maker *k, const hlo_node *n, int most, int *out)
{
    int count = 0;
    for (int i = 0; i < n->n_inputs && count < most; i++) {
        const int tensor = k->tensor_of[n->inputs[i]];
        bool is_there = tensor < 0;
        for (int j = 0; j < count; j++)
            is_there |= out[j] == tensor;
        if (!is_there)
            out[count++] = tensor;
    }
    return count;
}

static ridge_status make(hlo_maker *k, int node, const char *code, const int *inputs,
                         int n)
{
    k->tensor_of[node] = node;
    k->n_made++;
    ridge_buf_printf(&k->out, "  t%d", node);
    RIDGE_TRY(put_dims(k, node));
    ridge_buf_printf(&k->out, " = %s", code);
    for (int i = 0; i < n; i++)
        ridge_buf_printf(&k->out, "%s t%d", i ? "," : "", inputs[i]);
    ridge_buf_puts(&k->out, "\n");
    return add_rules(k, node, hlo_sharding_text(k->g->nodes[node].i));
}

static ridge_status make_map(hlo_maker *k, int node)
{
    const hlo_node *n = &k->g->nodes[node];
    int inputs[2];
    const int count = arrays_of(k, n, 2, inputs);
    if (count == 0) {
        k->tensor_of[node] = -1; /* of scalars and constants alone */
        return RIDGE_OK;
    }
    /* a function of one array has its dims: of a repeated one it is an addition */
    const char *function = function_for(n->i, count);
    if (count == 1 && hlo_maker_shape(k, inputs[0])->n < n->i->shape.n)
        function = "copy";
    return make(k, node, function, inputs, count);
}

static bool is_name(const hlo_node *n)
{
    return n->i->code == RIDGE_HLO_OP_BROADCAST ||
           n->i->code == RIDGE_HLO_OP_TRANSPOSE || hlo_node_is_free(n) ||
           ridge_str_is(hlo_target_of(n->i), "Sharding");
}

static ridge_status take_node(hlo_maker *k, int node)
{
    const hlo_node *n = &k->g->nodes[node];
    const ridge_hlo_kind kind = ridge_hlo_opcode_kind(n->i->code);
    int inputs[2];
    if (n->i->code == RIDGE_HLO_OP_PARAMETER)
        return ridge_hlo_shape_is_tuple(&n->i->shape)
                   ? hlo_maker_fail(k, n, "is a tuple")
                   : declare(k, node);
    if (kind == RIDGE_HLO_KIND_CONST || n->i->code == RIDGE_HLO_OP_TUPLE)
        return RIDGE_OK; /* small, or made on the spot: no array of the program */
    if (is_name(n) && n->n_inputs > 0) {
        k->tensor_of[node] = k->tensor_of[n->inputs[0]];
        return add_rules(k, node, hlo_sharding_text(n->i));
    }
    if (kind == RIDGE_HLO_KIND_MAP || kind == RIDGE_HLO_KIND_HARD ||
        n->i->code == RIDGE_HLO_OP_COPY)
        return make_map(k, node);
    const int count = arrays_of(k, n, 2, inputs);
    if (n->i->code == RIDGE_HLO_OP_DOT && count == 2)
        return make(k, node, "einsum", inputs, 2);
    if (n->i->code == RIDGE_HLO_OP_REDUCE && count == 1)
        return make(k, node, "einsum", inputs, 1);
    return hlo_maker_fail(k, n, "is not taken");
}

/* ---- the whole --------------------------------------------------------------------
 */

static ridge_status open_maker(hlo_maker *k)
{
    ridge_arena *scratch = ridge_ctx_scratch(k->cx);
    const size_t n = (size_t)k->g->n;
    size_t slots = 0;
    k->first_slot = ridge_new(scratch, int, n + 1);
    k->tensor_of = ridge_new(scratch, int, n);
    if (!k->first_slot || !k->tensor_of)
        return ridge_fail_nomem(k->cx);
    for (size_t node = 0; node < n; node++) {
        const ridge_hlo_shape *s = &k->g->nodes[node].i->shape;
        k->first_slot[node] = (int)slots;
        k->tensor_of[node] = -1;
        slots += ridge_hlo_shape_is_tuple(s) ? 0 : (size_t)s->n;
    }
    k->n_slots = (int)slots;
    k->parent = ridge_new(scratch, int, slots);
    k->sizes = ridge_new(scratch, int64_t, slots);
    k->dim_of = ridge_new(scratch, int, slots);
    if (!k->parent || !k->sizes || !k->dim_of)
        return ridge_fail_nomem(k->cx);
    for (size_t node = 0; node < n; node++) {
        const ridge_hlo_shape *s = &k->g->nodes[node].i->shape;
        for (int d = 0; !ridge_hlo_shape_is_tuple(s) && d < s->n; d++) {
            const int at = k->first_slot[node] + d;
            k->parent[at] = at;
            k->sizes[at] = s->dims[d];
            k->dim_of[at] = -1;
        }
    }
    ridge_buf_init(&k->out, ridge_ctx_arena(k->cx));
    return RIDGE_OK;
}

/* Shardings of the function's results. */
static ridge_status take_results(hlo_maker *k)
{
    for (int a = 0; a < k->m->n_attributes; a++) {
        const ridge_hlo_attribute *x = &k->m->attributes[a];
        int64_t index;
        if (x->key.n > 7 && memcmp(x->key.p, "result.", 7) == 0 &&
            ridge_parse_i64((ridge_str){x->key.p + 7, x->key.n - 7}, &index) &&
            index >= 0 && index < k->g->n_outputs)
            RIDGE_TRY(add_rules(k, k->g->outputs[index], x->text));
    }
    return RIDGE_OK;
}

/* The head with the dims, found while the block was written. */
static ridge_status parse(hlo_maker *k, const ridge_program **out)
{
    ridge_buf text;
    ridge_buf_init(&text, ridge_ctx_arena(k->cx));
    ridge_buf_puts(&text, "program ");
    const bool is_named = k->m->name.n > 0;
    ridge_buf_add(&text, is_named ? k->m->name : ridge_str_of("module"));
    ridge_buf_puts(&text, " prefill\ndims");
    for (int d = 0; d < k->n_dims; d++) {
        for (int s = 0; s < k->n_slots; s++) {
            if (k->dim_of[s] != d)
                continue;
            ridge_buf_printf(&text, " d%d=%lld", d, (long long)k->sizes[s]);
            break;
        }
    }
    ridge_buf_puts(&text, "\nblock main\n");
    ridge_buf_add(&text, (ridge_str){ridge_buf_text(&k->out), k->out.n});
    if (text.is_short || k->out.is_short)
        return ridge_fail_nomem(k->cx);
    return ridge_program_parse(k->cx, (ridge_str){text.p, text.n}, "module", out);
}

/* The module's mesh without axes of one, with other sizes where they are given. */
static ridge_status make_mesh(hlo_maker *k, const ridge_mesh *given, ridge_mesh *out)
{
    *out = (ridge_mesh){.n = 0};
    for (int g = 0; given && g < given->n; g++) {
        int a = 0;
        while (a < k->mesh.n && !ridge_str_is(k->mesh.names[a], given->axes[g].name))
            a++;
        if (a == k->mesh.n && k->mesh.n > 0)
            return ridge_fail(k->cx, RIDGE_E_ARG,
                              "--mesh: the module's mesh has no axis '%s'",
                              given->axes[g].name);
    }
    if (k->mesh.n == 0 && given) {
        *out = *given;
        return RIDGE_OK;
    }
    for (int a = 0; a < k->mesh.n; a++) {
        const char *name = ridge_str_dup(ridge_ctx_arena(k->cx), k->mesh.names[a]);
        int64_t size = k->mesh.sizes[a];
        for (int g = 0; given && g < given->n; g++)
            size = ridge_str_is(k->mesh.names[a], given->axes[g].name)
                       ? given->axes[g].size
                       : size;
        if (name == NULL)
            return ridge_fail_nomem(k->cx);
        if (k->mesh.sizes[a] == 1 && size == 1)
            continue;
        if (out->n == RIDGE_MESH_AXIS_MAX)
            return ridge_fail(k->cx, RIDGE_E_ARG, "a mesh has at most %d axes",
                              RIDGE_MESH_AXIS_MAX);
        out->axes[out->n++] = (ridge_mesh_axis){name, size};
    }
    return RIDGE_OK;
}

static ridge_status build(hlo_maker *k, const ridge_mesh *mesh, ridge_hlo_program *out)
{
    RIDGE_TRY(hlo_mesh_find(k->cx, k->m, &k->mesh));
    RIDGE_TRY(make_mesh(k, mesh, &out->mesh));
    RIDGE_TRY(open_maker(k));
    for (int node = 0; node < k->g->n; node++)
        RIDGE_TRY(hlo_maker_join(k, node));
    for (int node = 0; node < k->g->n; node++)
        RIDGE_TRY(take_node(k, node));
    RIDGE_TRY(take_results(k));
    if (k->n_made == 0)
        return ridge_fail(k->cx, RIDGE_E_ARG,
                          "the module computes nothing that could "
                          "be partitioned");
    RIDGE_TRY(parse(k, &out->program));
    out->rules.rules = hlo_list_copy(ridge_ctx_arena(k->cx), &k->rules);
    out->rules.n = k->rules.n;
    return out->rules.rules ? RIDGE_OK : ridge_fail_nomem(k->cx);
}

ridge_status ridge_hlo_program_build(ridge_ctx *cx, const ridge_hlo_module *module,
                                     const ridge_mesh *mesh, ridge_hlo_program *out)
{
    hlo_graphs graphs;
    const ridge_mark mark = ridge_arena_mark(ridge_ctx_scratch(cx));
    ridge_status st = hlo_graphs_build(cx, module, 0, &graphs);
    if (st == RIDGE_OK) {
        hlo_maker k = {.cx = cx,
                       .m = module,
                       .g = &graphs.graphs[0],
                       .rules = {.size = sizeof(ridge_rule)}};
        st = graphs.n > 0 && graphs.graphs[0].n > 0
                 ? build(&k, mesh, out)
                 : ridge_fail(cx, RIDGE_E_ARG, "the module is empty");
    }
    ridge_arena_rewind(ridge_ctx_scratch(cx), mark);
    return st;
}

bool ridge_hlo_is_sharded(const ridge_hlo_module *module)
{
    for (int c = 0; c < module->n_computations; c++) {
        for (int k = 0; k < module->computations[c].n; k++) {
            if (hlo_sharding_text(&module->computations[c].instructions[k]).p)
                return true;
        }
    }
    return false;
}
