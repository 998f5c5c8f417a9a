/*
 * Rules of the estimate, for modules that no compiler has fused yet. A value is written
 * when it leaves the graph, when an operation with a kernel of its own uses it (a
 * product, a collective, a library, a loop), or when it is a reduction. A value with
 * one user is computed there. With several, it is computed in each when that moves
 * fewer bytes than writing it once and reading it again, and no function is computed
 * twice. Elementwise kernels of one size that pass a value on are one kernel that
 * writes both. See docs/design/hlo.md. @source xla-gpu-fusion-2025
 */
#include "hlo_kernel.h"
#include "hlo_product.h"

#include <string.h>

typedef struct finder {
    const hlo_graph *g;
    const hlo_fusing *how;
    hlo_role *roles;
    int *kernel_of;
    int *first_of;     /* [n] by kernel: the first result of it */
    bool *has_product; /* [n] results of kernels that a product runs within */
} finder;

static ridge_hlo_kind kind_of(const hlo_node *node)
{
    if (hlo_dot_is_map(node->i))
        return RIDGE_HLO_KIND_MAP;
    return ridge_hlo_opcode_kind(node->i->code);
}

/* An operation with a kernel of its own. */
static bool is_anchor(const hlo_node *node)
{
    switch (kind_of(node)) {
    case RIDGE_HLO_KIND_PRODUCT:
    case RIDGE_HLO_KIND_NETWORK:
    case RIDGE_HLO_KIND_LIBRARY:
    case RIDGE_HLO_KIND_CONTROL:
    case RIDGE_HLO_KIND_HOST:
        return !hlo_node_is_free(node);
    case RIDGE_HLO_KIND_MOVE:
        return node->i->phase == RIDGE_HLO_START;
    case RIDGE_HLO_KIND_FREE:
    case RIDGE_HLO_KIND_CONST:
    case RIDGE_HLO_KIND_MAP:
    case RIDGE_HLO_KIND_HARD:
    case RIDGE_HLO_KIND_REDUCE:
        break;
    }
    return false;
}

static bool is_product(const hlo_node *node)
{
    return kind_of(node) == RIDGE_HLO_KIND_PRODUCT;
}

static bool is_source(const hlo_node *node)
{
    const ridge_hlo_opcode code = node->i->code;
    return code == RIDGE_HLO_OP_PARAMETER || code == RIDGE_HLO_OP_CONSTANT ||
           code == RIDGE_HLO_OP_GET_TUPLE_ELEMENT ||
           code == RIDGE_HLO_OP_PARTITION_ID || code == RIDGE_HLO_OP_REPLICA_ID;
}

/* ---- values with several users ----------------------------------------------------
 */

/** What reads a value, seen through names. */
typedef struct readers {
    int n; /* operations that are not names */
    bool has_anchor;
    bool has_output;
    int first; /* one of them */
    int visits;
} readers;

static void find_readers(const finder *f, int node, int depth, readers *out)
{
    const hlo_node *n = &f->g->nodes[node];
    enum { DEPTH_MOST = 64, VISITS_MOST = 4096 };
    out->has_output |= n->is_output;
    if (depth > DEPTH_MOST || ++out->visits > VISITS_MOST) {
        out->has_anchor = true; /* a long chain of names: write it */
        return;
    }
    for (int k = 0; k < n->n_users; k++) {
        const int user = f->g->users[n->first_user + k];
        const hlo_node *u = &f->g->nodes[user];
        if (u->i->code == RIDGE_HLO_OP_TUPLE) {
            out->has_anchor = true; /* what is handed to a loop lies in memory */
        } else if (hlo_node_is_free(u)) {
            find_readers(f, user, depth + 1, out);
        } else {
            out->n++;
            out->first = user;
            out->has_anchor |= is_anchor(u);
        }
    }
}

static double operand_bytes(const finder *f, int node)
{
    const hlo_node *n = &f->g->nodes[node];
    double bytes = 0;
    for (int k = 0; k < n->n_inputs; k++) {
        const hlo_node *input = &f->g->nodes[n->inputs[k]];
        const bool is_slice = n->i->code == RIDGE_HLO_OP_SLICE ||
                              n->i->code == RIDGE_HLO_OP_DYNAMIC_SLICE ||
                              n->i->code == RIDGE_HLO_OP_GATHER;
        bytes +=
            ridge_hlo_shape_bytes(k == 0 && is_slice ? &n->i->shape : &input->i->shape);
    }
    return bytes;
}

