#include "hlo_machine_step.h"

#include <stdlib.h>
#include <string.h>

enum { DEPTH = 32 };

/* ---- arrays and attributes --------------------------------------------------------
 */

machine_value machine_array(ridge_ctx *cx, ridge_hlo_type type, int n,
                            const int64_t *dims)
{
    machine_value v = {.n_parts = -1, .type = type, .n = n, .size = 1};
    for (int d = 0; d < n; d++) {
        v.dims[d] = dims[d];
        v.size *= dims[d];
    }
    v.data = ridge_new(ridge_ctx_arena(cx), double, (size_t)v.size + 1);
    return v;
}

machine_value machine_make(const machine_step *s, const ridge_hlo_shape *shape)
{
    return machine_array(s->k->cx, shape->type, shape->n, shape->dims);
}

int machine_ints(const ridge_hlo_instruction *i, const char *key, int64_t *out)
{
    const ridge_str text = ridge_hlo_attribute_of(i, key);
    int n = 0;
    for (size_t at = 0; at < text.n; at++) {
        int64_t x = 0;
        const bool is_minus = text.p[at] == '-';
        at += is_minus;
        if (text.p[at] < '0' || text.p[at] > '9')
            continue;
        for (; at < text.n && text.p[at] >= '0' && text.p[at] <= '9'; at++)
            x = 10 * x + (text.p[at] - '0');
        if (n < 64)
            out[n++] = is_minus ? -x : x;
    }
    return n;
}

bool machine_is_in(int64_t x, const int64_t *list, int n)
{
    for (int k = 0; k < n; k++) {
        if (list[k] == x)
            return true;
    }
    return false;
}

void machine_index_of(const machine_value *v, int64_t place, int64_t *out)
{
    for (int d = v->n - 1; d >= 0; d--) {
        out[d] = place % v->dims[d];
        place /= v->dims[d];
    }
}

int64_t machine_place_of(const machine_value *v, const int64_t *index)
{
    int64_t at = 0;
    for (int d = 0; d < v->n; d++)
        at = at * v->dims[d] + index[d];
    return at;
}

/* ---- collectives ------------------------------------------------------------------
 */

/** The group that a device is of, and its place in it. */
typedef struct group {
    const int64_t *devices;
    int n, place;
} group;

static group group_of(machine_step *s, const ridge_hlo_groups *all, int device)
{
    for (int64_t g = 0; g < all->n_groups; g++) {
        for (int64_t k = 0; k < all->size; k++) {
            if (all->devices[g * all->size + k] == device)
                return (group){all->devices + g * all->size, (int)all->size, (int)k};
        }
    }
    s->k->fault = "a device in no group";
    return (group){NULL, 0, 0};
}

static void run_collective(machine_step *s, int d, const ridge_hlo_groups *all)
{
    const group g = group_of(s, all, d);
    machine_value *out = &s->out[d];
    int64_t at[MACHINE_RANK], dim = 0;
    machine_ints(s->i, "dimensions", &dim);
    for (int64_t p = 0; p < out->size; p++) {
        machine_index_of(out, p, at);
        const machine_value *own = &s->in[0][d];
        if (s->i->code == RIDGE_HLO_OP_ALL_GATHER) {
            const int64_t from = at[dim] / own->dims[dim];
            at[dim] %= own->dims[dim];
            const machine_value *in = &s->in[0][g.devices[from]];
            out->data[p] = in->data[machine_place_of(in, at)];
            continue;
        }
        if (s->i->code == RIDGE_HLO_OP_ALL_TO_ALL) { /* one piece from each */
            const int64_t piece = own->dims[dim] / g.n, from = at[dim] / piece;
            at[dim] = at[dim] % piece + g.place * piece;
            const machine_value *in = &s->in[0][g.devices[from]];
            out->data[p] = in->data[machine_place_of(in, at)];
            continue;
        }
        if (s->i->code == RIDGE_HLO_OP_REDUCE_SCATTER)
            at[dim] += g.place * out->dims[dim];
        double sum = 0;
        for (int k = 0; k < g.n; k++) {
            const machine_value *in = &s->in[0][g.devices[k]];
            const double x = in->data[machine_place_of(in, at)];
            const ridge_mark mark = ridge_arena_mark(ridge_ctx_arena(s->k->cx));
            if (k == 0)
                sum = x;
            else
                machine_combine(s, &sum, &x, 1, &sum);
            ridge_arena_rewind(ridge_ctx_arena(s->k->cx), mark);
        }
        out->data[p] = sum;
    }
}

static void run_collectives(machine_step *s)
{
    ridge_hlo_groups all;
    if (ridge_hlo_groups_parse(s->k->cx, ridge_hlo_attribute_of(s->i, "replica_groups"),
                               &all) != RIDGE_OK) {
        s->k->fault = "groups";
        return;
    }
    for (int d = 0; d < s->k->devices; d++) {
        s->out[d] = machine_make(s, &s->i->shape);
        run_collective(s, d, &all);
    }
}

/* ---- control ----------------------------------------------------------------------
 */

