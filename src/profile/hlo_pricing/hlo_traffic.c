#include "hlo_traffic.h"
#include "hlo_product.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct hlo_traffic_meter {
    const ridge_hlo_module *module;
    const hlo_kernels *k;
    const hlo_graph *g;
    const ridge_chip *chip;
    bool is_compiled;
    int *stamp;     /* [n] kernel + 1 that last met a node */
    double *demand; /* [n] elements of it that this kernel needs */
    int *met;       /* [n] nodes of this kernel */
    int n_met;
    int *products;                  /* [n] of this kernel */
    const ridge_hlo_shape **shapes; /* room for the operands of one node */
};

ridge_status hlo_traffic_open(ridge_ctx *cx, const ridge_hlo_module *module,
                              const hlo_kernels *kernels, const ridge_chip *chip,
                              bool is_compiled, hlo_traffic_meter **out)
{
    ridge_arena *scratch = ridge_ctx_scratch(cx);
    const size_t n = (size_t)kernels->graph->n;
    size_t widest = 1;
    for (size_t k = 0; k < n; k++) {
        const size_t inputs = (size_t)kernels->graph->nodes[k].n_inputs;
        widest = inputs > widest ? inputs : widest;
    }
    hlo_traffic_meter *m = ridge_new(scratch, hlo_traffic_meter, 1);
    if (m == NULL)
        return ridge_fail_nomem(cx);
    *m = (hlo_traffic_meter){.module = module,
                             .k = kernels,
                             .g = kernels->graph,
                             .chip = chip,
                             .is_compiled = is_compiled,
                             .stamp = ridge_new(scratch, int, n),
                             .demand = ridge_new(scratch, double, n),
                             .met = ridge_new(scratch, int, n),
                             .products = ridge_new(scratch, int, n),
                             .shapes =
                                 ridge_new(scratch, const ridge_hlo_shape *, widest)};
    if (!m->stamp || !m->demand || !m->met || !m->products || !m->shapes)
        return ridge_fail_nomem(cx);
    *out = m;
    return RIDGE_OK;
}

const ridge_hlo_shape *const *hlo_traffic_operands(hlo_traffic_meter *m, int node)
{
    const hlo_node *n = &m->g->nodes[node];
    for (int k = 0; k < n->n_inputs; k++)
        m->shapes[k] = &m->g->nodes[n->inputs[k]].i->shape;
    return m->shapes;
}

ridge_hlo_type hlo_traffic_stored(const hlo_kernels *kernels, int node, int input)
{
    const hlo_graph *g = kernels->graph;
    int at = g->nodes[node].inputs[input];
    const double elements = ridge_hlo_shape_elements(&g->nodes[at].i->shape);
    for (;;) {
        const hlo_node *n = &g->nodes[at];
        const bool goes_on =
            kernels->roles[at] == HLO_ROLE_INSIDE ||
            (kernels->roles[at] == HLO_ROLE_NAME && n->i->code != RIDGE_HLO_OP_TUPLE);
        if (!goes_on || n->n_inputs < 1 ||
            ridge_hlo_shape_elements(&g->nodes[n->inputs[0]].i->shape) < elements)
            return n->i->shape.type;
        at = n->inputs[0];
    }
}

/* ---- what is needed of each value --------------------------------------------------
 */

static double elements_of(const hlo_traffic_meter *m, int node)
{
    return ridge_hlo_shape_elements(&m->g->nodes[node].i->shape);
}

static bool is_update(const hlo_node *n)
{
    return n->i->code == RIDGE_HLO_OP_DYNAMIC_UPDATE_SLICE ||
           n->i->code == RIDGE_HLO_OP_SCATTER;
}

/* The operand that holds what an update writes. */
static int update_operand(const hlo_node *n)
{
    return n->i->code == RIDGE_HLO_OP_SCATTER ? 2 : 1;
}

