/* The time of each kernel by the cost model of cost.h. */
#include "hlo_attribute.h"
#include "hlo_network.h"
#include "hlo_pricing.h"
#include "hlo_product.h"
#include "hlo_traffic.h"

#include <math.h>
#include <string.h>

/** A kernel at its pricing. */
typedef struct pricing_place {
    hlo_pricing *p;
    int graph, kernel;
    hlo_traffic_meter *meter;
    hlo_traffic traffic;
    const hlo_node *node;
} pricing_place;

/* ---- what it is -------------------------------------------------------------------
 */

static const char *text_of(ridge_ctx *cx, ridge_str s)
{
    const char *z = s.p ? ridge_str_dup(ridge_ctx_arena(cx), s) : "";
    return z ? z : "";
}

static const char *source_text(ridge_ctx *cx, const ridge_hlo_module *m,
                               const ridge_hlo_instruction *i)
{
    ridge_str file;
    int line;
    if (!ridge_hlo_source_of(m, i, &file, &line))
        return "";
    const char *z =
        ridge_sprintf(ridge_ctx_arena(cx), "%.*s:%d", (int)file.n, file.p, line);
    return z ? z : "";
}

static const char *shape_text(ridge_ctx *cx, const ridge_hlo_shape *shape)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    ridge_hlo_shape_write(shape, &b);
    return ridge_buf_text(&b);
}

/* The instruction that a kernel is told by: its product, else its last. */
static const hlo_node *teller(const pricing_place *y)
{
    return y->traffic.product >= 0
               ? &y->p->graphs.graphs[y->graph].nodes[y->traffic.product]
               : y->node;
}

/* What a value is, behind names for it. */
static const ridge_hlo_instruction *maker_of(const pricing_place *y, const hlo_node *n)
{
    const hlo_graph *g = &y->p->graphs.graphs[y->graph];
    while (hlo_node_is_free(n) && n->n_inputs > 0)
        n = &g->nodes[n->inputs[0]];
    return n->i;
}

static void describe(const pricing_place *y, ridge_hlo_op *op)
{
    ridge_ctx *cx = y->p->cx;
    const hlo_graph *g = &y->p->graphs.graphs[y->graph];
    const ridge_hlo_instruction *i = y->node->within ? y->node->within : y->node->i;
    const ridge_hlo_instruction *told = maker_of(y, teller(y));
    op->name = text_of(cx, i->name);
    op->code = told->code == RIDGE_HLO_OP_CUSTOM_CALL ? text_of(cx, hlo_target_of(told))
               : told->code == RIDGE_HLO_OP_UNKNOWN   ? text_of(cx, told->code_text)
                                                    : ridge_hlo_opcode_text(told->code);
    op->scope = text_of(cx, ridge_hlo_scope_of(told));
    if (op->scope[0] == '\0')
        op->scope = text_of(cx, ridge_hlo_scope_of(i));
    op->source = source_text(cx, y->p->module, told);
    if (op->source[0] == '\0')
        op->source = source_text(cx, y->p->module, i);
    op->shape = shape_text(cx, hlo_node_written(y->node));
    op->detail = "";
    op->computation = g->computation;
    op->line = i->line;
    op->times = g->times;
    op->tile_efficiency = 1;
    op->n_operations = y->traffic.n_operations;
    op->transcendentals = y->traffic.work.transcendentals;
    op->vector_flops = y->traffic.work.flops;
    op->bytes = y->traffic.read_bytes + y->traffic.written_bytes;
    op->fast_bytes = y->traffic.fast_bytes;
    op->host_bytes = y->traffic.host_bytes;
    op->padded_bytes = y->traffic.padded_bytes;
}

static bool kernel_has(const pricing_place *y, ridge_hlo_kind kind)
{
    const hlo_kernels *k = &y->p->kernels[y->graph];
    const hlo_kernel *kernel = &k->kernels[y->kernel];
    for (int r = 0; r < kernel->n_roots; r++) {
        const hlo_node *n = &k->graph->nodes[k->roots[kernel->first_root + r]];
        if (ridge_hlo_opcode_kind(n->i->code) == kind)
            return true;
    }
    return false;
}

