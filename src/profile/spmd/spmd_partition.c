/* A module cut over its mesh: annotations spread, operations on parts written as a
 * module, which is read again. */
#include "spmd_writer.h"

#include "ridge/profile_hlo_partition.h"

#include <string.h>

enum { SPLITS_MOST = 16 };

bool ridge_hlo_is_sharded(const ridge_hlo_module *module)
{
    for (int c = 0; c < module->n_computations; c++) {
        for (int k = 0; k < module->computations[c].n; k++) {
            if (hlo_sharding_text(&module->computations[c].instructions[k]).p)
                return true;
        }
    }
    for (int a = 0; a < module->n_attributes; a++) {
        const ridge_str key = module->attributes[a].key;
        if (key.n > 7 && memcmp(key.p, "result.", 7) == 0)
            return true;
    }
    return false;
}

/* ---- the whole --------------------------------------------------------------------
 */

static ridge_status add_laid(spmd_writer *w, int value, ridge_str name,
                             const ridge_sharding *s, bool is_argument)
{
    ridge_arena *arena = ridge_ctx_arena(w->m->cx);
    const spmd_value *v = spmd_value_at(w->m, value);
    const spmd_array local = spmd_array_local(w->m, value, s);
    ridge_buf whole, own;
    ridge_hlo_laid *l = hlo_list_push(w->m->scratch, &w->laid);
    if (l == NULL)
        return ridge_fail_nomem(w->m->cx);
    ridge_buf_init(&whole, arena);
    ridge_buf_init(&own, arena);
    ridge_hlo_shape_write(v->shape, &whole);
    spmd_type_put(&own, &local);
    *l = (ridge_hlo_laid){.name = ridge_str_dup(arena, name),
                          .shape = ridge_buf_text(&whole),
                          .local_shape = ridge_buf_text(&own),
                          .sharding = spmd_sharding_text(w->m, s),
                          .lies = *s,
                          .is_argument = is_argument,
                          .is_told = v->is_told};
    return RIDGE_OK;
}

static ridge_status tell_laid(spmd_writer *w)
{
    spmd *m = w->m;
    const hlo_graph *g = &m->graphs.graphs[0];
    for (int k = 0; k < g->n; k++) {
        if (g->nodes[k].i->code != RIDGE_HLO_OP_PARAMETER)
            continue;
        for (int l = 0; l < m->leaves[0][k].n; l++) {
            const int value = m->leaves[0][k].values[l];
            RIDGE_TRY(add_laid(w, value, g->nodes[k].i->name,
                               &spmd_value_at(m, value)->sharding, true));
        }
    }
    for (int k = 0; k < m->outputs.n; k++) {
        const int value = m->outputs.values[k];
        const char *name = ridge_sprintf(ridge_ctx_arena(m->cx), "result %d", k);
        if (name == NULL)
            return ridge_fail_nomem(m->cx);
        RIDGE_TRY(add_laid(w, value, ridge_str_of(name),
                           m->wanted[k].n_dims >= 0
                               ? &m->wanted[k]
                               : &spmd_value_at(m, value)->sharding,
                           false));
    }
    return RIDGE_OK;
}

static void put_head(spmd_writer *w, ridge_buf *out)
{
    const ridge_hlo_module *m = w->m->whole;
    ridge_buf_printf(out, "HloModule %.*s", m->name.n ? (int)m->name.n : 6,
                     m->name.n ? m->name.p : "module");
    for (int a = 0; a < m->n_attributes; a++) {
        const ridge_hlo_attribute *x = &m->attributes[a];
        if (ridge_str_is(x->key, "input_output_alias") ||
            ridge_str_is(x->key, "buffer_donor"))
            ridge_buf_printf(out, ", %.*s=%.*s", (int)x->key.n, x->key.p,
                             (int)x->text.n, x->text.p);
    }
    ridge_buf_printf(out, ", num_partitions=%lld\n\n",
                     (long long)ridge_mesh_size(&w->m->mesh));
}

/* Callees first: later graphs are called by earlier ones. */
static ridge_status write_module(spmd_writer *w, ridge_buf *text)
{
    ridge_buf body;
    ridge_buf_init(&body, ridge_ctx_arena(w->m->cx));
    ridge_buf_init(&w->functions, ridge_ctx_arena(w->m->cx));
    w->out = &body;
    for (int v = 0; v < w->m->values.n; v++) {
        w->first_form[v] = -1;
        w->same_as[v] = v;
    }
    for (int g = w->m->graphs.n - 1; g >= 0; g--)
        RIDGE_TRY(spmd_graph_write(w, g));
    RIDGE_TRY(tell_laid(w));
    put_head(w, text);
    ridge_buf_add(text, (ridge_str){ridge_buf_text(&w->functions), w->functions.n});
    ridge_buf_add(text, (ridge_str){ridge_buf_text(&body), body.n});
    return text->is_short || body.is_short || w->functions.is_short
               ? ridge_fail_nomem(w->m->cx)
               : RIDGE_OK;
}

static ridge_status check_module(ridge_ctx *cx, const ridge_hlo_module *module)
{
    if (module->entry < 0 || module->cut)
        return ridge_fail(cx, RIDGE_E_ARG,
                          "the module's text is cut: what is missing cannot be "
                          "partitioned");
    if (hlo_module_is_compiled(module))
        return ridge_fail(cx, RIDGE_E_ARG,
                          "the module is optimised: it is what one device runs. Leave "
                          "--partition and --mesh, or give the module before "
                          "optimisation");
    if (!ridge_hlo_is_sharded(module))
        return ridge_fail(
            cx, RIDGE_E_ARG,
            "no value of the module says how it lies over devices (sdy or "
            "mhlo.sharding): there is nothing to cut it by");
    return RIDGE_OK;
}