static bool is_partial(const hlo_traffic_meter *m, int node)
{
    return is_update(&m->g->nodes[node]) &&
           m->g->nodes[node].n_inputs > update_operand(&m->g->nodes[node]) &&
           hlo_update_is_in_place(m->g, node, m->k->roles, m->is_compiled);
}

/* Elements of an input that @p need elements of the output take. */
static double input_need(const hlo_traffic_meter *m, int node, int k, double need)
{
    const hlo_node *n = &m->g->nodes[node];
    const double all = elements_of(m, n->inputs[k]), out = elements_of(m, node);
    const double share = out > 0 ? need / out : 1;
    const ridge_hlo_opcode code = n->i->code;
    const bool is_slice = code == RIDGE_HLO_OP_SLICE ||
                          code == RIDGE_HLO_OP_DYNAMIC_SLICE ||
                          code == RIDGE_HLO_OP_GATHER;
    if (is_slice)
        return k == 0 ? fmin(need, all) : all;
    if (is_partial(m, node)) {
        if (k > 0)
            return all;
        /* a scatter that adds reads what it adds to */
        return code == RIDGE_HLO_OP_SCATTER ? fmin(all, elements_of(m, n->inputs[2]))
                                            : 0;
    }
    if (code == RIDGE_HLO_OP_BROADCAST)
        return fmin(all, need);
    return all * fmin(1, share);
}

static void meet(hlo_traffic_meter *m, int kernel, int node)
{
    if (m->stamp[node] == kernel + 1)
        return;
    m->stamp[node] = kernel + 1;
    m->demand[node] = 0;
    m->met[m->n_met++] = node;
}

static bool goes_through(const hlo_traffic_meter *m, int kernel, int node)
{
    const hlo_role role = m->k->roles[node];
    return role == HLO_ROLE_INSIDE ||
           (role == HLO_ROLE_NAME && m->g->nodes[node].i->phase != RIDGE_HLO_DONE) ||
           (role == HLO_ROLE_RESULT && m->k->kernel_of[node] == kernel);
}

static int latest_first(const void *a, const void *b)
{
    const int x = *(const int *)a, y = *(const int *)b;
    return (x < y) - (x > y);
}

/* All nodes of a kernel and what they read, latest first. */
static void collect(hlo_traffic_meter *m, int kernel)
{
    const hlo_kernel *k = &m->k->kernels[kernel];
    m->n_met = 0;
    for (int r = 0; r < k->n_roots; r++)
        meet(m, kernel, m->k->roots[k->first_root + r]);
    for (int at = 0; at < m->n_met; at++) {
        const hlo_node *n = &m->g->nodes[m->met[at]];
        if (!goes_through(m, kernel, m->met[at]))
            continue;
        for (int i = 0; i < n->n_inputs; i++)
            meet(m, kernel, n->inputs[i]);
    }
    qsort(m->met, (size_t)m->n_met, sizeof *m->met, latest_first);
}

/* ---- what moves -------------------------------------------------------------------
 */

/* Bytes with padding over bytes without: by the layout, or by the tiles that a TPU
 * gives an array of that format. */
static double padding_factor(const hlo_traffic_meter *m, const ridge_hlo_shape *shape)
{
    const double bytes = ridge_hlo_shape_bytes(shape);
    if (bytes <= 0 || ridge_hlo_shape_is_tuple(shape))
        return 1;
    const bool is_tiled = m->chip && m->chip->kind == RIDGE_CHIP_TPU &&
                          m->chip->lane_count > 0 && m->chip->sublane_count > 0;
    if ((shape->layout && shape->layout->n_tiles > 0) || !is_tiled || shape->n == 0)
        return ridge_hlo_shape_padded_bytes(shape) / bytes;
    ridge_hlo_layout layout = {.n = shape->n, .n_tiles = 1};
    for (int d = 0; d < shape->n; d++)
        layout.minor_to_major[d] = shape->layout ? shape->layout->minor_to_major[d]
                                                 : (signed char)(shape->n - 1 - d);
    layout.element_bits = ridge_hlo_type_bits(shape->type);
    layout.tiles[0].n = shape->n > 1 ? 2 : 1;
    layout.tiles[0].dims[shape->n > 1] = m->chip->lane_count;
    /* a short second dim gets as few rows as hold it */
    if (shape->n > 1) {
        const int64_t rows = shape->dims[layout.minor_to_major[1]];
        layout.tiles[0].dims[0] =
            rows < m->chip->sublane_count && rows > 0 ? rows : m->chip->sublane_count;
    }
    ridge_hlo_shape tiled = *shape;
    tiled.layout = &layout;
    return ridge_hlo_shape_padded_bytes(&tiled) / bytes;
}

