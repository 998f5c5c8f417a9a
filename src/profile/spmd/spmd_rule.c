/* What operations do with dims: one factor for what they treat alike in all arrays.
 * @source shardy-2025, op_sharding_rule */
#include "hlo_attribute.h"
#include "spmd.h"

#include <string.h>

/* ---- elementwise ------------------------------------------------------------------
 */

/* All arrays of as many dims as the result lie alike. */
static void take_alike(spmd *m, spmd_op *op)
{
    const int first = op->n_operands;
    op->is_pointwise = true;
    for (int d = 0; first < op->n && d < op->tensors[first].n; d++) {
        const int f =
            spmd_factor_add(m, op, spmd_shape_of(m, op, first)->dims[d], SPMD_PASS);
        for (int t = 0; t < op->n; t++) {
            if (op->tensors[t].n == op->tensors[first].n &&
                spmd_shape_of(m, op, t)->dims[d] == spmd_factor_at(op, f)->size)
                spmd_dim_put(op, t, d, f);
        }
    }
}

/* Operand k with result k. */
static void take_pairs(spmd *m, spmd_op *op)
{
    op->is_pointwise = true;
    for (int k = 0; k < op->n_operands && op->n_operands + k < op->n; k++) {
        const int other = op->n_operands + k;
        for (int d = 0; d < op->tensors[k].n && d < op->tensors[other].n; d++) {
            const int f =
                spmd_factor_add(m, op, spmd_shape_of(m, op, k)->dims[d], SPMD_PASS);
            spmd_dim_put(op, k, d, f);
            spmd_dim_put(op, other, d, f);
        }
    }
}

static bool is_elementwise(const ridge_hlo_instruction *i)
{
    const ridge_hlo_kind kind = ridge_hlo_opcode_kind(i->code);
    if (i->code == RIDGE_HLO_OP_RNG)
        return false;
    return kind == RIDGE_HLO_KIND_MAP || kind == RIDGE_HLO_KIND_HARD ||
           i->code == RIDGE_HLO_OP_COPY || i->code == RIDGE_HLO_OP_DOMAIN ||
           i->code == RIDGE_HLO_OP_ADD_DEPENDENCY;
}

/* ---- dims in other places ---------------------------------------------------------
 */

static void take_transpose(spmd *m, spmd_op *op)
{
    int64_t from[RIDGE_HLO_RANK_MAX];
    const int n = hlo_attribute_ints(spmd_node_of(m, op)->i, "dimensions", from,
                                     RIDGE_HLO_RANK_MAX);
    for (int d = 0; d < n && d < op->tensors[1].n; d++) {
        const int f =
            spmd_factor_add(m, op, spmd_shape_of(m, op, 1)->dims[d], SPMD_PASS);
        spmd_dim_put(op, 0, from[d], f);
        spmd_dim_put(op, 1, d, f);
    }
}

static void take_broadcast(spmd *m, spmd_op *op)
{
    int64_t to[RIDGE_HLO_RANK_MAX];
    const int n = hlo_attribute_ints(spmd_node_of(m, op)->i, "dimensions", to,
                                     RIDGE_HLO_RANK_MAX);
    const ridge_hlo_shape *in = spmd_shape_of(m, op, 0), *out = spmd_shape_of(m, op, 1);
    for (int d = 0; d < op->tensors[1].n; d++) {
        const int f = spmd_factor_add(m, op, out->dims[d], SPMD_PASS);
        spmd_dim_put(op, 1, d, f);
        for (int k = 0; k < n && k < in->n; k++) {
            if (to[k] == d && in->dims[k] == out->dims[d])
                spmd_dim_put(op, 0, k, f);
        }
    }
}

/* The next factor of two dims that are taken apart side by side: 0 when a dim's rest
 * does not go into the other's. */
static int64_t common_of(int64_t a, int64_t b)
{
    if (a < 1 || b < 1)
        return 0;
    if (a == b)
        return a;
    if (a > b)
        return a % b == 0 ? b : 0;
    return b % a == 0 ? a : 0;
}

/* Dims from the end of both shapes: equal ones are one, others come apart into factors
 * from the inner end; what does not divide is whole together. */