/* Collectives belong to manual computations; elsewhere the module was partitioned. */
static ridge_status check_graphs(const spmd *m)
{
    const ridge_hlo_instruction *network = NULL;
    bool has_manual = false;
    for (int g = 0; g < m->graphs.n; g++) {
        for (int k = 0; k < m->graphs.graphs[g].n; k++) {
            const ridge_hlo_instruction *i = m->graphs.graphs[g].nodes[k].i;
            if (network == NULL && i->code != RIDGE_HLO_OP_SEND &&
                i->code != RIDGE_HLO_OP_RECV && /* with the host, most often */
                ridge_hlo_opcode_kind(i->code) == RIDGE_HLO_KIND_NETWORK)
                network = i;
            has_manual = has_manual || spmd_manual_is(i);
        }
    }
    if (network == NULL || has_manual)
        return RIDGE_OK;
    return ridge_fail(
        m->cx, RIDGE_E_ARG,
        "line %d: the module has its collectives already (%s): it is what "
        "one device runs. Leave --partition and --mesh",
        network->line, ridge_hlo_opcode_text(network->code));
}

/* Axes are cut in two where dims want a part of them, until none does. */
static ridge_status find_shardings(spmd *m, const ridge_mesh *given)
{
    RIDGE_TRY(spmd_mesh_make(m, given));
    for (int round = 0; round < SPLITS_MOST; round++) {
        RIDGE_TRY(spmd_shardings_read(m));
        if (m->split_axis < 0)
            RIDGE_TRY(spmd_manual_read(m));
        if (m->split_axis < 0)
            RIDGE_TRY(spmd_propagate(m));
        if (m->split_axis < 0)
            return RIDGE_OK;
        RIDGE_TRY(spmd_mesh_split(m, m->split_axis, m->split_outer));
    }
    return ridge_fail(m->cx, RIDGE_E_ARG,
                      "dims want the mesh's axes in too many parts");
}

static ridge_status read_back(spmd_writer *w, ridge_buf *text, ridge_hlo_partition *out)
{
    ridge_hlo_file file;
    out->text = (ridge_str){ridge_buf_text(text), text->n};
    RIDGE_TRY(ridge_hlo_parse(w->m->cx, out->text, "partitioned", &file));
    out->module = &file.modules[0];
    ridge_arena *arena = ridge_ctx_arena(w->m->cx);
    out->n_steps = w->steps.n;
    out->steps = hlo_list_copy(arena, &w->steps);
    out->n_gathered = w->gathered.n;
    out->gathered = hlo_list_copy(arena, &w->gathered);
    out->n_laid = w->laid.n;
    out->laid = hlo_list_copy(arena, &w->laid);
    return out->steps && out->gathered && out->laid ? RIDGE_OK
                                                    : ridge_fail_nomem(w->m->cx);
}

static ridge_status build(spmd *m, const ridge_mesh *given, ridge_hlo_partition *out)
{
    ridge_buf text;
    RIDGE_TRY(hlo_graphs_build(m->cx, m->whole, 0, &m->graphs));
    RIDGE_TRY(check_graphs(m));
    RIDGE_TRY(spmd_values_build(m));
    RIDGE_TRY(spmd_ops_build(m));
    RIDGE_TRY(spmd_outputs_of(m, 0, &m->outputs));
    m->wanted = ridge_new(m->scratch, ridge_sharding, (size_t)m->outputs.n + 1);
    spmd_writer w = {.m = m,
                     .forms = {.size = sizeof(spmd_form)},
                     .places = {.size = sizeof(spmd_place)},
                     .steps = {.size = sizeof(ridge_hlo_step)},
                     .gathered = {.size = sizeof(ridge_hlo_gathered)},
                     .laid = {.size = sizeof(ridge_hlo_laid)},
                     .first_form = ridge_new(m->scratch, int, (size_t)m->values.n + 1),
                     .same_as = ridge_new(m->scratch, int, (size_t)m->values.n + 1),
                     .has_function = ridge_new(m->scratch, bool,
                                               (size_t)m->whole->n_computations + 1)};
    if (!m->wanted || !w.first_form || !w.same_as || !w.has_function)
        return ridge_fail_nomem(m->cx);
    RIDGE_TRY(find_shardings(m, given));
    ridge_buf_init(&text, ridge_ctx_arena(m->cx));
    RIDGE_TRY(write_module(&w, &text));
    out->whole = m->whole;
    out->mesh = m->mesh;
    return read_back(&w, &text, out);
}

ridge_status ridge_hlo_partition_build(ridge_ctx *cx, const ridge_hlo_module *module,
                                       const ridge_mesh *mesh, ridge_hlo_partition *out)
{
    RIDGE_TRY(check_module(cx, module));
    const ridge_mark mark = ridge_arena_mark(ridge_ctx_scratch(cx));
    spmd m = {.cx = cx,
              .scratch = ridge_ctx_scratch(cx),
              .whole = module,
              .values = {.size = sizeof(spmd_value)},
              .ops = {.size = sizeof(spmd_op)}};
    const ridge_status st = build(&m, mesh, out);
    ridge_arena_rewind(ridge_ctx_scratch(cx), mark);
    return st;
}
