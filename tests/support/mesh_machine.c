/* The machine: values of tensors by repetition and rank, the order in which operations
 * run, collectives. */
#include "mesh_machine.h"

#include "near.h"

#include <math.h>
#include <string.h>

struct mesh_machine {
    ridge_arena *arena;
    const ridge_program *program;
    const ridge_partition *partition; /* NULL: whole */
    ridge_mesh mesh;
    int64_t ranks;
    mesh_part ***values; /* [n_tensors][repeats * ranks] */
    int block;
    int64_t repetition;
};

static void rank_coords(const ridge_mesh *mesh, int64_t rank, int64_t *coords)
{
    for (int a = mesh->n - 1; a >= 0; a--) {
        coords[a] = rank % mesh->axes[a].size;
        rank /= mesh->axes[a].size;
    }
}

static int64_t coords_rank(const ridge_mesh *mesh, const int64_t *coords)
{
    int64_t rank = 0;
    for (int a = 0; a < mesh->n; a++)
        rank = rank * mesh->axes[a].size + coords[a];
    return rank;
}

static ridge_sharding sharding_of(const mesh_machine *m, int tensor)
{
    return m->partition
               ? m->partition->shardings[tensor]
               : (ridge_sharding){.n_dims = m->program->tensors[tensor].n_dims};
}

mesh_machine *mesh_machine_new(ridge_arena *arena, const ridge_program *program,
                               const ridge_partition *partition)
{
    mesh_machine *m = ridge_new(arena, mesh_machine, 1);
    assert_non_null(m);
    m->arena = arena;
    m->partition = partition;
    m->program = partition ? partition->program : program;
    if (partition)
        m->mesh = partition->mesh;
    m->ranks = ridge_mesh_size(&m->mesh);
    m->values = ridge_new(arena, mesh_part **, (size_t)m->program->n_tensors);
    assert_non_null(m->values);
    for (int t = 0; t < m->program->n_tensors; t++) {
        const int64_t n = mesh_machine_repeats(m, t) * m->ranks;
        m->values[t] = ridge_new(arena, mesh_part *, (size_t)n);
        assert_non_null(m->values[t]);
    }
    return m;
}

const ridge_program *mesh_machine_program(const mesh_machine *m)
{
    return m->program;
}

int64_t mesh_machine_repeats(const mesh_machine *m, int tensor)
{
    return m->program->blocks[m->program->tensors[tensor].block].repeat;
}

int mesh_machine_origin(const mesh_machine *m, int tensor)
{
    return m->partition ? m->partition->copy_of[tensor] : tensor;
}

/* A rank's part of a tensor; zero until something is written. */
static mesh_part **slot(mesh_machine *m, int tensor, int64_t repetition, int64_t rank)
{
    mesh_part **at = &m->values[tensor][repetition * m->ranks + rank];
    if (!*at) {
        int64_t coords[RIDGE_MESH_AXIS_MAX];
        const ridge_sharding s = sharding_of(m, tensor);
        rank_coords(&m->mesh, rank, coords);
        *at = mesh_part_new(m->arena, m->program, &m->mesh, tensor, &s, coords);
    }
    return at;
}

/* ---- whole arrays in and out ---------------------------------------------------- */

static void walk_whole(const mesh_machine *m, int tensor, mesh_walk *w)
{
    const ridge_tensor *t = &m->program->tensors[tensor];
    for (int i = 0; i < t->n_dims; i++) {
        const int64_t size = m->program->dims[t->dims[i]].size;
        mesh_walk_add(w, t->dims[i], (mesh_span){0, size, size});
    }
}

void mesh_machine_set(mesh_machine *m, int tensor, int64_t repetition,
                      const double *values)
{
    for (int64_t rank = 0; rank < m->ranks; rank++) {
        mesh_part *a = *slot(m, tensor, repetition, rank);
        int64_t g[RIDGE_PROGRAM_DIM_MAX];
        int64_t i = 0;
        mesh_walk w = {.n = 0};
        walk_whole(m, tensor, &w);
        for (bool more = mesh_walk_first(&w, g); more; more = mesh_walk_next(&w, g)) {
            const int64_t place = mesh_place(a, g);
            if (place >= 0)
                a->data[place] = values[i];
            i++;
        }
    }
}