static ridge_hlo_category plain_category(const pricing_place *y)
{
    const hlo_traffic *t = &y->traffic;
    if (t->host_bytes > 0)
        return RIDGE_HLO_CATEGORY_HOST;
    switch (ridge_hlo_opcode_kind(y->node->i->code)) {
    case RIDGE_HLO_KIND_LIBRARY:
        return y->node->i->code == RIDGE_HLO_OP_CUSTOM_CALL ||
                       y->node->i->code == RIDGE_HLO_OP_UNKNOWN
                   ? RIDGE_HLO_CATEGORY_CUSTOM
                   : RIDGE_HLO_CATEGORY_OTHER;
    case RIDGE_HLO_KIND_HOST:
        return RIDGE_HLO_CATEGORY_HOST;
    case RIDGE_HLO_KIND_REDUCE:
        return RIDGE_HLO_CATEGORY_REDUCTION;
    case RIDGE_HLO_KIND_FREE:
    case RIDGE_HLO_KIND_CONST:
    case RIDGE_HLO_KIND_MOVE:
    case RIDGE_HLO_KIND_MAP:
    case RIDGE_HLO_KIND_HARD:
    case RIDGE_HLO_KIND_PRODUCT:
    case RIDGE_HLO_KIND_NETWORK:
    case RIDGE_HLO_KIND_CONTROL:
        break;
    }
    if (kernel_has(y, RIDGE_HLO_KIND_REDUCE))
        return RIDGE_HLO_CATEGORY_REDUCTION;
    return t->work.flops + t->work.transcendentals > 0 ? RIDGE_HLO_CATEGORY_ELEMENTWISE
                                                       : RIDGE_HLO_CATEGORY_DATA;
}

/* ---- times ------------------------------------------------------------------------
 */

static void take(ridge_hlo_op *op, const ridge_op_cost *cost)
{
    if (cost->bound_s > op->bound_s)
        op->bound_by = cost->bound_by;
    if (cost->expected_s > op->expected_s)
        op->expected_bound_by = cost->expected_bound_by;
    op->bound_s = fmax(op->bound_s, cost->bound_s);
    op->expected_s = fmax(op->expected_s, cost->expected_s);
}

static void price_streams(const pricing_place *y, ridge_hlo_op *op)
{
    const ridge_chip *chip = y->p->chip;
    if (chip == NULL)
        return;
    const double vector = hlo_work_vector_flops(&y->traffic.work);
    ridge_op_cost cost = ridge_stream_cost(chip, vector, op->bytes);
    take(op, &cost);
    if (op->fast_bytes > 0 && chip->fast_bytes_per_s > 0) {
        cost = ridge_stream_cost_from(chip, 0, op->fast_bytes, RIDGE_MEMORY_FAST);
        take(op, &cost);
    }
    if (op->host_bytes > 0 && ridge_memory_bytes_per_s(chip, RIDGE_MEMORY_HOST) > 0) {
        cost = ridge_stream_cost_from(chip, 0, op->host_bytes, RIDGE_MEMORY_HOST);
        take(op, &cost);
    }
}

/* Where a product's operands are not all read from HBM its own traffic is the kernel's,
 * and the product is priced as from fast memory. */
static ridge_memory memory_of(const pricing_place *y, const ridge_matmul *mm)
{
    const double own = mm->batch * (mm->m * mm->k * ridge_dtype_bytes(mm->activation) +
                                    mm->k * mm->n * ridge_dtype_bytes(mm->weight) +
                                    mm->m * mm->n * ridge_dtype_bytes(mm->output));
    const double hbm = y->traffic.read_bytes + y->traffic.written_bytes;
    const bool has_fast = y->p->chip->fast_bytes_per_s > 0;
    return hbm < 0.9 * own && has_fast ? RIDGE_MEMORY_FAST : RIDGE_MEMORY_HBM;
}

/* Time of a product in a kernel. */
static ridge_op_cost matmul_cost(const pricing_place *y, int node,
                                 const hlo_product *product)
{
    const hlo_kernels *k = &y->p->kernels[y->graph];
    const ridge_hlo_type written = y->node->i->shape.type;
    const bool is_written =
        node == y->traffic.product && written != RIDGE_HLO_TUPLE; /* by the kernel */
    double passes;
    ridge_matmul mm = {
        .batch = product->batch,
        .m = fmax(1, product->m),
        .k = fmax(1, product->k),
        .n = fmax(1, product->n),
        .activation = ridge_hlo_type_dtype(hlo_traffic_stored(k, node, 0)),
        .weight = ridge_hlo_type_dtype(hlo_traffic_stored(k, node, 1)),
        .output = ridge_hlo_type_dtype(is_written ? written : product->output),
    };
    mm.compute = hlo_compute_dtype(y->p->chip, product->lhs, product->rhs,
                                   product->precision, &passes);
    ridge_op_cost cost = ridge_matmul_cost(y->p->chip, &mm, memory_of(y, &mm));
    cost.expected_s += (passes - 1) * cost.compute_s;
    cost.compute_s *= passes;
    cost.bound_s = fmax(cost.bound_s, cost.compute_s);
    return cost;
}