void spmd_rule_reshape(spmd *m, spmd_op *op)
{
    const ridge_hlo_shape *in = spmd_shape_of(m, op, 0), *out = spmd_shape_of(m, op, 1);
    int i = 0, o = 0;
    int64_t left_in = 1, left_out = 1;
    if (op->tensors[0].n != in->n || op->tensors[1].n != out->n)
        return;
    while (i < in->n || o < out->n) { /* from outside: factors come in their order */
        if (left_in == 1 && i < in->n && in->dims[i] == 1 &&
            !(o < out->n && left_out == 1 && out->dims[o] == 1)) {
            spmd_dim_new(m, op, 0, i++, SPMD_WHOLE);
            continue;
        }
        if (left_out == 1 && o < out->n && out->dims[o] == 1 &&
            !(i < in->n && left_in == 1 && in->dims[i] == 1)) {
            spmd_dim_new(m, op, 1, o++, SPMD_WHOLE);
            continue;
        }
        if (i == in->n || o == out->n)
            break;
        left_in = left_in == 1 ? in->dims[i] : left_in;
        left_out = left_out == 1 ? out->dims[o] : left_out;
        const int64_t size = common_of(left_in, left_out);
        if (size == 0)
            break;
        const int f = spmd_factor_add(m, op, size, SPMD_PASS);
        spmd_dim_put(op, 0, i, f);
        spmd_dim_put(op, 1, o, f);
        left_in /= size;
        left_out /= size;
        i += left_in == 1;
        o += left_out == 1;
    }
}

static void take_bitcast_convert(spmd *m, spmd_op *op)
{
    const ridge_hlo_shape *in = spmd_shape_of(m, op, 0), *out = spmd_shape_of(m, op, 1);
    for (int d = 0; d < in->n && d < out->n; d++) {
        const int f = spmd_factor_add(m, op, out->dims[d], SPMD_PASS);
        spmd_dim_put(op, 0, d, f);
        spmd_dim_put(op, 1, d, f);
    }
}

/* ---- made from nothing ------------------------------------------------------------
 */

/* One value everywhere: { 0, 0 } or 0, but no list of others. */
static bool is_splat(const ridge_hlo_instruction *i)
{
    if (i->shape.n == 0)
        return true;
    for (size_t k = 0; k < i->literal.n; k++) {
        if (i->literal.p[k] == ',' || i->literal.p[k] == '{' ||
            i->literal.p[k] == '[' || i->literal.p[k] == '"')
            return false;
    }
    return i->literal.n > 0;
}

static bool take_source(spmd *m, spmd_op *op, const ridge_hlo_instruction *i)
{
    if (i->code == RIDGE_HLO_OP_PARAMETER || i->code == RIDGE_HLO_OP_IOTA ||
        (i->code == RIDGE_HLO_OP_CONSTANT && is_splat(i))) {
        for (int t = 0; t < op->n; t++) {
            for (int d = 0; d < op->tensors[t].n; d++)
                spmd_dim_new(m, op, t, d, SPMD_PASS);
        }
        return true;
    }
    return ridge_hlo_opcode_kind(i->code) == RIDGE_HLO_KIND_CONST;
}

/* ---- custom calls -----------------------------------------------------------------
 */

static bool is_one_of(ridge_str text, const char *const *names, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        if (ridge_str_is(text, names[k]))
            return true;
    }
    return false;
}

/* The outer dims of a library's attention or norm are a batch: all arrays that begin
 * with the same ones have them cut alike. */
static void take_batch(spmd *m, spmd_op *op, int n)
{
    const int first = op->n_operands;
    for (int d = 0; first < op->n && d < n && d < op->tensors[first].n; d++) {
        const int64_t size = spmd_shape_of(m, op, first)->dims[d];
        const int f = spmd_factor_add(m, op, size, SPMD_PASS);
        for (int t = 0; t < op->n; t++) {
            const ridge_hlo_shape *s = spmd_shape_of(m, op, t);
            if (op->tensors[t].n > n && s->dims[d] == size)
                spmd_dim_put(op, t, d, f);
        }
    }
}

/* Ways that a barrier is open, of its own attribute or of the frontend's. */
static void take_barrier(spmd_op *op, const ridge_hlo_instruction *i)
{
    const ridge_str frontend = ridge_hlo_attribute_of(i, "frontend_attributes");
    ridge_str way = ridge_hlo_attribute_of(i, "allowed_direction");
    way = way.p ? way : hlo_field_of(frontend, "xla.sdy.allowed_direction");
    const bool is_both = hlo_text_has(way, "BOTH");
    op->is_one_way[0] = !is_both && !hlo_text_has(way, "FORWARD");
    op->is_one_way[1] = !is_both && !hlo_text_has(way, "BACKWARD");
}

