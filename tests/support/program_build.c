#include "program_build.h"

#include "near.h"

#include <string.h>

static const char *copy(program_build *b, ridge_str s)
{
    const char *z = ridge_str_dup(ridge_ctx_arena(b->cx), ridge_str_trim(s));
    assert_non_null(z);
    return z;
}

void build_open(program_build *b, ridge_ctx *cx, const char *mesh, const char *dims)
{
    *b = (program_build){.cx = cx};
    b->program = (ridge_program){.name = "built",
                                 .phase = RIDGE_PHASE_TRAIN,
                                 .dims = b->dims,
                                 .tensors = b->tensors,
                                 .ops = b->ops,
                                 .blocks = b->blocks};
    b->partition = (ridge_partition){.program = &b->program, .shardings = b->shardings};
    if (ridge_mesh_parse(cx, mesh, &b->partition.mesh) != RIDGE_OK)
        fail_msg("%s", ridge_ctx_message(cx));
    ridge_str rest = ridge_str_of(dims);
    while (rest.p != NULL) {
        ridge_str size = ridge_str_cut(&rest, ',');
        const ridge_str name = ridge_str_cut(&size, '=');
        ridge_program_dim *d = &b->dims[b->program.n_dims++];
        d->name = copy(b, name);
        assert_true(ridge_parse_i64(ridge_str_trim(size), &d->size));
    }
}

static int find_dim(const program_build *b, const char *name)
{
    for (int i = 0; i < b->program.n_dims; i++) {
        if (strcmp(b->dims[i].name, name) == 0)
            return i;
    }
    fail_msg("no dim %s", name);
    return -1;
}

static int find_tensor(const program_build *b, const char *name)
{
    for (int i = 0; i < b->program.n_tensors; i++) {
        if (strcmp(b->tensors[i].name, name) == 0)
            return i;
    }
    fail_msg("no tensor %s", name);
    return -1;
}

static int find_axis(const program_build *b, const char *name)
{
    const int axis = ridge_mesh_find(&b->partition.mesh, name);
    if (axis < 0)
        fail_msg("no axis %s", name);
    return axis;
}

/* "D@x", or "D@x+y". */
static void add_dim(program_build *b, ridge_tensor *t, ridge_sharding *s,
                    ridge_str item)
{
    ridge_str axes = item;
    const ridge_str name = ridge_str_cut(&axes, '@');
    t->dims[t->n_dims] = find_dim(b, copy(b, name));
    ridge_dim_axes *cut = &s->dims[t->n_dims++];
    while (axes.p != NULL)
        cut->axes[cut->n++] = find_axis(b, copy(b, ridge_str_cut(&axes, '+')));
    s->n_dims = t->n_dims;
}

static void add_tensor(program_build *b, ridge_role role, ridge_str text)
{
    const int index = b->program.n_tensors++;
    ridge_tensor *t = &b->tensors[index];
    ridge_str rest = text;
    *t = (ridge_tensor){.name = copy(b, ridge_str_cut(&rest, '[')),
                        .role = role,
                        .dtype = RIDGE_DTYPE_BF16,
                        .gradient_of = -1};
    ridge_str dims = ridge_str_cut(&rest, ']');
    while (dims.p != NULL)
        add_dim(b, t, &b->shardings[index], ridge_str_cut(&dims, ','));
    if (rest.p != NULL && rest.n > 2) {
        rest.p++;
        ridge_str axes = ridge_str_cut(&rest, '}');
        while (axes.p != NULL)
            b->shardings[index].partial |=
                1u << find_axis(b, copy(b, ridge_str_cut(&axes, ',')));
    }
    /* "g_w" is the gradient of the weight w. */
    if (role == RIDGE_ROLE_GRADIENT && strncmp(t->name, "g_", 2) == 0)
        t->gradient_of = find_tensor(b, t->name + 2);
}

void build_tensors(program_build *b, ridge_role role, const char *text)
{
    ridge_str rest = ridge_str_of(text);
    while (rest.p != NULL) {
        const ridge_str item = ridge_str_cut(&rest, ' ');
        if (item.n > 0)
            add_tensor(b, role, item);
    }
}

void build_block(program_build *b, const char *name, int64_t repeat, const char *carry)
{
    ridge_block *block = &b->blocks[b->program.n_blocks++];
    *block = (ridge_block){.name = name,
                           .repeat = repeat,
                           .first_op = b->program.n_ops,
                           .carry_in = -1,
                           .carry_out = -1,
                           .forward_of = -1};
    if (carry == NULL)
        return;
    ridge_str rest = ridge_str_of(carry);
    block->carry_in = find_tensor(b, copy(b, ridge_str_cut(&rest, '-')));
    rest.p++;
    rest.n--;
    block->carry_out = find_tensor(b, copy(b, rest));
}

static int read_list(program_build *b, ridge_str list, int *out)
{
    int n = 0;
    while (list.p != NULL)
        out[n++] = find_tensor(b, copy(b, ridge_str_cut(&list, ',')));
    return n;
}

ridge_operation *build_op(program_build *b, ridge_opcode code, const char *text)
{
    ridge_operation *o = &b->ops[b->program.n_ops++];
    ridge_str rest = ridge_str_of(text);
    *o = (ridge_operation){.name = copy(b, ridge_str_cut(&rest, ':')),
                           .code = code,
                           .part = RIDGE_PART_MLP,
                           .forward_of = -1,
                           .position_dim = -1,
                           .dim_from = -1,
                           .dim_to = -1};
    const ridge_str inputs = ridge_str_cut(&rest, '-');
    rest.p++;
    rest.n--;
    o->n_inputs = read_list(b, inputs, o->inputs);
    o->n_outputs = read_list(b, rest, o->outputs);
    b->blocks[b->program.n_blocks - 1].n_ops++;
    return o;
}

ridge_operation *build_elementwise(program_build *b, ridge_function function,
                                   const char *text)
{
    ridge_operation *o = build_op(b, RIDGE_OPCODE_ELEMENTWISE, text);
    o->function = function;
    return o;
}

ridge_operation *build_exchange(program_build *b, ridge_collective kind,
                                const char *text, const char *axes)
{
    ridge_operation *o = build_op(b, RIDGE_OPCODE_COLLECTIVE, text);
    o->collective = (int)kind;
    ridge_str rest = ridge_str_of(axes);
    while (rest.p != NULL)
        o->axes[o->n_axes++] = find_axis(b, copy(b, ridge_str_cut(&rest, ',')));
    return o;
}

int build_find(const program_build *b, const char *op)
{
    for (int i = 0; i < b->program.n_ops; i++) {
        if (strcmp(b->ops[i].name, op) == 0)
            return i;
    }
    fail_msg("no operation %s", op);
    return -1;
}