/* What a product's partial sums are added up over: its contraction is cut as many ways.
 * 1: nothing is. */
static int64_t contraction_ways(const pricing_place *y)
{
    const hlo_graph *g = &y->p->graphs.graphs[y->graph];
    const hlo_node *n = y->node;
    ridge_hlo_collective c;
    while (n->n_users == 1 && hlo_node_is_free(&g->nodes[g->users[n->first_user]]))
        n = &g->nodes[g->users[n->first_user]];
    if (n->n_users != 1)
        return 1;
    const ridge_hlo_instruction *user = g->nodes[g->users[n->first_user]].i;
    if ((user->code != RIDGE_HLO_OP_ALL_REDUCE &&
         user->code != RIDGE_HLO_OP_REDUCE_SCATTER) ||
        hlo_collective_find(y->p->cx, user, 0, y->p->devices, NULL, &c) != RIDGE_OK)
        return 1;
    return c.ranks;
}

/* "pk,ku->pu, k 8 x 2048": the whole contraction over all that share it. */
static const char *product_text(const pricing_place *y, const hlo_product *product)
{
    const int64_t ways = contraction_ways(y);
    const char *einsum = product->einsum ? product->einsum : "";
    const char *z = ways > 1
                        ? ridge_sprintf(ridge_ctx_arena(y->p->cx), "%s, k %lld x %.0f",
                                        einsum, (long long)ways, product->k)
                        : einsum;
    return z ? z : "";
}

static bool find_product(const pricing_place *y, int node, hlo_product *out)
{
    const hlo_node *n = &y->p->graphs.graphs[y->graph].nodes[node];
    return hlo_product_find(y->p->cx, n->i, hlo_traffic_operands(y->meter, node), true,
                            out);
}

/* The other products of a kernel: one runs after another, what lies between them stays
 * in the chip. */
static void add_products(const pricing_place *y, ridge_hlo_op *op, ridge_op_cost *sum)
{
    hlo_product product;
    for (int k = 0; k < y->traffic.n_products; k++) {
        const int node = y->traffic.products[k];
        if (node == y->traffic.product)
            continue;
        if (!find_product(y, node, &product)) {
            op->is_unknown = true;
            continue;
        }
        op->matmul_flops += product.flops;
        if (y->p->chip == NULL)
            continue;
        const ridge_op_cost cost = matmul_cost(y, node, &product);
        sum->compute_s += cost.compute_s;
        sum->expected_s += cost.expected_s;
        sum->bound_s = fmax(sum->bound_s, sum->compute_s);
    }
}

static void price_product(const pricing_place *y, ridge_hlo_op *op)
{
    hlo_product product;
    ridge_op_cost cost = {.bound_s = 0};
    const hlo_node *n = &y->p->graphs.graphs[y->graph].nodes[y->traffic.product];
    op->category = n->i->code == RIDGE_HLO_OP_CONVOLUTION
                       ? RIDGE_HLO_CATEGORY_CONVOLUTION
                       : RIDGE_HLO_CATEGORY_MATMUL;
    price_streams(y, op);
    if (!find_product(y, y->traffic.product, &product)) {
        op->is_unknown = true;
        return;
    }
    /* on TPUs products are written as convolutions: those over single positions are
     * products all the same */
    if (product.is_pointwise)
        op->category = RIDGE_HLO_CATEGORY_MATMUL;
    op->matmul_flops = product.flops;
    op->detail = product_text(y, &product);
    op->is_wide = ridge_dtype_bytes(ridge_hlo_type_dtype(product.lhs)) >= 4 &&
                  ridge_dtype_bytes(ridge_hlo_type_dtype(product.rhs)) >= 4 &&
                  ridge_hlo_type_is_float(product.lhs);
    if (y->p->chip) {
        cost = matmul_cost(y, y->traffic.product, &product);
        op->tile_efficiency = cost.tile_efficiency;
    }
    add_products(y, op, &cost);
    if (y->p->chip)
        take(op, &cost);
}