/* Whether computing a value in each of its k users moves less than writing it. */
static bool is_cheaper_inside(const finder *f, int node, int users)
{
    const hlo_node *n = &f->g->nodes[node];
    const double in = operand_bytes(f, node), out = ridge_hlo_shape_bytes(&n->i->shape);
    if (kind_of(n) == RIDGE_HLO_KIND_CONST || n->i->code == RIDGE_HLO_OP_BROADCAST)
        return true;
    if (kind_of(n) == RIDGE_HLO_KIND_HARD)
        return false;
    return users * in <= in + (1 + users) * out;
}

/* On chips whose compiler computes what is around a product within it: an operand that
 * nothing else reads. */
static bool is_inside_product(const finder *f, int node, const readers *r)
{
    return f->how->joins_products && r->n == 1 && !r->has_output &&
           is_product(&f->g->nodes[r->first]) &&
           kind_of(&f->g->nodes[node]) != RIDGE_HLO_KIND_REDUCE;
}

/* The same of its result: one elementwise reader of the same size. */
static bool is_product_inside(const finder *f, int node, const readers *r)
{
    if (!f->how->joins_products || r->n != 1 || r->has_output || r->has_anchor)
        return false;
    const hlo_node *reader = &f->g->nodes[r->first];
    const ridge_hlo_kind kind = kind_of(reader);
    return (kind == RIDGE_HLO_KIND_MAP || kind == RIDGE_HLO_KIND_HARD) &&
           ridge_hlo_shape_elements(&reader->i->shape) ==
               ridge_hlo_shape_elements(&f->g->nodes[node].i->shape);
}

static hlo_role estimated_role(const finder *f, int node)
{
    const hlo_node *n = &f->g->nodes[node];
    readers r = {0, false, false, -1, 0};
    if (is_source(n))
        return HLO_ROLE_SOURCE;
    if (hlo_node_is_free(n))
        return HLO_ROLE_NAME;
    find_readers(f, node, 0, &r);
    if (is_product(n))
        return is_product_inside(f, node, &r) ? HLO_ROLE_INSIDE : HLO_ROLE_RESULT;
    if (is_anchor(n) || r.has_output)
        return HLO_ROLE_RESULT;
    if (kind_of(n) == RIDGE_HLO_KIND_CONST || is_inside_product(f, node, &r))
        return HLO_ROLE_INSIDE;
    if (r.has_anchor || kind_of(n) == RIDGE_HLO_KIND_REDUCE ||
        n->i->code == RIDGE_HLO_OP_DYNAMIC_UPDATE_SLICE ||
        n->i->code == RIDGE_HLO_OP_SCATTER)
        return HLO_ROLE_RESULT;
    return r.n <= 1 || is_cheaper_inside(f, node, r.n) ? HLO_ROLE_INSIDE
                                                       : HLO_ROLE_RESULT;
}

/* The result of the kernel that a product runs within; what would go on into another
 * product ends there, and is written. -1: it would run in several kernels */
static int root_of_product(const finder *f, int product)
{
    for (int node = product;;) {
        readers r = {0, false, false, -1, 0};
        find_readers(f, node, 0, &r);
        if (r.n != 1 || r.has_output)
            return -1;
        if (is_anchor(&f->g->nodes[r.first])) {
            f->roles[node] = HLO_ROLE_RESULT;
            return node;
        }
        node = r.first;
        if (f->roles[node] != HLO_ROLE_INSIDE)
            return node;
    }
}

/* A kernel computes one product, and no product is computed twice. */
static void part_products(const finder *f)
{
    for (int node = 0; node < f->g->n; node++) {
        if (!is_product(&f->g->nodes[node]) || f->roles[node] != HLO_ROLE_INSIDE)
            continue;
        const int root = root_of_product(f, node);
        if (root < 0 || f->has_product[root])
            f->roles[node] = HLO_ROLE_RESULT;
        else
            f->has_product[root] = true;
    }
}

