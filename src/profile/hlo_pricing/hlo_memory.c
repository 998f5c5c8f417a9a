/*
 * Memory by liveness, in the order of the text: a value is live from the kernel that
 * writes it to the last one that reads it. Values of a loop's state are the caller's
 * and stay while it runs; what its body needs comes on top. An update in place, and an
 * elementwise kernel one of whose operands ends there, take no memory of their own.
 * Leaves out what an allocator loses, and libraries' workspaces that no shape tells.
 */
#include "hlo_pricing.h"
#include "text_cursor.h"

#include <math.h>
#include <stdlib.h>

/** Liveness of one graph in one memory space. */
typedef struct liveness {
    const hlo_pricing *p;
    const hlo_graph *g;
    const hlo_kernels *k;
    int space;
    int *last;     /* [n] position of the last use; n: after the end */
    double *takes; /* [n] bytes that its result takes of its own */
    double live, peak;
    int peak_at; /* node; -1: nothing is */
} liveness;

static bool is_in_space(int space, int wanted)
{
    const bool is_hbm = space == RIDGE_HLO_SPACE_HBM;
    const bool is_host = space == RIDGE_HLO_SPACE_HOST;
    if (wanted == RIDGE_HLO_SPACE_FAST)
        return !is_hbm && !is_host;
    return wanted == RIDGE_HLO_SPACE_HOST ? is_host : is_hbm;
}

static double bytes_in(const ridge_hlo_shape *s, int space)
{
    double bytes = 0;
    if (!ridge_hlo_shape_is_tuple(s))
        return is_in_space(ridge_hlo_shape_space(s), space)
                   ? ridge_hlo_shape_padded_bytes(s)
                   : 0;
    for (int k = 0; k < s->n; k++)
        bytes += bytes_in(&s->parts[k], space);
    return bytes;
}

/* ---- how long values live ---------------------------------------------------------
 */

/* From the back: names and what is computed inside hand on when they are used. A loop
 * keeps what goes into it until its own results are no longer used. */
static void find_last_uses(liveness *y)
{
    for (int n = y->g->n - 1; n >= 0; n--) {
        const hlo_node *node = &y->g->nodes[n];
        int last = node->is_output ? y->g->n : -1;
        for (int u = 0; u < node->n_users; u++) {
            const int user = y->g->users[node->first_user + u];
            const int kernel = y->k->kernel_of[user];
            const bool is_own = y->k->roles[user] == HLO_ROLE_RESULT;
            const bool keeps = y->g->nodes[user].i->code == RIDGE_HLO_OP_WHILE;
            int at = is_own ? y->k->kernels[kernel].node : y->last[user];
            if (keeps && y->last[user] > at)
                at = y->last[user];
            last = at > last ? at : last;
        }
        y->last[n] = last;
    }
}

static bool is_map(const hlo_node *n)
{
    const ridge_hlo_kind kind = ridge_hlo_opcode_kind(n->i->code);
    return kind == RIDGE_HLO_KIND_MAP || kind == RIDGE_HLO_KIND_HARD;
}

/* A value that ends at @p node, of as many bytes, among what it reads. */
static bool has_dying_operand(const liveness *y, int node, double bytes, int depth)
{
    enum { DEPTH_MOST = 8 };
    const hlo_node *n = &y->g->nodes[node];
    for (int k = 0; k < n->n_inputs; k++) {
        const int input = n->inputs[k];
        if (y->k->roles[input] == HLO_ROLE_RESULT) {
            if (y->last[input] == node && y->takes[input] >= bytes)
                return true;
        } else if (y->k->roles[input] != HLO_ROLE_SOURCE && depth < DEPTH_MOST &&
                   has_dying_operand(y, input, bytes, depth + 1)) {
            return true;
        }
    }
    return false;
}

static double own_bytes(const liveness *y, int node)
{
    const hlo_node *n = &y->g->nodes[node];
    const ridge_hlo_opcode code = n->i->code;
    const double bytes = bytes_in(hlo_node_written(n), y->space);
    const bool is_update =
        code == RIDGE_HLO_OP_DYNAMIC_UPDATE_SLICE || code == RIDGE_HLO_OP_SCATTER;
    if (code == RIDGE_HLO_OP_WHILE) /* its state is what went into it */
        return 0;
    if (is_update && hlo_update_is_in_place(y->g, node, y->k->roles, y->p->is_compiled))
        return 0;
    return bytes;
}

