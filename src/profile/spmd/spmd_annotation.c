/* The mesh of a module, and how its annotations say that values lie on it. */
#include "spmd.h"

#include <string.h>

/* ---- the mesh ---------------------------------------------------------------------
 */

static ridge_status check_given(spmd *m, const ridge_mesh *given)
{
    for (int g = 0; given && g < given->n; g++) {
        int a = 0;
        while (a < m->named.n && !ridge_str_is(m->named.names[a], given->axes[g].name))
            a++;
        if (a == m->named.n)
            return ridge_fail(m->cx, RIDGE_E_ARG,
                              "--mesh: the module's mesh has no axis '%s'",
                              given->axes[g].name);
    }
    return RIDGE_OK;
}

ridge_status spmd_mesh_make(spmd *m, const ridge_mesh *given)
{
    RIDGE_TRY(hlo_mesh_find(m->cx, m->whole, &m->named));
    RIDGE_TRY(check_given(m, given));
    m->mesh = (ridge_mesh){.n = 0};
    for (int a = 0; a < m->named.n; a++) {
        const char *name = ridge_str_dup(ridge_ctx_arena(m->cx), m->named.names[a]);
        int64_t size = m->named.sizes[a];
        for (int g = 0; given && g < given->n; g++)
            size = ridge_str_is(m->named.names[a], given->axes[g].name)
                       ? given->axes[g].size
                       : size;
        if (name == NULL)
            return ridge_fail_nomem(m->cx);
        m->n_axis_of[a] = 0;
        if (size == 1)
            continue;
        if (m->mesh.n == RIDGE_MESH_AXIS_MAX)
            return ridge_fail(m->cx, RIDGE_E_ARG, "a mesh has at most %d axes",
                              RIDGE_MESH_AXIS_MAX);
        m->axis_of[a][m->n_axis_of[a]++] = m->mesh.n;
        m->mesh.axes[m->mesh.n++] = (ridge_mesh_axis){name, size};
    }
    return RIDGE_OK;
}

/* Numbers of axes behind a new one. */
static void shift_axes(spmd *m, int axis)
{
    for (int a = 0; a < m->named.n; a++) {
        int at = -1;
        for (int k = 0; k < m->n_axis_of[a]; k++) {
            at = m->axis_of[a][k] == axis ? k : at;
            m->axis_of[a][k] += m->axis_of[a][k] > axis;
        }
        if (at < 0)
            continue;
        memmove(&m->axis_of[a][at + 2], &m->axis_of[a][at + 1],
                (size_t)(m->n_axis_of[a] - at - 1) * sizeof m->axis_of[a][0]);
        m->axis_of[a][at + 1] = axis + 1;
        m->n_axis_of[a]++;
    }
}

ridge_status spmd_mesh_split(spmd *m, int axis, int64_t outer)
{
    ridge_mesh_axis *axes = m->mesh.axes;
    const int64_t inner = axes[axis].size / outer;
    if (m->mesh.n == RIDGE_MESH_AXIS_MAX)
        return ridge_fail(
            m->cx, RIDGE_E_ARG,
            "parts of axes cut dims, and with them the mesh has more than "
            "%d axes: give --mesh fewer",
            RIDGE_MESH_AXIS_MAX);
    const char *name =
        ridge_sprintf(ridge_ctx_arena(m->cx), "%s_%d", axes[axis].name, (int)inner);
    if (name == NULL)
        return ridge_fail_nomem(m->cx);
    memmove(&axes[axis + 2], &axes[axis + 1],
            (size_t)(m->mesh.n - axis - 1) * sizeof *axes);
    axes[axis].size = outer;
    axes[axis + 1] = (ridge_mesh_axis){name, inner};
    m->mesh.n++;
    shift_axes(m, axis);
    return RIDGE_OK;
}

/* ---- annotations ------------------------------------------------------------------
 */

/* Make a cut of a named axis at some number of ways. @return false: there is none, and
 * one is asked for */
static bool ask_cut(spmd *m, int named, int64_t ways)
{
    int64_t before = 1;
    for (int k = 0; k < m->n_axis_of[named]; k++) {
        const int axis = m->axis_of[named][k];
        if (before == ways)
            return true;
        if (before * m->mesh.axes[axis].size > ways && ways % before == 0 &&
            m->mesh.axes[axis].size % (ways / before) == 0) {
            m->split_axis = axis;
            m->split_outer = ways / before;
            return false;
        }
        before *= m->mesh.axes[axis].size;
    }
    return true;
}

/* Axes of the mesh that a part of a named one is. */
static void add_part(spmd *m, const hlo_axis_part *part, spmd_value *v, int dim,
                     unsigned *used)
{
    int64_t before = 1;
    ridge_dim_axes *to = &v->sharding.dims[dim];
    if (part->size > 0 && (!ask_cut(m, part->axis, part->before) ||
                           !ask_cut(m, part->axis, part->before * part->size)))
        return;
    for (int k = 0; k < m->n_axis_of[part->axis]; k++) {
        const int axis = m->axis_of[part->axis][k];
        const bool is_in = part->size == 0 || (before >= part->before &&
                                               before < part->before * part->size);
        before *= m->mesh.axes[axis].size;
        if (!is_in || *used & 1U << axis || to->n == RIDGE_MESH_AXIS_MAX)
            continue;
        *used |= 1U << axis;
        to->axes[to->n++] = axis;
    }
}

