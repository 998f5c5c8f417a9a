/* Lookups, products, reductions, sorts. */
#include "hlo_machine_step.h"

#include <string.h>

/* ---- lookups ----------------------------------------------------------------------
 */

/** The dims of a gather or scatter. */
typedef struct windows {
    int n_window, n_collapsed, n_map;
    int64_t window[64], collapsed[64], map[64], vector;
} windows;

static windows read_windows(const ridge_hlo_instruction *i)
{
    const bool is_gather = i->code == RIDGE_HLO_OP_GATHER;
    windows w = {.vector = 0};
    w.n_window =
        machine_ints(i, is_gather ? "offset_dims" : "update_window_dims", w.window);
    w.n_collapsed = machine_ints(
        i, is_gather ? "collapsed_slice_dims" : "inserted_window_dims", w.collapsed);
    w.n_map = machine_ints(
        i, is_gather ? "start_index_map" : "scatter_dims_to_operand_dims", w.map);
    machine_ints(i, "index_vector_dim", &w.vector);
    return w;
}

/* Where a place of the moved array lies in the operand. @return false: outside */
static bool find_place(const windows *w, const machine_value *operand,
                       const machine_value *indices, const int64_t *at,
                       const int64_t *sizes, int n_moved, int64_t *out)
{
    int64_t of[MACHINE_RANK] = {0}, start[MACHINE_RANK] = {0},
            window[MACHINE_RANK] = {0};
    int k = 0, d = 0;
    for (int x = 0; x < n_moved; x++) {
        if (machine_is_in(x, w->window, w->n_window))
            continue;
        k += k == w->vector;
        of[k++] = at[x];
    }
    for (int j = 0; j < w->n_map; j++) {
        if (w->vector < indices->n)
            of[w->vector] = j;
        start[w->map[j]] = (int64_t)indices->data[machine_place_of(indices, of)];
    }
    for (int x = 0; x < n_moved; x++) {
        if (!machine_is_in(x, w->window, w->n_window))
            continue;
        while (machine_is_in(d, w->collapsed, w->n_collapsed))
            d++;
        window[d++] = at[x];
    }
    for (int x = 0; x < operand->n; x++) {
        if (sizes) { /* gathers move the window to the edge */
            const int64_t most = operand->dims[x] - sizes[x];
            start[x] = start[x] < 0 ? 0 : start[x] > most ? most : start[x];
        }
        out[x] = start[x] + window[x];
        if (out[x] < 0 || out[x] >= operand->dims[x])
            return false;
    }
    return true;
}

static void run_gather(machine_step *s, int d)
{
    const windows w = read_windows(s->i);
    machine_value *out = &s->out[d];
    int64_t at[MACHINE_RANK], from[MACHINE_RANK], sizes[64];
    machine_ints(s->i, "slice_sizes", sizes);
    for (int64_t p = 0; p < out->size; p++) {
        machine_index_of(out, p, at);
        if (find_place(&w, &s->in[0][d], &s->in[1][d], at, sizes, out->n, from))
            out->data[p] = s->in[0][d].data[machine_place_of(&s->in[0][d], from)];
    }
}

/* Sums: the tests' scatters add. */
static void run_scatter(machine_step *s, int d)
{
    const windows w = read_windows(s->i);
    machine_value *out = &s->out[d];
    const machine_value *moved = &s->in[2][d];
    int64_t at[MACHINE_RANK], to[MACHINE_RANK];
    memcpy(out->data, s->in[0][d].data, (size_t)out->size * sizeof *out->data);
    for (int64_t p = 0; p < moved->size; p++) {
        machine_index_of(moved, p, at);
        if (find_place(&w, out, &s->in[1][d], at, NULL, moved->n, to))
            out->data[machine_place_of(out, to)] += moved->data[p];
    }
}

/* ---- sums -------------------------------------------------------------------------
 */

/* Two values put together by a computation of scalars. */
void machine_combine(machine_step *s, const double *a, const double *b, int n,
                     double *out)
{
    machine_value args[16], result;
    machine_value *list[16] = {NULL};
    machine k = *s->k;
    k.devices = 1;
    for (int x = 0; x < 2 * n; x++) {
        args[x] = machine_array(k.cx, RIDGE_HLO_F64, 0, NULL);
        args[x].data[0] = x < n ? a[x] : b[x - n];
        list[x] = &args[x];
    }
    machine_evaluate(&k, s->i->called[0], list, &result, s->depth + 1);
    for (int x = 0; x < result.n_parts; x++)
        out[x] = result.parts[x].data[0];
    if (result.n_parts < 0)
        out[0] = result.data[0];
    s->k->fault = k.fault ? k.fault : s->k->fault;
}