static void take_call(spmd *m, spmd_op *op, const ridge_hlo_instruction *i)
{
    static const char *const names[] = {"Sharding",
                                        "xla.sdy.FuncResultSharding",
                                        "xla.sdy.PropagationBarrier",
                                        "annotate_device_placement",
                                        "LayoutConstraint",
                                        "Pin",
                                        "AssumeGatherIndicesInBound",
                                        "Unpin",
                                        "tan",
                                        "mhlo.erf",
                                        "chlo.erf",
                                        "mhlo.tan",
                                        "AllocateBuffer",
                                        "CreateBuffer",
                                        "X64Combine"};
    static const char *const batched[] = {
        "__cudnn$fmha",    "fmha", "mha", "attention", "__cudnn$norm", "Cholesky",
        "TriangularSolve", "Eigh", "Qr",  "TopK",      "mhlo.topk"};
    const ridge_str target = hlo_target_of(i);
    if (ridge_str_is(target, "xla.sdy.PropagationBarrier"))
        take_barrier(op, i);
    if (is_one_of(target, names, RIDGE_COUNT_OF(names))) {
        take_alike(m, op);
        return;
    }
    for (size_t k = 0; k < RIDGE_COUNT_OF(batched); k++) {
        if (!hlo_text_has(target, batched[k]))
            continue;
        take_batch(m, op,
                   op->n > op->n_operands ? op->tensors[op->n_operands].n - 2 : 0);
        if (hlo_text_has(target, "opK") || hlo_text_has(target, "topk"))
            take_batch(m, op, op->tensors[op->n_operands].n - 1);
        return;
    }
    op->reason = "what a custom call does with its arrays is not known";
}

/* ---- all --------------------------------------------------------------------------
 */

/* Dims of one array in other places: text may give it none, or several. */
static bool take_moved(spmd *m, spmd_op *op, ridge_hlo_opcode code)
{
    void (*take)(spmd *, spmd_op *) =
        code == RIDGE_HLO_OP_TRANSPOSE   ? take_transpose
        : code == RIDGE_HLO_OP_BROADCAST ? take_broadcast
        : code == RIDGE_HLO_OP_RESHAPE || code == RIDGE_HLO_OP_BITCAST
            ? spmd_rule_reshape
        : code == RIDGE_HLO_OP_BITCAST_CONVERT ? take_bitcast_convert
                                               : NULL;
    if (take == NULL)
        return false;
    if (op->n_operands == 1 && op->n == 2)
        take(m, op);
    else
        op->reason = "it has not one array and one result";
    return true;
}

static void take_rule(spmd *m, spmd_op *op)
{
    const ridge_hlo_instruction *i = spmd_node_of(m, op)->i;
    if (i->code == RIDGE_HLO_OP_OPTIMIZATION_BARRIER || spmd_manual_is(i))
        take_pairs(m, op);
    else if (spmd_rule_collective(m, op))
        return;
    else if (is_elementwise(i))
        take_alike(m, op);
    else if (take_source(m, op, i) || take_moved(m, op, i->code))
        return;
    else if (i->code == RIDGE_HLO_OP_CUSTOM_CALL)
        take_call(m, op, i);
    else if (!spmd_rule_moves(m, op) && !spmd_rule_sums(m, op))
        op->reason = "no rule is known for it";
}

/* Dims without a factor are whole. */
static void finish(spmd *m, spmd_op *op)
{
    for (int t = 0; t < op->n; t++) {
        for (int d = 0; d < op->tensors[t].n; d++) {
            if (op->tensors[t].dims[d].n == 0)
                spmd_dim_new(m, op, t, d, SPMD_WHOLE);
        }
    }
}

static ridge_status open_op(spmd *m, int graph, int node, int n_operands, int n,
                            spmd_op **out)
{
    spmd_op *op = hlo_list_push(m->scratch, &m->ops);
    if (op == NULL)
        return ridge_fail_nomem(m->cx);
    *op = (spmd_op){.graph = graph,
                    .node = node,
                    .n_operands = n_operands,
                    .n = n,
                    .tensors = ridge_new(m->scratch, spmd_tensor, (size_t)n + 1),
                    .factors = {.size = sizeof(spmd_factor)},
                    .reducer = SPMD_REDUCER_NONE,
                    .manual = -1};
    *out = op;
    return op->tensors ? RIDGE_OK : ridge_fail_nomem(m->cx);
}