/* @param out  what the text says; its open dims are left to the value */
static ridge_status read_text(spmd *m, ridge_str text, spmd_value *out)
{
    hlo_laid laid;
    unsigned used = 0;
    RIDGE_TRY(hlo_sharding_read(m->cx, text, &m->named, out->shape->n, &laid));
    out->open = laid.open;
    out->is_told = true;
    out->sharding = (ridge_sharding){.n_dims = out->shape->n};
    for (int d = 0; d < laid.n_dims; d++) {
        for (int k = 0; k < laid.dims[d].n && m->split_axis < 0; k++)
            add_part(m, &laid.dims[d].parts[k], out, d, &used);
    }
    return RIDGE_OK;
}

ridge_status spmd_sharding_read(spmd *m, ridge_str text, const ridge_hlo_shape *shape,
                                ridge_sharding *out)
{
    spmd_value v = {.shape = shape};
    if (shape->n > RIDGE_TENSOR_DIM_MAX || ridge_hlo_shape_is_tuple(shape))
        return RIDGE_OK;
    RIDGE_TRY(read_text(m, text, &v));
    *out = v.sharding;
    return RIDGE_OK;
}

static bool can_lie(const spmd_value *v, ridge_str text)
{
    return text.p != NULL && text.n > 0 && !v->is_deep &&
           !ridge_hlo_shape_is_tuple(v->shape);
}

/* Dims that a constraint says nothing of: backend_config="unspecified_dims=[1,2]". */
static void open_unspecified(spmd_value *v, const ridge_hlo_instruction *i)
{
    const ridge_str text = ridge_hlo_attribute_of(i, "backend_config");
    static const char word[] = "unspecified_dims=[";
    for (size_t at = 0; at + sizeof word < text.n; at++) {
        if (memcmp(text.p + at, word, sizeof word - 1) != 0)
            continue;
        ridge_str rest = {text.p + at + sizeof word - 1, text.n - at - sizeof word + 1};
        ridge_str list = ridge_str_cut(&rest, ']');
        while (list.p) {
            int64_t dim;
            if (ridge_parse_i64(ridge_str_trim(ridge_str_cut(&list, ',')), &dim) &&
                dim >= 0 && dim < v->sharding.n_dims)
                v->open |= 1U << dim;
        }
        return;
    }
}

/* Names of values say how these lie where their makers do not. */
static ridge_status read_node(spmd *m, int graph, int k)
{
    const hlo_node *node = &m->graphs.graphs[graph].nodes[k];
    const spmd_leaves *own = &m->leaves[graph][k];
    const ridge_str text = hlo_sharding_text(node->i);
    const bool is_root = graph == 0 && node->i->code == RIDGE_HLO_OP_TUPLE;
    if (text.p == NULL)
        return RIDGE_OK;
    for (int l = 0; l < own->n && m->split_axis < 0; l++) {
        spmd_value *v = spmd_value_at(m, own->values[l]);
        const ridge_str part = hlo_sharding_part(text, l);
        if (!can_lie(v, part) || v->is_told || is_root)
            continue;
        RIDGE_TRY(read_text(m, part, v));
        open_unspecified(v, node->i);
    }
    return RIDGE_OK;
}

static ridge_status want_output(spmd *m, int index, ridge_str text)
{
    spmd_value *v = spmd_value_at(m, m->outputs.values[index]);
    spmd_value wanted = *v;
    if (!can_lie(v, text))
        return RIDGE_OK;
    RIDGE_TRY(read_text(m, text, &wanted));
    if (!v->is_told)
        *v = wanted;
    if (wanted.open == 0)
        m->wanted[index] = wanted.sharding;
    return RIDGE_OK;
}

/* How the results lie: told with the function's type, or with the tuple of them. */
static ridge_status read_results(spmd *m)
{
    const hlo_graph *g = &m->graphs.graphs[0];
    const hlo_node *root = g->n > 0 ? &g->nodes[g->n - 1] : NULL;
    for (int k = 0; k < m->outputs.n; k++)
        m->wanted[k].n_dims = -1;
    for (int a = 0; a < m->whole->n_attributes && m->split_axis < 0; a++) {
        const ridge_hlo_attribute *x = &m->whole->attributes[a];
        int64_t index;
        if (x->key.n > 7 && memcmp(x->key.p, "result.", 7) == 0 &&
            ridge_parse_i64((ridge_str){x->key.p + 7, x->key.n - 7}, &index) &&
            index >= 0 && index < m->outputs.n)
            RIDGE_TRY(want_output(m, (int)index, hlo_sharding_part(x->text, 0)));
    }
    for (int k = 0; root && root->i->code == RIDGE_HLO_OP_TUPLE && k < m->outputs.n &&
                    m->split_axis < 0;
         k++)
        RIDGE_TRY(want_output(m, k, hlo_sharding_part(hlo_sharding_text(root->i), k)));
    return RIDGE_OK;
}

ridge_status spmd_shardings_read(spmd *m)
{
    m->split_axis = -1;
    for (int v = 0; v < m->values.n; v++) {
        spmd_value *value = spmd_value_at(m, v);
        value->sharding = (ridge_sharding){.n_dims = value->sharding.n_dims};
        value->open = value->is_deep ? 0 : ~0U;
        value->is_told = false;
    }
    for (int g = 0; g < m->graphs.n && m->split_axis < 0; g++) {
        for (int k = 0; k < m->graphs.graphs[g].n && m->split_axis < 0; k++)
            RIDGE_TRY(read_node(m, g, k));
    }
    if (m->split_axis < 0)
        RIDGE_TRY(read_results(m));
    return RIDGE_OK;
}