static hlo_role compiled_role(const finder *f, int node)
{
    const hlo_node *n = &f->g->nodes[node];
    if (is_source(n))
        return HLO_ROLE_SOURCE;
    if (f->g->is_fused || n->fusion > 0) {
        const bool leaves = f->g->is_fused ? n->is_output : n->is_fusion_output;
        if (leaves && n->i->code != RIDGE_HLO_OP_TUPLE)
            return HLO_ROLE_RESULT;
        return hlo_node_is_free(n) ? HLO_ROLE_NAME : HLO_ROLE_INSIDE;
    }
    return hlo_node_is_free(n) ? HLO_ROLE_NAME : HLO_ROLE_RESULT;
}

/* ---- kernels ----------------------------------------------------------------------
 */

static bool is_elementwise(const hlo_node *n)
{
    const ridge_hlo_kind kind = kind_of(n);
    return kind == RIDGE_HLO_KIND_MAP || kind == RIDGE_HLO_KIND_HARD;
}

/** The latest result that a value is computed from, but for those of one kernel. */
typedef struct feeders {
    int skipped; /* kernel; -1: none */
    int latest;  /* node; -1: none */
    int visits;
} feeders;

/* Through names and what is computed inside. */
static void find_feeders(const finder *f, int node, int depth, feeders *out)
{
    enum { DEPTH_MOST = 24, VISITS_MOST = 512 };
    const hlo_node *n = &f->g->nodes[node];
    for (int k = 0; k < n->n_inputs; k++) {
        const int input = n->inputs[k];
        if (f->roles[input] == HLO_ROLE_RESULT) {
            if (f->kernel_of[input] != out->skipped && input > out->latest)
                out->latest = input;
        } else if (f->g->nodes[input].n_inputs == 0) {
            continue;
        } else if (depth == DEPTH_MOST || ++out->visits > VISITS_MOST) {
            out->latest = INT32_MAX; /* too much to be sure */
        } else {
            find_feeders(f, input, depth + 1, out);
        }
    }
}

/* The kernel of the last result that a value depends on, when both are elementwise of
 * one size, and whatever else it reads comes before that kernel's first result: then
 * nothing lies between them. It gets what product the value has. -1: none, or both have
 * one */
static int joined_kernel(const finder *f, int node)
{
    feeders all = {-1, -1, 0}, others = {-1, -1, 0};
    const hlo_node *n = &f->g->nodes[node];
    if (!is_elementwise(n))
        return -1;
    find_feeders(f, node, 0, &all);
    if (all.latest < 0 || all.latest == INT32_MAX)
        return -1;
    const hlo_node *before = &f->g->nodes[all.latest];
    if (!is_elementwise(before) || ridge_hlo_shape_elements(&before->i->shape) !=
                                       ridge_hlo_shape_elements(&n->i->shape))
        return -1;
    others.skipped = f->kernel_of[all.latest];
    const int first = f->first_of[others.skipped];
    find_feeders(f, node, 0, &others);
    if (others.latest >= first || (f->has_product[node] && f->has_product[first]))
        return -1;
    f->has_product[first] |= f->has_product[node];
    return others.skipped;
}

/* Number the kernels; @return how many. by_fusion [n_fusions + 1], zeroed. */
static int number_kernels(finder *f, int *by_fusion)
{
    int n = 0;
    for (int node = 0; node < f->g->n; node++) {
        const hlo_node *x = &f->g->nodes[node];
        f->kernel_of[node] = -1;
        if (f->roles[node] != HLO_ROLE_RESULT)
            continue;
        if (f->g->is_fused) {
            f->kernel_of[node] = 0;
            n = 1;
        } else if (f->how->is_compiled && x->fusion > 0) {
            if (by_fusion[x->fusion] == 0)
                by_fusion[x->fusion] = ++n;
            f->kernel_of[node] = by_fusion[x->fusion] - 1;
        } else {
            const int joined = f->how->is_compiled ? -1 : joined_kernel(f, node);
            f->kernel_of[node] = joined >= 0 ? joined : n++;
            if (joined < 0)
                f->first_of[n - 1] = node;
        }
    }
    return n;
}