static double child_peak(const hlo_node *n, const double *graph_peaks)
{
    double peak = 0;
    for (int k = 0; k < n->n_graphs; k++)
        peak = fmax(peak, graph_peaks[n->first_graph + k]);
    return peak;
}

/* Values in the order of their last use, so that each is freed once. */
typedef struct ending {
    int at, node;
} ending;

static int earlier(const void *a, const void *b)
{
    const ending *x = a, *y = b;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

static void sweep(liveness *y, const double *graph_peaks, const ending *ends,
                  int n_ends)
{
    int freed = 0;
    y->peak_at = -1;
    for (int n = 0; n < y->g->n; n++) {
        if (y->k->roles[n] == HLO_ROLE_RESULT) {
            double own = own_bytes(y, n);
            y->takes[n] = own;
            /* the operand's memory becomes the result's: nothing is added, and the
             * operand is not freed */
            const bool is_shared =
                own > 0 && is_map(&y->g->nodes[n]) && has_dying_operand(y, n, own, 0);
            y->live += own;
            const double here = y->live - (is_shared ? own : 0) +
                                child_peak(&y->g->nodes[n], graph_peaks);
            if (here > y->peak) {
                y->peak = here;
                y->peak_at = n;
            }
        }
        for (; freed < n_ends && ends[freed].at <= n; freed++)
            y->live -= y->takes[ends[freed].node];
    }
}

static ridge_status find_liveness(liveness *y, const double *graph_peaks)
{
    ridge_arena *scratch = ridge_ctx_scratch(y->p->cx);
    const size_t n = (size_t)y->g->n;
    int n_ends = 0;
    y->last = ridge_new(scratch, int, n);
    y->takes = ridge_new(scratch, double, n);
    ending *ends = ridge_new(scratch, ending, n);
    if (!y->last || !y->takes || !ends)
        return ridge_fail_nomem(y->p->cx);
    find_last_uses(y);
    for (int node = 0; node < y->g->n; node++) {
        if (y->k->roles[node] == HLO_ROLE_RESULT && y->last[node] < y->g->n) {
            const int at = y->last[node] > node ? y->last[node] : node;
            ends[n_ends++] = (ending){at, node};
        }
    }
    qsort(ends, (size_t)n_ends, sizeof *ends, earlier);
    sweep(y, graph_peaks, ends, n_ends);
    return RIDGE_OK;
}

/* ---- arguments and results --------------------------------------------------------
 */

/* Outputs that are written over arguments: "{ {0}: (3, {}, may-alias), ... }". */
static double alias_bytes(const ridge_hlo_module *m, const hlo_graph *entry)
{
    double bytes = 0;
    for (int a = 0; a < m->n_attributes; a++) {
        if (!ridge_str_is(m->attributes[a].key, "input_output_alias"))
            continue;
        text_cursor c = text_cursor_of(NULL, m->attributes[a].text, "");
        text_cursor_take(&c, "{");
        while (text_cursor_take(&c, "{")) {
            int64_t output = 0;
            text_cursor_number(&c, &output);
            ridge_str ignored;
            while (c.p < c.end && *c.p != '(')
                c.p++;
            if (c.p >= c.end || !text_cursor_enclosed(&c, &ignored))
                break;
            text_cursor_take(&c, ",");
            if (output >= 0 && output < entry->n_outputs)
                bytes += bytes_in(&entry->nodes[entry->outputs[output]].i->shape,
                                  RIDGE_HLO_SPACE_HBM);
        }
    }
    return bytes;
}

/** A buffer before it has words. */
typedef struct live_buffer {
    int node;
    double bytes;
    const char *role;
} live_buffer;

static int larger(const void *a, const void *b)
{
    const live_buffer *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

/* What is live at the entry's peak, the largest first. */
static ridge_status list_buffers(const liveness *y, ridge_hlo_memory *out)
{
    ridge_ctx *cx = y->p->cx;
    int n = 0;
    live_buffer *all = ridge_new(ridge_ctx_scratch(cx), live_buffer, (size_t)y->g->n);
    if (all == NULL)
        return ridge_fail_nomem(cx);
    for (int node = 0; node < y->g->n; node++) {
        const ridge_hlo_instruction *i = y->g->nodes[node].i;
        const bool is_argument = i->code == RIDGE_HLO_OP_PARAMETER;
        const bool is_live = y->k->roles[node] == HLO_ROLE_RESULT &&
                             node <= y->peak_at && y->last[node] >= y->peak_at &&
                             y->takes[node] > 0;
        if (is_argument || is_live)
            all[n++] = (live_buffer){
                node, is_argument ? bytes_in(&i->shape, y->space) : y->takes[node],
                is_argument                   ? "argument"
                : y->g->nodes[node].is_output ? "output"
                                              : "temporary"};
    }
    qsort(all, (size_t)n, sizeof *all, larger);
    for (int k = 0; k < n && k < RIDGE_HLO_BUFFER_MAX; k++) {
        const ridge_hlo_instruction *i = y->g->nodes[all[k].node].i;
        ridge_buf b;
        ridge_buf_init(&b, ridge_ctx_arena(cx));
        ridge_hlo_shape_write(&i->shape, &b);
        const char *name = ridge_str_dup(ridge_ctx_arena(cx), i->name);
        out->buffers[out->n_buffers++] = (ridge_hlo_buffer){
            name ? name : "", ridge_buf_text(&b), all[k].role, all[k].bytes};
    }
    return RIDGE_OK;
}

static double outputs_bytes(const liveness *y)
{
    double bytes = 0;
    for (int o = 0; o < y->g->n_outputs; o++)
        bytes += bytes_in(&y->g->nodes[y->g->outputs[o]].i->shape, y->space);
    return bytes;
}

static ridge_status fill_entry(const liveness *y, ridge_hlo_memory *out)
{
    for (int n = 0; n < y->g->n; n++) {
        if (y->g->nodes[n].i->code == RIDGE_HLO_OP_PARAMETER)
            out->argument_bytes += bytes_in(&y->g->nodes[n].i->shape, y->space);
    }
    out->output_bytes = outputs_bytes(y);
    out->alias_bytes = fmin(out->output_bytes, alias_bytes(y->p->module, y->g));
    /* results that leave are among what is live at the peak */
    out->temporary_bytes = fmax(0, y->peak - out->alias_bytes);
    out->peak_bytes = out->argument_bytes + out->temporary_bytes;
    if (y->peak_at >= 0) {
        const char *name =
            ridge_str_dup(ridge_ctx_arena(y->p->cx), y->g->nodes[y->peak_at].i->name);
        out->peak_at = name ? name : "";
    }
    return list_buffers(y, out);
}

static ridge_status find_space(hlo_pricing *p, int space, double *graph_peaks,
                               ridge_hlo_memory *out)
{
    for (int g = p->graphs.n - 1; g >= 0; g--) {
        liveness y = {
            .p = p, .g = &p->graphs.graphs[g], .k = &p->kernels[g], .space = space};
        const ridge_mark mark = ridge_arena_mark(ridge_ctx_scratch(p->cx));
        ridge_status st = find_liveness(&y, graph_peaks);
        if (st == RIDGE_OK && g == 0 && space == RIDGE_HLO_SPACE_HBM)
            st = fill_entry(&y, out);
        graph_peaks[g] = y.peak;
        ridge_arena_rewind(ridge_ctx_scratch(p->cx), mark);
        RIDGE_TRY(st);
    }
    return RIDGE_OK;
}

ridge_status hlo_memory_find(hlo_pricing *p, ridge_hlo_memory *out)
{
    double *peaks = ridge_new(ridge_ctx_arena(p->cx), double, (size_t)p->graphs.n + 1);
    *out = (ridge_hlo_memory){.peak_at = ""};
    if (peaks == NULL)
        return ridge_fail_nomem(p->cx);
    if (p->graphs.n == 0 || p->module->entry < 0)
        return RIDGE_OK;
    RIDGE_TRY(find_space(p, RIDGE_HLO_SPACE_FAST, peaks, out));
    out->fast_bytes = peaks[0];
    RIDGE_TRY(find_space(p, RIDGE_HLO_SPACE_HOST, peaks, out));
    out->host_bytes = peaks[0];
    return find_space(p, RIDGE_HLO_SPACE_HBM, peaks, out);
}