/* The sum of the parts over the partial axes, as the replica of that rank sees it. */
static bool sum_partial(mesh_machine *m, int tensor, int64_t repetition, int64_t rank,
                        const int64_t *g, double *out)
{
    int64_t coords[RIDGE_MESH_AXIS_MAX], other[RIDGE_MESH_AXIS_MAX];
    const unsigned partial = sharding_of(m, tensor).partial;
    bool is_held = false;
    *out = 0.0;
    rank_coords(&m->mesh, rank, coords);
    for (int64_t r = 0; r < m->ranks; r++) {
        bool is_term = true;
        rank_coords(&m->mesh, r, other);
        for (int a = 0; a < m->mesh.n; a++)
            is_term = is_term && (((partial >> a) & 1u) || other[a] == coords[a]);
        const mesh_part *part = is_term ? *slot(m, tensor, repetition, r) : NULL;
        const int64_t place = part ? mesh_place(part, g) : -1;
        if (place < 0)
            continue;
        is_held = true;
        *out += part->data[place];
    }
    return is_held;
}

void mesh_machine_get(mesh_machine *m, int tensor, int64_t repetition, double *values)
{
    int64_t g[RIDGE_PROGRAM_DIM_MAX];
    int64_t i = 0;
    mesh_walk w = {.n = 0};
    walk_whole(m, tensor, &w);
    for (bool more = mesh_walk_first(&w, g); more; more = mesh_walk_next(&w, g), i++) {
        bool is_held = false;
        for (int64_t rank = 0; rank < m->ranks; rank++) {
            double v = 0.0;
            if (!sum_partial(m, tensor, repetition, rank, g, &v))
                continue;
            if (is_held && fabs(v - values[i]) > 1e-9 * (1.0 + fabs(v)))
                fail_msg("replicas of %s differ: %.12g, %.12g",
                         m->program->tensors[tensor].name, v, values[i]);
            values[i] = v;
            is_held = true;
        }
        if (!is_held)
            fail_msg("no rank holds a part of %s", m->program->tensors[tensor].name);
    }
}

/* ---- collectives ---------------------------------------------------------------- */

/* The ranks that differ from this one in the operation's axes alone. */
static bool is_in_group(const mesh_machine *m, const ridge_operation *op, int64_t rank,
                        int64_t other)
{
    int64_t a[RIDGE_MESH_AXIS_MAX] = {0};
    int64_t b[RIDGE_MESH_AXIS_MAX] = {0};
    rank_coords(&m->mesh, rank, a);
    rank_coords(&m->mesh, other, b);
    for (int i = 0; i < op->n_axes; i++)
        b[op->axes[i]] = a[op->axes[i]];
    return coords_rank(&m->mesh, b) == rank;
}

/* Sum over the group, or the one value that somebody in the group holds. */
static double collect(const mesh_machine *m, const ridge_operation *op,
                      mesh_part *const *parts, int64_t rank, const int64_t *g)
{
    const bool is_sum = op->collective == RIDGE_STEP_ALL_REDUCE ||
                        op->collective == RIDGE_STEP_REDUCE_SCATTER;
    double sum = 0.0;
    int held = 0;
    for (int64_t r = 0; r < m->ranks; r++) {
        if (!is_in_group(m, op, rank, r))
            continue;
        const int64_t place = mesh_place(parts[r], g);
        if (place < 0 && is_sum)
            fail_msg("a rank has nothing to add to %s", parts[r]->tensor->name);
        if (place < 0 || (!is_sum && held > 0))
            continue;
        sum += parts[r]->data[place];
        held++;
    }
    if (held == 0)
        fail_msg("nobody in the group of %s holds what is wanted", op->name);
    return sum;
}