static void run_reduce(machine_step *s, int d)
{
    int64_t dims[64], at[MACHINE_RANK], to[MACHINE_RANK];
    const int n = machine_ints(s->i, "dimensions", dims);
    const int arrays = s->i->n_operands / 2;
    const machine_value *in = &s->in[0][d];
    machine_value *outs = arrays > 1 ? s->out[d].parts : &s->out[d];
    for (int a = 0; a < arrays; a++) {
        for (int64_t p = 0; p < outs[a].size; p++)
            outs[a].data[p] = s->in[arrays + a][d].data[0];
    }
    for (int64_t p = 0; p < in->size; p++) {
        double now[8], next[8];
        int k = 0;
        const ridge_mark mark = ridge_arena_mark(ridge_ctx_arena(s->k->cx));
        machine_index_of(in, p, at);
        for (int x = 0; x < in->n; x++) {
            if (!machine_is_in(x, dims, n))
                to[k++] = at[x];
        }
        const int64_t q = machine_place_of(&outs[0], to);
        for (int a = 0; a < arrays; a++) {
            now[a] = outs[a].data[q];
            next[a] = s->in[a][d].data[p];
        }
        machine_combine(s, now, next, arrays, now);
        for (int a = 0; a < arrays; a++)
            outs[a].data[q] = now[a];
        ridge_arena_rewind(ridge_ctx_arena(s->k->cx), mark);
    }
}

static void run_dot(machine_step *s, int d)
{
    int64_t lb[64], rb[64], lc[64], rc[64], at[MACHINE_RANK], l[MACHINE_RANK],
        r[MACHINE_RANK];
    const ridge_hlo_instruction *i = s->i;
    const machine_value *a = &s->in[0][d], *b = &s->in[1][d];
    machine_value *out = &s->out[d];
    const int nb = machine_ints(i, "lhs_batch_dims", lb),
              nc = machine_ints(i, "lhs_contracting_dims", lc);
    int64_t terms = 1;
    machine_ints(i, "rhs_batch_dims", rb);
    machine_ints(i, "rhs_contracting_dims", rc);
    for (int k = 0; k < nc; k++)
        terms *= a->dims[lc[k]];
    for (int64_t p = 0; p < out->size; p++) {
        int x = nb;
        double sum = 0;
        machine_index_of(out, p, at);
        for (int k = 0; k < nb; k++)
            l[lb[k]] = r[rb[k]] = at[k];
        for (int k = 0; k < a->n; k++) {
            if (!machine_is_in(k, lb, nb) && !machine_is_in(k, lc, nc))
                l[k] = at[x++];
        }
        for (int k = 0; k < b->n; k++) {
            if (!machine_is_in(k, rb, nb) && !machine_is_in(k, rc, nc))
                r[k] = at[x++];
        }
        for (int64_t t = 0; t < terms; t++) {
            int64_t rest = t;
            for (int k = nc - 1; k >= 0; k--) {
                l[lc[k]] = r[rc[k]] = rest % a->dims[lc[k]];
                rest /= a->dims[lc[k]];
            }
            sum += a->data[machine_place_of(a, l)] * b->data[machine_place_of(b, r)];
        }
        out->data[p] = sum;
    }
}

/* Rows along a dim put in order by a comparison, insertion by insertion. */
static void run_sort(machine_step *s, int d)
{
    int64_t along = 0, at[MACHINE_RANK];
    const int arrays = s->i->n_operands;
    machine_value *outs = arrays > 1 ? s->out[d].parts : &s->out[d];
    machine_ints(s->i, "dimensions", &along);
    int64_t step_size = 1;
    for (int x = (int)along + 1; x < outs[0].n; x++)
        step_size *= outs[0].dims[x];
    for (int a = 0; a < arrays; a++)
        memcpy(outs[a].data, s->in[a][d].data,
               (size_t)outs[a].size * sizeof *outs[a].data);
    for (int64_t p = 0; p < outs[0].size; p++) {
        machine_index_of(&outs[0], p, at);
        for (int64_t q = p; at[along] > 0; q -= step_size, at[along]--) {
            double pair[16], is_less;
            for (int a = 0; a < arrays; a++) {
                pair[2 * a] = outs[a].data[q];
                pair[2 * a + 1] = outs[a].data[q - step_size];
            }
            machine_combine(s, pair, pair + arrays, arrays, &is_less);
            if (is_less == 0)
                break;
            for (int a = 0; a < arrays; a++) {
                outs[a].data[q] = pair[2 * a + 1];
                outs[a].data[q - step_size] = pair[2 * a];
            }
        }
    }
}

bool machine_run_lookup(machine_step *s, int d)
{
    if (s->i->code == RIDGE_HLO_OP_GATHER)
        run_gather(s, d);
    else if (s->i->code == RIDGE_HLO_OP_SCATTER)
        run_scatter(s, d);
    else
        return false;
    return true;
}

bool machine_run_sum(machine_step *s, int d)
{
    if (s->i->code == RIDGE_HLO_OP_DOT)
        run_dot(s, d);
    else if (s->i->code == RIDGE_HLO_OP_REDUCE)
        run_reduce(s, d);
    else if (s->i->code == RIDGE_HLO_OP_SORT)
        run_sort(s, d);
    else
        return false;
    return true;
}
