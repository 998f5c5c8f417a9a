/* Programs that look random, put together from pieces of transformers. */
#include "seeded_program.h"

#include "near.h"

#include <string.h>

enum { TENSORS_MOST = 160, OPS_MOST = 120 };

/* A program that grows. */
typedef struct draft {
    ridge_arena *arena;
    seeded *at;
    ridge_program *p;
    bool is_whole;
} draft;

static const char *const DIM_NAMES[SEEDED_DIM_COUNT] = {"B", "T", "D", "F", "N",
                                                        "K", "H", "V", "E", "C"};

static int64_t pick(draft *d, int64_t low, int64_t high)
{
    return seeded_pick(d->at, low, high);
}

/* ---- pieces --------------------------------------------------------------------- */

static int add_tensor(draft *d, const char *stem, ridge_role role, int n,
                      const int *dims)
{
    ridge_program *p = d->p;
    const int t = p->n_tensors++;
    assert_true(t < TENSORS_MOST);
    ridge_tensor *tensor = &p->tensors[t];
    tensor->name = ridge_sprintf(d->arena, "%s_%d", stem, t);
    tensor->role = role;
    tensor->dtype = RIDGE_DTYPE_FP32;
    tensor->n_dims = n;
    for (int i = 0; i < n; i++)
        tensor->dims[i] = dims[i];
    tensor->block = p->n_blocks - 1;
    tensor->gradient_of = -1;
    return t;
}

#define DIMS(...)                                                                      \
    (int)(sizeof((int[]){__VA_ARGS__}) / sizeof(int)), (const int[])                   \
    {                                                                                  \
        __VA_ARGS__                                                                    \
    }

static ridge_operation *add_op(draft *d, ridge_opcode code, int a, int b, int out)
{
    ridge_program *p = d->p;
    const int i = p->n_ops++;
    assert_true(i < OPS_MOST);
    ridge_operation *op = &p->ops[i];
    *op = (ridge_operation){.name = ridge_sprintf(d->arena, "op_%d", i),
                            .code = code,
                            .forward_of = -1,
                            .position_dim = -1,
                            .n_inputs = b >= 0 ? 2 : 1,
                            .inputs = {a, b >= 0 ? b : 0},
                            .n_outputs = 1,
                            .outputs = {out},
                            .dim_from = -1,
                            .dim_to = -1};
    p->blocks[p->n_blocks - 1].n_ops++;
    return op;
}

static int elementwise(draft *d, ridge_function f, int a, int b)
{
    const ridge_tensor *t = &d->p->tensors[a];
    const int out = add_tensor(d, "e", RIDGE_ROLE_ACTIVATION, t->n_dims, t->dims);
    ridge_operation *op = add_op(d, RIDGE_OPCODE_ELEMENTWISE, a, b, out);
    op->function = f;
    op->scale = 2.0;
    op->position_dim = f == RIDGE_FUNCTION_ROTARY ? SEEDED_T : -1;
    return out;
}

static int einsum(draft *d, int a, int b, int n, const int *dims)
{
    const int out = add_tensor(d, "y", RIDGE_ROLE_ACTIVATION, n, dims);
    add_op(d, RIDGE_OPCODE_EINSUM, a, b, out);
    return out;
}

static int norm(draft *d, int x)
{
    if (d->is_whole)
        return x;
    const ridge_tensor *t = &d->p->tensors[x];
    const int w = add_tensor(d, "norm", RIDGE_ROLE_WEIGHT, 1, &t->dims[t->n_dims - 1]);
    const int out = add_tensor(d, "h", RIDGE_ROLE_ACTIVATION, t->n_dims, t->dims);
    add_op(d, RIDGE_OPCODE_NORM, x, w, out);
    return out;
}

static int activate(draft *d, int x)
{
    static const ridge_function ANY[] = {RIDGE_FUNCTION_GELU,    RIDGE_FUNCTION_RELU,
                                         RIDGE_FUNCTION_RELU2,   RIDGE_FUNCTION_SILU,
                                         RIDGE_FUNCTION_SIGMOID, RIDGE_FUNCTION_SCALE};
    if (d->is_whole)
        return elementwise(
            d, pick(d, 0, 1) ? RIDGE_FUNCTION_RELU : RIDGE_FUNCTION_SCALE, x, -1);
    return elementwise(d, ANY[pick(d, 0, 5)], x, -1);
}