void mesh_machine_softmax(const mesh_machine *m, mesh_part *out)
{
    out->stage = 1;
    out->top = ridge_new(m->arena, double, (size_t)out->n);
    out->sum = ridge_new(m->arena, double, (size_t)out->n);
    assert_true(out->top && out->sum);
}

/* The first all-reduce of a softmax finds the largest logit, the second adds up. */
static void reduce_softmax(const mesh_machine *m, const ridge_operation *op,
                           mesh_part *const *parts, int64_t rank, mesh_part *out)
{
    const mesh_part *own = parts[rank];
    mesh_machine_softmax(m, out);
    out->stage = own->stage == 1 ? 2 : 0;
    for (int64_t i = 0; i < out->n; i++) {
        double top = -HUGE_VAL, sum = 0.0, label = 0.0;
        for (int64_t r = 0; r < m->ranks; r++) {
            if (!is_in_group(m, op, rank, r))
                continue;
            top = fmax(top, parts[r]->top[i]);
            sum += parts[r]->sum[i];
            label += parts[r]->data[i];
        }
        out->top[i] = top;
        out->sum[i] = own->sum[i] > 0.0 ? own->sum[i] * exp(own->top[i] - top) : 0.0;
        out->data[i] = own->data[i];
        if (own->stage == 2)
            out->data[i] = sum > 0.0 ? top + log(sum) - label : 0.0;
    }
}

static void run_collective(const mesh_machine *m, const ridge_operation *op,
                           mesh_part *const *parts, int64_t rank, mesh_part *out)
{
    int64_t g[RIDGE_PROGRAM_DIM_MAX];
    mesh_walk w = {.n = 0};
    if (parts[rank]->stage > 0) {
        reduce_softmax(m, op, parts, rank, out);
        return;
    }
    mesh_walk_array(&w, out, 0);
    for (bool more = mesh_walk_first(&w, g); more; more = mesh_walk_next(&w, g))
        *mesh_at(out, g) = collect(m, op, parts, rank, g);
}

/* ---- which repetition ----------------------------------------------------------- */

/* The repetition of block @p of that the one under way goes along with. */
static int64_t along(const mesh_machine *m, int of)
{
    const ridge_block *now = &m->program->blocks[m->block];
    const ridge_block *there = &m->program->blocks[of];
    const int model = now->forward_of >= 0 ? now->forward_of : m->block;
    if (of == m->block)
        return m->repetition;
    if (of != model && there->forward_of != model)
        return there->repeat - 1;
    const int64_t r = now->is_backward && now->forward_of >= 0
                          ? now->repeat - 1 - m->repetition
                          : m->repetition;
    return there->is_backward && of != model ? there->repeat - 1 - r : r;
}

/* Where an operand is read: what a block carries comes from the repetition before. */
static void locate(const mesh_machine *m, int *tensor, int64_t *repetition)
{
    const ridge_block *now = &m->program->blocks[m->block];
    const int model = now->forward_of;
    if (*tensor == now->carry_in && m->repetition > 0) {
        *tensor = now->carry_out;
        *repetition = m->repetition - 1;
        return;
    }
    if (model >= 0 && *tensor == m->program->blocks[model].carry_in &&
        along(m, model) > 0) {
        *tensor = m->program->blocks[model].carry_out;
        *repetition = along(m, model) - 1;
        return;
    }
    *repetition = along(m, m->program->tensors[*tensor].block);
}

/* ---- running -------------------------------------------------------------------- */

static void open_call(mesh_machine *m, const ridge_operation *op, int64_t rank,
                      mesh_call *call)
{
    *call = (mesh_call){.machine = m, .op = op, .rank = rank};
    for (int i = 0; i < op->n_inputs; i++) {
        int t = op->inputs[i];
        int64_t r = 0;
        locate(m, &t, &r);
        call->in[i] = *slot(m, t, r, rank);
    }
    for (int i = 0; i < op->n_outputs; i++) {
        const int t = op->outputs[i];
        int64_t coords[RIDGE_MESH_AXIS_MAX];
        const ridge_sharding s = sharding_of(m, t);
        rank_coords(&m->mesh, rank, coords);
        call->out[i] = mesh_part_new(m->arena, m->program, &m->mesh, t, &s, coords);
        const mesh_part *old =
            *slot(m, t, along(m, m->program->tensors[t].block), rank);
        if (m->program->tensors[t].role == RIDGE_ROLE_CACHE)
            memcpy(call->out[i]->data, old->data, (size_t)old->n * sizeof *old->data);
    }
}