static void price_attention(const pricing_place *y, const hlo_attention_call *call,
                            ridge_hlo_op *op)
{
    op->category = RIDGE_HLO_CATEGORY_ATTENTION;
    op->matmul_flops = call->flops;
    const ridge_attention *a = &call->attention;
    const char *text = ridge_sprintf(
        ridge_ctx_arena(y->p->cx), "B=%.0f T=%.0f S=%.0f N=%.0f K=%.0f H=%.0f%s%s",
        a->batch, a->query_tokens, a->context_tokens, a->heads, a->kv_heads,
        a->head_dim, a->is_causal ? " causal" : "",
        call->is_mask_told ? "" : ", mask not told: whole square");
    op->detail = text ? text : "";
    price_streams(y, op);
    if (y->p->chip == NULL)
        return;
    ridge_op_cost cost = ridge_attention_cost(y->p->chip, a);
    cost.bound_s *= call->passes;
    cost.expected_s *= call->passes;
    take(op, &cost);
}

/* Custom calls whose work is data movement alone. */
static bool is_moving_call(const ridge_hlo_instruction *i)
{
    return hlo_text_has(hlo_target_of(i), "MoveTo");
}

static ridge_status price_library(const pricing_place *y, ridge_hlo_op *op)
{
    const ridge_hlo_instruction *i = y->node->i;
    const int node = y->p->kernels[y->graph].kernels[y->kernel].node;
    hlo_attention_call call;
    if (hlo_attention_call_find(y->p->cx, i, hlo_traffic_operands(y->meter, node),
                                &call)) {
        price_attention(y, &call, op);
        return RIDGE_OK;
    }
    if (is_moving_call(i)) {
        op->category = RIDGE_HLO_CATEGORY_HOST;
        /* one side is HBM, whatever the layouts of a module before optimisation say */
        op->host_bytes = ridge_hlo_shape_bytes(hlo_node_written(y->node));
        op->bytes = op->padded_bytes = op->host_bytes;
    } else {
        op->is_unknown =
            i->code == RIDGE_HLO_OP_CUSTOM_CALL || i->code == RIDGE_HLO_OP_UNKNOWN;
    }
    price_streams(y, op);
    return RIDGE_OK;
}

/* An all-reduce of which each device keeps its part: compilers make a reduce-scatter of
 * it. */
static bool is_scattered(const pricing_place *y, const ridge_hlo_collective *c,
                         int node)
{
    const hlo_graph *g = &y->p->graphs.graphs[y->graph];
    const hlo_node *n = &g->nodes[node];
    if (y->p->is_compiled || c->kind != RIDGE_COLLECTIVE_ALL_REDUCE || c->ranks < 2)
        return false;
    while (n->n_users == 1 && !n->is_output &&
           hlo_node_is_free(&g->nodes[g->users[n->first_user]]))
        n = &g->nodes[g->users[n->first_user]];
    if (n->n_users != 1 || n->is_output)
        return false;
    const hlo_node *user = &g->nodes[g->users[n->first_user]];
    return user->i->code == RIDGE_HLO_OP_DYNAMIC_SLICE &&
           ridge_hlo_shape_elements(&user->i->shape) * (double)c->ranks <=
               ridge_hlo_shape_elements(&n->i->shape);
}

static ridge_status price_collective(const pricing_place *y, hlo_priced *out)
{
    hlo_pricing *p = y->p;
    ridge_hlo_op *op = &out->op;
    double bytes = 0;
    ridge_hlo_collective *c =
        ridge_new(ridge_ctx_arena(p->cx), ridge_hlo_collective, 1);
    if (c == NULL)
        return ridge_fail_nomem(p->cx);
    const int node = p->kernels[y->graph].kernels[y->kernel].node;
    const ridge_hlo_shape *const *operands = hlo_traffic_operands(y->meter, node);
    for (int k = 0; k < y->node->n_inputs; k++)
        bytes += ridge_hlo_shape_bytes(operands[k]);
    RIDGE_TRY(hlo_collective_find(p->cx, y->node->i, bytes, p->devices, p->slice, c));
    c->is_async |= y->node->async > 0;
    if (is_scattered(y, c, node)) {
        c->kind = RIDGE_COLLECTIVE_REDUCE_SCATTER;
        c->kind_text = "all-reduce, sliced";
    }
    op->category = RIDGE_HLO_CATEGORY_COLLECTIVE;
    op->collective = c;
    op->detail = hlo_collective_text(p->cx, y->node->i, c);
    if (p->slice == NULL || c->ranks < 2)
        return RIDGE_OK;
    const ridge_collective_cost cost =
        ridge_collective_price(p->slice, c->kind, c->bytes, &c->group);
    op->bound_s = cost.bound_s;
    op->expected_s = cost.expected_s;
    op->bound_by = op->expected_bound_by = cost.bound_by;
    c->algorithm = cost.algorithm;
    c->bus_bytes_per_s = cost.bus_bytes_per_s;
    for (int a = 0; a < cost.n_algorithms; a++) {
        if (cost.algorithms[a].algorithm == cost.algorithm)
            c->latency_s = cost.algorithms[a].latency_s;
    }
    for (int s = 0; s < c->group.n_spans; s++)
        out->axes |= 1u << c->group.spans[s].axis;
    return RIDGE_OK;
}