static int weight(draft *d, int n, const int *dims)
{
    return add_tensor(d, "w", RIDGE_ROLE_WEIGHT, n, dims);
}

/* ---- parts of a layer: x [B, T, D] -> [B, T, D] --------------------------------- */

static int feed_forward(draft *d, int x)
{
    const int h = norm(d, x);
    const int up = einsum(d, h, weight(d, DIMS(SEEDED_D, SEEDED_F)),
                          DIMS(SEEDED_B, SEEDED_T, SEEDED_F));
    int a = activate(d, up);
    if (pick(d, 0, 1)) {
        const int gate = einsum(d, h, weight(d, DIMS(SEEDED_D, SEEDED_F)),
                                DIMS(SEEDED_B, SEEDED_T, SEEDED_F));
        a = elementwise(
            d, d->is_whole ? RIDGE_FUNCTION_MULTIPLY : RIDGE_FUNCTION_SWIGLU, a, gate);
    }
    if (pick(d, 0, 2) == 0)
        a = elementwise(d, RIDGE_FUNCTION_ADD, a, weight(d, DIMS(SEEDED_F)));
    return einsum(d, a, weight(d, DIMS(SEEDED_F, SEEDED_D)),
                  DIMS(SEEDED_B, SEEDED_T, SEEDED_D));
}

static int attention(draft *d, int x)
{
    const int h = norm(d, x);
    const int kv = pick(d, 0, 1) ? SEEDED_K : SEEDED_N;
    int q = einsum(d, h, weight(d, DIMS(SEEDED_D, SEEDED_N, SEEDED_H)),
                   DIMS(SEEDED_B, SEEDED_T, SEEDED_N, SEEDED_H));
    int k = einsum(d, h, weight(d, DIMS(SEEDED_D, kv, SEEDED_H)),
                   DIMS(SEEDED_B, SEEDED_T, kv, SEEDED_H));
    const int v = einsum(d, h, weight(d, DIMS(SEEDED_D, kv, SEEDED_H)),
                         DIMS(SEEDED_B, SEEDED_T, kv, SEEDED_H));
    if (pick(d, 0, 1)) {
        q = elementwise(d, RIDGE_FUNCTION_ROTARY, q, -1);
        k = elementwise(d, RIDGE_FUNCTION_ROTARY, k, -1);
    }
    const int o = add_tensor(d, "o", RIDGE_ROLE_ACTIVATION,
                             DIMS(SEEDED_B, SEEDED_T, SEEDED_N, SEEDED_H));
    ridge_operation *op = add_op(d, RIDGE_OPCODE_ATTENTION, q, k, o);
    op->n_inputs = 3;
    op->inputs[2] = v;
    op->is_causal = pick(d, 0, 3) > 0;
    op->window = pick(d, 0, 2) == 0 ? 2 : 0;
    return einsum(d, o, weight(d, DIMS(SEEDED_N, SEEDED_H, SEEDED_D)),
                  DIMS(SEEDED_B, SEEDED_T, SEEDED_D));
}

static int experts(draft *d, int x)
{
    const int h = norm(d, x);
    const int logits = einsum(d, h, weight(d, DIMS(SEEDED_D, SEEDED_E)),
                              DIMS(SEEDED_B, SEEDED_T, SEEDED_E));
    const int gates = add_tensor(d, "gates", RIDGE_ROLE_ACTIVATION,
                                 DIMS(SEEDED_B, SEEDED_T, SEEDED_E));
    const int64_t chosen = pick(d, 1, d->p->dims[SEEDED_E].size);
    add_op(d, RIDGE_OPCODE_ROUTE, logits, -1, gates)->experts_per_token = chosen;
    const int rows = add_tensor(d, "rows", RIDGE_ROLE_ACTIVATION,
                                DIMS(SEEDED_E, SEEDED_C, SEEDED_D));
    add_op(d, RIDGE_OPCODE_DISPATCH, h, gates, rows)->experts_per_token = chosen;
    const int up = einsum(d, rows, weight(d, DIMS(SEEDED_E, SEEDED_D, SEEDED_F)),
                          DIMS(SEEDED_E, SEEDED_C, SEEDED_F));
    const int down =
        einsum(d, activate(d, up), weight(d, DIMS(SEEDED_E, SEEDED_F, SEEDED_D)),
               DIMS(SEEDED_E, SEEDED_C, SEEDED_D));
    const int y = add_tensor(d, "mixed", RIDGE_ROLE_ACTIVATION,
                             DIMS(SEEDED_B, SEEDED_T, SEEDED_D));
    add_op(d, RIDGE_OPCODE_COMBINE, down, gates, y)->experts_per_token = chosen;
    return y;
}