static void set_tensor(const spmd *m, spmd_tensor *t, int value)
{
    const spmd_value *v = spmd_value_at(m, value);
    *t = (spmd_tensor){.value = value, .n = v->sharding.n_dims};
}

static ridge_status take_op(spmd *m, int graph, int k)
{
    const hlo_node *node = &m->graphs.graphs[graph].nodes[k];
    const spmd_leaves *of = m->leaves[graph];
    int n = 0, at = 0;
    spmd_op *op = NULL;
    for (int j = 0; j < node->n_inputs; j++)
        n += of[node->inputs[j]].n;
    m->op_of[graph][k] = m->ops.n;
    RIDGE_TRY(open_op(m, graph, k, n, n + of[k].n, &op));
    for (int j = 0; j < node->n_inputs; j++) {
        for (int l = 0; l < of[node->inputs[j]].n; l++)
            set_tensor(m, &op->tensors[at++], of[node->inputs[j]].values[l]);
    }
    for (int l = 0; l < of[k].n; l++)
        set_tensor(m, &op->tensors[at++], of[k].values[l]);
    take_rule(m, op);
    finish(m, op);
    return RIDGE_OK;
}

/* What goes around a loop, or leaves branches, lies as it comes in. */
static ridge_status take_carried(spmd *m, int graph, int k)
{
    const hlo_node *node = &m->graphs.graphs[graph].nodes[k];
    const spmd_leaves *of = m->leaves[graph];
    const bool is_loop = node->i->code == RIDGE_HLO_OP_WHILE;
    spmd_leaves *roots = ridge_new(m->scratch, spmd_leaves, (size_t)node->n_graphs + 1);
    if (roots == NULL)
        return ridge_fail_nomem(m->cx);
    for (int g = 0; g < node->n_graphs; g++)
        RIDGE_TRY(spmd_outputs_of(m, node->first_graph + g, &roots[g]));
    if (is_loop && node->n_graphs == 2 && node->n_inputs == 1)
        roots[0] = of[node->inputs[0]]; /* in place of the condition's: what comes in */
    for (int l = 0; l < of[k].n; l++) {
        spmd_op *op = NULL;
        RIDGE_TRY(open_op(m, graph, k, node->n_graphs, node->n_graphs + 1, &op));
        op->is_carry = true;
        for (int g = 0; g < node->n_graphs; g++) {
            if (l >= roots[g].n)
                return ridge_fail(m->cx, RIDGE_E_ARG,
                                  "line %d: '%.*s' gives other values than it is said "
                                  "to: the module does not fit itself",
                                  node->i->line, (int)node->i->name.n, node->i->name.p);
            set_tensor(m, &op->tensors[g], roots[g].values[l]);
        }
        set_tensor(m, &op->tensors[node->n_graphs], of[k].values[l]);
        take_alike(m, op);
        finish(m, op);
    }
    return RIDGE_OK;
}

static bool is_alias(const hlo_graph *g, const hlo_node *node)
{
    return node->i->code == RIDGE_HLO_OP_TUPLE ||
           node->i->code == RIDGE_HLO_OP_GET_TUPLE_ELEMENT ||
           (node->i->code == RIDGE_HLO_OP_PARAMETER && g->kind != HLO_GRAPH_ENTRY);
}

ridge_status spmd_ops_build(spmd *m)
{
    m->op_of = ridge_new(m->scratch, int *, (size_t)m->graphs.n);
    if (m->op_of == NULL)
        return ridge_fail_nomem(m->cx);
    for (int g = 0; g < m->graphs.n; g++) {
        const hlo_graph *graph = &m->graphs.graphs[g];
        m->op_of[g] = ridge_new(m->scratch, int, (size_t)graph->n + 1);
        if (m->op_of[g] == NULL)
            return ridge_fail_nomem(m->cx);
        for (int k = 0; k < graph->n; k++) {
            const hlo_node *node = &graph->nodes[k];
            m->op_of[g][k] = -1;
            if (node->i->code == RIDGE_HLO_OP_WHILE ||
                node->i->code == RIDGE_HLO_OP_CONDITIONAL)
                RIDGE_TRY(take_carried(m, g, k));
            else if (!is_alias(graph, node))
                RIDGE_TRY(take_op(m, g, k));
        }
    }
    return RIDGE_OK;
}