/* ---- kernels ----------------------------------------------------------------------
 */

/* Receives and loops take no time of their own. */
static bool is_idle(const hlo_node *n)
{
    return ridge_hlo_opcode_kind(n->i->code) == RIDGE_HLO_KIND_CONTROL ||
           (n->i->code == RIDGE_HLO_OP_RECV && !hlo_collective_is(n->i));
}

static ridge_status price_kernel(pricing_place *y, bool is_attention, hlo_priced *out)
{
    const hlo_kernels *k = &y->p->kernels[y->graph];
    y->node = &k->graph->nodes[k->kernels[y->kernel].node];
    *out = (hlo_priced){.is_priced = !is_idle(y->node)};
    if (!out->is_priced)
        return RIDGE_OK;
    y->traffic = hlo_traffic_of(y->meter, y->kernel);
    describe(y, &out->op);
    if (hlo_collective_is(y->node->i))
        return price_collective(y, out);
    out->op.category = plain_category(y);
    if (y->traffic.product >= 0)
        price_product(y, &out->op);
    else if (ridge_hlo_opcode_kind(y->node->i->code) == RIDGE_HLO_KIND_LIBRARY)
        RIDGE_TRY(price_library(y, &out->op));
    else
        price_streams(y, &out->op);
    if (is_attention)
        out->op.category = RIDGE_HLO_CATEGORY_ATTENTION;
    return RIDGE_OK;
}

enum { PIECES_MOST = 64 };

static ridge_status mark_attention(hlo_pricing *p, int graph, bool *is_attention)
{
    const int room = PIECES_MOST - p->n_pieces;
    if (p->pieces == NULL) {
        p->pieces =
            ridge_new(ridge_ctx_arena(p->cx), hlo_attention_pieces, PIECES_MOST);
        p->piece_graphs = ridge_new(ridge_ctx_arena(p->cx), int, PIECES_MOST);
    }
    if (is_attention == NULL || p->pieces == NULL || p->piece_graphs == NULL)
        return ridge_fail_nomem(p->cx);
    const int n = hlo_attention_mark(&p->kernels[graph], is_attention,
                                     p->pieces + p->n_pieces, room);
    for (int k = 0; k < n && k < room; k++)
        p->piece_graphs[p->n_pieces++] = graph;
    return RIDGE_OK;
}

static ridge_status price_graph(hlo_pricing *p, int graph)
{
    pricing_place y = {.p = p, .graph = graph};
    const hlo_kernels *k = &p->kernels[graph];
    bool *is_attention = ridge_new(ridge_ctx_scratch(p->cx), bool, (size_t)k->n);
    p->priced[graph] = ridge_new(ridge_ctx_arena(p->cx), hlo_priced, (size_t)k->n);
    if (p->priced[graph] == NULL)
        return ridge_fail_nomem(p->cx);
    RIDGE_TRY(mark_attention(p, graph, is_attention));
    RIDGE_TRY(hlo_traffic_open(p->cx, p->module, k, p->chip, p->is_compiled, &y.meter));
    for (y.kernel = 0; y.kernel < k->n; y.kernel++) {
        RIDGE_TRY(
            price_kernel(&y, is_attention[y.kernel], &p->priced[graph][y.kernel]));
    }
    return RIDGE_OK;
}

ridge_status hlo_price_kernels(hlo_pricing *p)
{
    for (int g = 0; g < p->graphs.n; g++) {
        const ridge_mark mark = ridge_arena_mark(ridge_ctx_scratch(p->cx));
        const ridge_status st = price_graph(p, g);
        ridge_arena_rewind(ridge_ctx_scratch(p->cx), mark);
        RIDGE_TRY(st);
        if (ridge_ctx_is_cancelled(p->cx))
            return ridge_fail(p->cx, RIDGE_E_CANCELLED, "cancelled");
    }
    return RIDGE_OK;
}