/* Sums and products of activations alone. */
static int mix(draft *d, int x)
{
    const int twice = einsum(d, x, -1, DIMS(SEEDED_B, SEEDED_D));
    const int gram = einsum(d, x, twice, DIMS(SEEDED_T, SEEDED_D, SEEDED_B));
    const int back = einsum(d, gram, -1, DIMS(SEEDED_B, SEEDED_T, SEEDED_D));
    return elementwise(d, d->is_whole ? RIDGE_FUNCTION_RELU : RIDGE_FUNCTION_SIGMOID,
                       back, -1);
}

static int part(draft *d, int x)
{
    switch (pick(d, 0, d->is_whole ? 2 : 4)) {
    case 0:
        return feed_forward(d, x);
    case 1:
        return mix(d, x);
    case 2:
        return einsum(d, x, weight(d, DIMS(SEEDED_D)),
                      DIMS(SEEDED_B, SEEDED_T, SEEDED_D));
    case 3:
        return attention(d, x);
    default:
        return experts(d, x);
    }
}

/* ---- programs ------------------------------------------------------------------- */

static void open_block(draft *d, const char *stem)
{
    ridge_program *p = d->p;
    p->blocks[p->n_blocks] =
        (ridge_block){.name = ridge_sprintf(d->arena, "%s_%d", stem, p->n_blocks),
                      .repeat = 1,
                      .first_op = p->n_ops,
                      .carry_in = -1,
                      .carry_out = -1,
                      .layer = -1,
                      .forward_of = -1};
    p->n_blocks++;
}

static void draw_dims(draft *d)
{
    const int64_t kv = pick(d, 1, 3);
    const int64_t sizes[SEEDED_DIM_COUNT] = {
        [SEEDED_B] = pick(d, 1, 3), [SEEDED_T] = pick(d, 2, 4),
        [SEEDED_D] = pick(d, 2, 5), [SEEDED_F] = pick(d, 2, 5),
        [SEEDED_N] = kv * 2,        [SEEDED_K] = kv,
        [SEEDED_H] = pick(d, 2, 3), [SEEDED_V] = pick(d, 3, 7),
        [SEEDED_E] = pick(d, 2, 5), [SEEDED_C] = 80,
    };
    for (int i = 0; i < SEEDED_DIM_COUNT; i++)
        d->p->dims[i] = (ridge_program_dim){.name = DIM_NAMES[i], .size = sizes[i]};
}

static void add_loss(draft *d, int x)
{
    open_block(d, "head");
    const int logits = einsum(d, norm(d, x), weight(d, DIMS(SEEDED_D, SEEDED_V)),
                              DIMS(SEEDED_B, SEEDED_T, SEEDED_V));
    const int labels =
        add_tensor(d, "labels", RIDGE_ROLE_INPUT, DIMS(SEEDED_B, SEEDED_T));
    const int loss =
        add_tensor(d, "loss", RIDGE_ROLE_ACTIVATION, DIMS(SEEDED_B, SEEDED_T));
    add_op(d, RIDGE_OPCODE_LOSS, logits, labels, loss);
}