/* Kernels stand in the order of the last value that each writes. */
static void gather(const finder *f, int n, hlo_kernel *kernels, int *roots, int *order)
{
    int at = 0;
    for (int k = 0; k < n; k++)
        kernels[k] = (hlo_kernel){.node = -1, .done = -1};
    for (int node = 0; node < f->g->n; node++) {
        if (f->kernel_of[node] >= 0) {
            kernels[f->kernel_of[node]].n_roots++;
            kernels[f->kernel_of[node]].node = node;
        }
    }
    for (int k = 0; k < n; k++) {
        kernels[k].first_root = at;
        at += kernels[k].n_roots;
        kernels[k].n_roots = 0;
    }
    int placed = 0;
    for (int node = 0; node < f->g->n; node++) {
        const int k = f->kernel_of[node];
        if (k < 0)
            continue;
        roots[kernels[k].first_root + kernels[k].n_roots++] = node;
        kernels[k].async = f->g->nodes[node].async;
        if (kernels[k].node == node)
            order[k] = placed++;
    }
}

/* Where each asynchronous kernel is waited for. */
static void find_waits(const finder *f, hlo_kernel *kernels)
{
    for (int node = 0; node < f->g->n; node++) {
        const hlo_node *x = &f->g->nodes[node];
        if (x->i->phase != RIDGE_HLO_DONE || x->n_inputs < 1)
            continue;
        const int value = hlo_graph_value(f->g, x->inputs[0]);
        if (f->kernel_of[value] >= 0)
            kernels[f->kernel_of[value]].done = node;
    }
}

static ridge_status place(ridge_ctx *cx, finder *f, int n, hlo_kernels *out)
{
    ridge_arena *arena = ridge_ctx_arena(cx);
    hlo_kernel *found = ridge_new(ridge_ctx_scratch(cx), hlo_kernel, (size_t)n);
    int *order = ridge_new(ridge_ctx_scratch(cx), int, (size_t)n);
    hlo_kernel *kernels = ridge_new(arena, hlo_kernel, (size_t)n);
    int *roots = ridge_new(arena, int, (size_t)f->g->n);
    if (found == NULL || order == NULL || kernels == NULL || roots == NULL)
        return ridge_fail_nomem(cx);
    gather(f, n, found, roots, order);
    for (int k = 0; k < n; k++)
        kernels[order[k]] = found[k];
    for (int node = 0; node < f->g->n; node++) {
        if (f->kernel_of[node] >= 0)
            f->kernel_of[node] = order[f->kernel_of[node]];
    }
    find_waits(f, kernels);
    *out = (hlo_kernels){f->g, f->roles, f->kernel_of, n, kernels, roots};
    return RIDGE_OK;
}

ridge_status hlo_kernels_find(ridge_ctx *cx, const hlo_graph *graph,
                              const hlo_fusing *how, hlo_kernels *out)
{
    ridge_arena *arena = ridge_ctx_arena(cx);
    finder f = {.g = graph,
                .how = how,
                .roles = ridge_new(arena, hlo_role, (size_t)graph->n),
                .kernel_of = ridge_new(arena, int, (size_t)graph->n),
                .first_of = ridge_new(arena, int, (size_t)graph->n),
                .has_product =
                    ridge_new(ridge_ctx_scratch(cx), bool, (size_t)graph->n)};
    int *by_fusion =
        ridge_new(ridge_ctx_scratch(cx), int, (size_t)graph->n_fusions + 1);
    if (f.roles == NULL || f.kernel_of == NULL || f.first_of == NULL ||
        f.has_product == NULL || by_fusion == NULL)
        return ridge_fail_nomem(cx);
    const bool is_compiled = how->is_compiled || graph->is_fused;
    for (int node = 0; node < graph->n; node++)
        f.roles[node] =
            is_compiled ? compiled_role(&f, node) : estimated_role(&f, node);
    if (!is_compiled)
        part_products(&f);
    return place(cx, &f, number_kernels(&f, by_fusion), out);
}

bool hlo_update_is_in_place(const hlo_graph *graph, int node, const hlo_role *roles,
                            bool is_compiled)
{
    const hlo_node *n = &graph->nodes[node];
    if (n->n_inputs < 1)
        return false;
    const int value = hlo_graph_value(graph, n->inputs[0]);
    const hlo_node *updated = &graph->nodes[value];
    if (roles[value] == HLO_ROLE_INSIDE)
        return false;
    if (is_compiled)
        return true; /* a copy, where one is needed, is an instruction */
    const bool is_argument =
        roles[value] == HLO_ROLE_SOURCE && graph->kind == HLO_GRAPH_ENTRY;
    return !is_argument && updated->n_users == 1 &&
           updated->i->code != RIDGE_HLO_OP_CONSTANT;
}
