/* Collectives and sends of a partition: their group, their bytes, their time. */
#include "local_size.h"
#include "operation_time.h"

ridge_group ridge__exchange_group(const ridge__pricing *x, int op)
{
    const ridge_operation *o = &x->partition->program->ops[op];
    if (o->n_axes < 1)
        return (ridge_group){.ranks = 1};
    return ridge_laid_mesh_group(x->laid, o->axes, o->n_axes);
}

/* V as cost.h counts it, from the arrays that one chip holds. A send takes its array
 * as it is. */
double ridge__exchange_bytes(const ridge_partition *p, const ridge_operation *o,
                             double ranks)
{
    if (o->n_inputs < 1 || o->n_outputs < 1)
        return 0;
    const double in = ridge__tensor_bytes(p, o->inputs[0]);
    if (o->code == RIDGE_OPCODE_SEND)
        return in;
    if (o->collective == (int)RIDGE_COLLECTIVE_ALL_TO_ALL)
        return in * ranks;
    if (o->collective == (int)RIDGE_COLLECTIVE_ALL_GATHER)
        return ridge__tensor_bytes(p, o->outputs[0]);
    return in;
}

static unsigned network_of(const ridge_group *group)
{
    unsigned network = 0;
    for (int i = 0; i < group->n_spans; i++)
        network |= group->spans[i].size > 1 ? 1u << group->spans[i].axis : 0;
    return network;
}

bool ridge__exchange_is_none(const ridge_operation *o)
{
    return o->code == RIDGE_OPCODE_COLLECTIVE &&
           o->collective == (int)RIDGE_STEP_SLICE; /* drops what others hold */
}

ridge_operation_time ridge__exchange_joined(const ridge__pricing *x, int op,
                                            double bytes)
{
    const ridge_operation *o = &x->partition->program->ops[op];
    ridge_operation_time t = {.is_collective = true, .bound_by = RIDGE_BOUND_NETWORK};
    const ridge_group group = ridge__exchange_group(x, op);
    if (group.ranks <= 1 || ridge__exchange_is_none(o))
        return t;
    const ridge_collective kind = o->code == RIDGE_OPCODE_SEND
                                      ? RIDGE_COLLECTIVE_SEND_RECV
                                      : (ridge_collective)o->collective;
    const ridge_time time = ridge_collective_time(x->laid->slice, kind, bytes, &group);
    t.bytes = bytes;
    t.bound_s = time.bound_s;
    t.expected_s = time.expected_s > time.bound_s ? time.expected_s : time.bound_s;
    t.network = network_of(&group);
    return t;
}

ridge_operation_time ridge__exchange_price(const ridge__pricing *x, int op)
{
    const ridge_operation *o = &x->partition->program->ops[op];
    const double ranks = (double)ridge__exchange_group(x, op).ranks;
    if (ranks <= 1)
        return ridge__exchange_joined(x, op, 0);
    return ridge__exchange_joined(x, op, ridge__exchange_bytes(x->partition, o, ranks));
}

/* ---- collectives that run as one ------------------------------------------------ */

/* Whose values a collective moves. */
typedef enum freight { FREIGHT_OTHER, FREIGHT_WEIGHT, FREIGHT_GRADIENT } freight;

static freight freight_of(const ridge_partition *p, const ridge_operation *o)
{
    if (o->code != RIDGE_OPCODE_COLLECTIVE || o->n_outputs < 1 ||
        ridge__exchange_is_none(o))
        return FREIGHT_OTHER;
    const ridge_tensor *t = &p->program->tensors[o->outputs[0]];
    if (t->role == RIDGE_ROLE_WEIGHT)
        return FREIGHT_WEIGHT;
    const bool is_of_weight =
        t->gradient_of >= 0 &&
        p->program->tensors[t->gradient_of].role == RIDGE_ROLE_WEIGHT;
    return is_of_weight ? FREIGHT_GRADIENT : FREIGHT_OTHER;
}

bool ridge__exchange_joins(const ridge_partition *p, int op, int other)
{
    const ridge_operation *a = &p->program->ops[op];
    const ridge_operation *b = &p->program->ops[other];
    if (a->collective != b->collective || a->n_axes != b->n_axes ||
        freight_of(p, a) == FREIGHT_OTHER || freight_of(p, a) != freight_of(p, b))
        return false;
    for (int i = 0; i < a->n_axes; i++) {
        if (a->axes[i] != b->axes[i])
            return false;
    }
    return true;
}