static void run_while(machine_step *s)
{
    machine *k = s->k;
    machine_value go[HLO_MACHINE_DEVICES_MAX], *state = s->in[0];
    for (int round = 0; round < 1000 && !k->fault; round++) {
        machine_evaluate(k, s->i->called[0], &state, go, s->depth + 1);
        if (k->fault || go[0].data[0] == 0)
            break;
        machine_value *next =
            ridge_new(ridge_ctx_arena(k->cx), machine_value, (size_t)k->devices);
        machine_evaluate(k, s->i->called[1], &state, next, s->depth + 1);
        state = next;
    }
    for (int d = 0; d < k->devices; d++)
        s->out[d] = state[d];
}

static void run_conditional(machine_step *s)
{
    const double x = s->in[0][0].data[0];
    const bool is_pred = s->in[0][0].type == RIDGE_HLO_PRED;
    const int which = is_pred ? (x != 0 ? 0 : 1) : (int)x;
    machine_value *given = s->in[1 + which];
    machine_evaluate(s->k, s->i->called[which], &given, s->out, s->depth + 1);
}

static void run_tuple(machine_step *s, int d)
{
    s->out[d] = (machine_value){.n_parts = s->i->n_operands};
    s->out[d].parts = ridge_new(ridge_ctx_arena(s->k->cx), machine_value,
                                (size_t)s->i->n_operands + 1);
    for (int k = 0; k < s->i->n_operands; k++)
        s->out[d].parts[k] = s->in[k][d];
}

static void run_parts(machine_step *s, int d)
{
    const ridge_hlo_shape *shape = &s->i->shape;
    s->out[d] = (machine_value){.n_parts = shape->n};
    s->out[d].parts =
        ridge_new(ridge_ctx_arena(s->k->cx), machine_value, (size_t)shape->n + 1);
    for (int k = 0; k < shape->n; k++)
        s->out[d].parts[k] = machine_make(s, &shape->parts[k]);
}

/* ---- all --------------------------------------------------------------------------
 */

static bool run_names(machine_step *s, int d)
{
    int64_t index = 0;
    switch ((int)s->i->code) {
    case RIDGE_HLO_OP_TUPLE:
        run_tuple(s, d);
        return true;
    case RIDGE_HLO_OP_GET_TUPLE_ELEMENT:
        machine_ints(s->i, "index", &index);
        s->out[d] = s->in[0][d].parts[index];
        return true;
    case RIDGE_HLO_OP_COPY:
    case RIDGE_HLO_OP_CUSTOM_CALL: /* words to the partitioner */
    case RIDGE_HLO_OP_OPTIMIZATION_BARRIER:
        s->out[d] = s->in[0][d];
        return true;
    default:
        return false;
    }
}

static void run_array(machine_step *s, int d)
{
    if (s->i->code == RIDGE_HLO_OP_PARTITION_ID)
        s->out[d].data[0] = d;
    else if (!machine_run_part(s, d) && !machine_run_lookup(s, d) &&
             !machine_run_sum(s, d) && !machine_run_map(s, d))
        s->k->fault = ridge_hlo_opcode_text(s->i->code);
}

static void run_step(machine_step *s)
{
    const ridge_hlo_opcode code = s->i->code;
    if (ridge_hlo_opcode_kind(code) == RIDGE_HLO_KIND_NETWORK) {
        run_collectives(s);
    } else if (code == RIDGE_HLO_OP_WHILE) {
        run_while(s);
    } else if (code == RIDGE_HLO_OP_CONDITIONAL) {
        run_conditional(s);
    } else if (code == RIDGE_HLO_OP_CALL) {
        machine_value *args[64];
        for (int k = 0; k < s->i->n_operands; k++)
            args[k] = s->in[k];
        machine_evaluate(s->k, s->i->called[0], args, s->out, s->depth + 1);
    } else {
        for (int d = 0; d < s->k->devices && !s->k->fault; d++) {
            if (run_names(s, d))
                continue;
            if (s->i->shape.type == RIDGE_HLO_TUPLE)
                run_parts(s, d);
            else
                s->out[d] = machine_make(s, &s->i->shape);
            run_array(s, d);
        }
    }
}

void machine_evaluate(machine *k, int computation, machine_value *const *args,
                      machine_value *out, int depth)
{
    const ridge_hlo_computation *c = &k->m->computations[computation];
    machine_value **values =
        ridge_new(ridge_ctx_arena(k->cx), machine_value *, (size_t)c->n + 1);
    if (depth > DEPTH)
        k->fault = "depth";
    for (int n = 0; n < c->n && !k->fault; n++) {
        machine_step s = {.k = k, .i = &c->instructions[n], .depth = depth};
        int64_t number = 0;
        values[n] =
            ridge_new(ridge_ctx_arena(k->cx), machine_value, (size_t)k->devices);
        for (int j = 0; j < s.i->n_operands && j < 64; j++)
            s.in[j] = values[s.i->operands[j]];
        s.out = values[n];
        if (s.i->code != RIDGE_HLO_OP_PARAMETER)
            run_step(&s);
        else if (ridge_parse_i64(s.i->literal, &number))
            memcpy(values[n], args[number], (size_t)k->devices * sizeof *values[n]);
    }
    for (int d = 0; d < k->devices && !k->fault; d++)
        out[d] = values[c->root][d];
}

const char *machine_run(ridge_ctx *cx, const ridge_hlo_module *module, int devices,
                        machine_value *const *arguments, machine_value *results)
{
    machine k = {cx, module, devices, NULL};
    machine_evaluate(&k, module->entry, arguments, results, 0);
    return k.fault;
}