static void move(const hlo_traffic_meter *m, const ridge_hlo_shape *shape,
                 double elements, double *hbm, hlo_traffic *out)
{
    const double all = ridge_hlo_shape_elements(shape);
    const double share = all > 0 ? fmin(1, elements / all) : 0;
    const double bytes = share * ridge_hlo_shape_bytes(shape);
    switch (ridge_hlo_shape_space(shape)) {
    case RIDGE_HLO_SPACE_HBM:
        *hbm += bytes;
        out->padded_bytes += bytes * padding_factor(m, shape);
        break;
    case RIDGE_HLO_SPACE_HOST:
        out->host_bytes += bytes;
        break;
    default:
        out->fast_bytes += bytes;
        break;
    }
}

static void write_root(const hlo_traffic_meter *m, int node, hlo_traffic *out)
{
    const hlo_node *n = &m->g->nodes[node];
    const ridge_hlo_shape *shape = hlo_node_written(n);
    double elements = ridge_hlo_shape_elements(shape);
    if (ridge_hlo_shape_is_tuple(shape)) {
        for (int p = 0; p < shape->n; p++)
            move(m, &shape->parts[p], ridge_hlo_shape_elements(&shape->parts[p]),
                 &out->written_bytes, out);
        return;
    }
    if (is_partial(m, node))
        elements = elements_of(m, n->inputs[update_operand(n)]);
    move(m, shape, elements, &out->written_bytes, out);
}

static double output_size(const ridge_hlo_instruction *i)
{
    return ridge_hlo_shape_elements(&i->shape);
}

/* One operation of a kernel: what it does for the share of its result that is needed.
 */
static void run_node(hlo_traffic_meter *m, int node, hlo_traffic *out)
{
    const hlo_node *n = &m->g->nodes[node];
    const double all = elements_of(m, node);
    const double share = all > 0 ? fmin(1, m->demand[node] / all) : 1;
    const hlo_work w = hlo_work_of(m->module, n->i, hlo_traffic_operands(m, node));
    out->work.flops += share * w.flops;
    out->work.transcendentals += share * w.transcendentals;
    out->n_operations += m->k->roles[node] != HLO_ROLE_NAME;
    if (hlo_product_is(n->i)) {
        m->products[out->n_products++] = node;
        if (out->product < 0 ||
            output_size(n->i) > output_size(m->g->nodes[out->product].i))
            out->product = node;
    }
    for (int k = 0; k < n->n_inputs; k++) {
        const int input = n->inputs[k];
        const double need = m->demand[input] + input_need(m, node, k, m->demand[node]);
        m->demand[input] = fmin(need, elements_of(m, input));
    }
}

hlo_traffic hlo_traffic_of(hlo_traffic_meter *m, int kernel)
{
    hlo_traffic out = {.product = -1, .products = m->products};
    const hlo_kernel *k = &m->k->kernels[kernel];
    collect(m, kernel);
    for (int r = 0; r < k->n_roots; r++) {
        const int root = m->k->roots[k->first_root + r];
        m->demand[root] = elements_of(m, root);
        write_root(m, root, &out);
    }
    for (int at = 0; at < m->n_met; at++) {
        const int node = m->met[at];
        if (goes_through(m, kernel, node))
            run_node(m, node, &out);
        else
            move(m, &m->g->nodes[node].i->shape, m->demand[node], &out.read_bytes,
                 &out);
    }
    return out;
}