static void close_call(mesh_machine *m, const mesh_call *call)
{
    for (int i = 0; i < call->op->n_outputs; i++) {
        const int t = call->op->outputs[i];
        mesh_part **at = slot(m, t, along(m, m->program->tensors[t].block), call->rank);
        for (int64_t j = 0; call->op->is_added && j < call->out[i]->n; j++)
            call->out[i]->data[j] += (*at)->data[j];
        *at = call->out[i];
    }
}

static void run_op(mesh_machine *m, const ridge_operation *op)
{
    mesh_call *calls = ridge_new(m->arena, mesh_call, (size_t)m->ranks);
    mesh_part **parts = ridge_new(m->arena, mesh_part *, (size_t)m->ranks);
    assert_true(calls && parts);
    for (int64_t rank = 0; rank < m->ranks; rank++) {
        open_call(m, op, rank, &calls[rank]);
        parts[rank] = calls[rank].in[0];
    }
    for (int64_t rank = 0; rank < m->ranks; rank++) {
        if (op->code == RIDGE_OPCODE_COLLECTIVE)
            run_collective(m, op, parts, rank, calls[rank].out[0]);
        else
            mesh_run_operation(&calls[rank]);
    }
    for (int64_t rank = 0; rank < m->ranks; rank++)
        close_call(m, &calls[rank]);
}

void mesh_machine_run(mesh_machine *m)
{
    for (m->block = 0; m->block < m->program->n_blocks; m->block++) {
        const ridge_block *block = &m->program->blocks[m->block];
        for (m->repetition = 0; m->repetition < block->repeat; m->repetition++) {
            for (int i = 0; i < block->n_ops; i++)
                run_op(m, &m->program->ops[block->first_op + i]);
        }
    }
}

/* ---- for kernels ---------------------------------------------------------------- */

mesh_part *mesh_call_gradient(const mesh_call *call, int input)
{
    const int of = mesh_machine_origin(call->machine, call->op->inputs[input]);
    for (int i = 0; i < call->op->n_outputs; i++) {
        if (call->out[i]->tensor->gradient_of == of)
            return call->out[i];
    }
    return NULL;
}

static const ridge_dim_axes *input_axes(const mesh_call *call, int input, int dim)
{
    const mesh_machine *m = call->machine;
    const int t = call->op->inputs[input];
    for (int i = 0; m->partition && i < m->program->tensors[t].n_dims; i++) {
        if (m->program->tensors[t].dims[i] == dim)
            return &m->partition->shardings[t].dims[i];
    }
    return NULL;
}

int64_t mesh_call_peers(const mesh_call *call, int input, int dim)
{
    const ridge_dim_axes *axes = input_axes(call, input, dim);
    return axes ? ridge_dim_ways(&call->machine->mesh, axes) : 1;
}

mesh_part *mesh_call_peer(const mesh_call *call, int input, int dim, int64_t turn)
{
    mesh_machine *m = call->machine;
    const ridge_dim_axes *axes = input_axes(call, input, dim);
    int64_t coords[RIDGE_MESH_AXIS_MAX];
    rank_coords(&m->mesh, call->rank, coords);
    for (int i = 0; axes && i < axes->n; i++) {
        coords[axes->axes[i]] = turn % m->mesh.axes[axes->axes[i]].size;
        turn /= m->mesh.axes[axes->axes[i]].size;
    }
    int t = call->op->inputs[input];
    int64_t r = 0;
    locate(m, &t, &r);
    return *slot(m, t, r, coords_rank(&m->mesh, coords));
}