const ridge_program *seeded_program(ridge_arena *arena, seeded *at, bool is_whole)
{
    ridge_program *p = ridge_new(arena, ridge_program, 1);
    assert_non_null(p);
    *p = (ridge_program){.name = "seeded",
                         .phase = RIDGE_PHASE_TRAIN,
                         .n_dims = SEEDED_DIM_COUNT,
                         .dims = ridge_new(arena, ridge_program_dim, SEEDED_DIM_COUNT),
                         .tensors = ridge_new(arena, ridge_tensor, TENSORS_MOST),
                         .ops = ridge_new(arena, ridge_operation, OPS_MOST),
                         .blocks = ridge_new(arena, ridge_block, 8)};
    assert_true(p->dims && p->tensors && p->ops && p->blocks);
    draft d = {.arena = arena, .at = at, .p = p, .is_whole = is_whole};
    draw_dims(&d);
    open_block(&d, "embed");
    const int ids = add_tensor(&d, "ids", RIDGE_ROLE_INPUT, DIMS(SEEDED_B, SEEDED_T));
    int x =
        add_tensor(&d, "x", RIDGE_ROLE_ACTIVATION, DIMS(SEEDED_B, SEEDED_T, SEEDED_D));
    const int table = weight(&d, DIMS(SEEDED_V, SEEDED_D));
    add_op(&d, RIDGE_OPCODE_GATHER, table, ids, x);
    for (int64_t i = pick(&d, 1, 3); i > 0; i--) {
        if (pick(&d, 0, 1))
            open_block(&d, "layer");
        x = elementwise(&d, RIDGE_FUNCTION_ADD, x, part(&d, x));
    }
    if (!is_whole && pick(&d, 0, 3) > 0)
        add_loss(&d, x);
    return p;
}

/* ---- meshes, rules, values ------------------------------------------------------ */

ridge_mesh seeded_mesh(seeded *at)
{
    static const char *const NAMES[] = {"x", "y", "z"};
    ridge_mesh mesh = {.n = (int)seeded_pick(at, 1, 3)};
    int64_t ranks = 1;
    for (int a = 0; a < mesh.n; a++) {
        int64_t size = seeded_pick(at, 1, 6);
        size = size > 3 ? 2 : size;
        if (ranks * size > 12)
            size = 1;
        ranks *= size;
        mesh.axes[a] = (ridge_mesh_axis){.name = NAMES[a], .size = size};
    }
    return mesh;
}

int seeded_rules(seeded *at, const ridge_program *program, const ridge_mesh *mesh,
                 int most, ridge_rule *out)
{
    static const ridge_role ROLES[] = {RIDGE_ROLE_WEIGHT, RIDGE_ROLE_INPUT,
                                       RIDGE_ROLE_ACTIVATION, RIDGE_ROLE_GRADIENT,
                                       RIDGE_ROLE_STATE};
    const int n = (int)seeded_pick(at, 0, most);
    for (int i = 0; i < n; i++) {
        out[i] = (ridge_rule){.role = ROLES[seeded_pick(at, 0, 4)]};
        out[i].dim = DIM_NAMES[seeded_pick(at, 0, SEEDED_DIM_COUNT - 2)];
        if (seeded_pick(at, 0, 2) == 0) {
            const ridge_tensor *t =
                &program->tensors[seeded_pick(at, 0, program->n_tensors - 1)];
            if (t->n_dims > 0) {
                out[i].tensor = t->name;
                out[i].dim =
                    program->dims[t->dims[seeded_pick(at, 0, t->n_dims - 1)]].name;
            }
        }
        const int first = (int)seeded_pick(at, 0, mesh->n - 1);
        out[i].n_axes = (int)seeded_pick(at, 0, mesh->n < 2 ? 1 : 2);
        for (int a = 0; a < out[i].n_axes; a++)
            out[i].axes[a] = mesh->axes[(first + a) % mesh->n].name;
    }
    return n;
}

void seeded_values(seeded *at, const ridge_program *program, int tensor, bool is_whole,
                   double *out)
{
    const ridge_tensor *t = &program->tensors[tensor];
    int64_t n = 1;
    for (int i = 0; i < t->n_dims; i++)
        n *= program->dims[t->dims[i]].size;
    const int words = ridge_program_dim_find(program, "V");
    for (int64_t i = 0; i < n; i++) {
        if (t->role == RIDGE_ROLE_INPUT)
            out[i] = (double)seeded_pick(at, 0, program->dims[words].size - 1);
        else if (is_whole)
            out[i] = (double)seeded_pick(at, -2, 2);
        else if (t->role == RIDGE_ROLE_STATE)
            out[i] = (double)seeded_pick(at, 1, 1000) / 1000.0;
        else
            out[i] = (double)seeded_pick(at, -1000, 1000) / 1000.0;
    }
}
