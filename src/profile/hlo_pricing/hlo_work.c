#include "hlo_work.h"
#include "hlo_attribute.h"
#include "hlo_product.h"

#include "ridge/program.h"

#include <math.h>

/* What a computation does once for each element: of a reduction or a map. */
static hlo_work applied(const ridge_hlo_module *module, const ridge_hlo_instruction *i,
                        double times)
{
    hlo_work w = {0, 0};
    if (i->n_called < 1 || i->called[0] < 0)
        return (hlo_work){times, 0}; /* a sum, as nearly all are */
    const ridge_hlo_computation *c = &module->computations[i->called[0]];
    for (int k = 0; k < c->n; k++) {
        const ridge_hlo_kind kind = ridge_hlo_opcode_kind(c->instructions[k].code);
        w.flops += kind == RIDGE_HLO_KIND_MAP ? times : 0;
        w.transcendentals += kind == RIDGE_HLO_KIND_HARD ? times : 0;
    }
    return w;
}

static double window_size(const ridge_hlo_instruction *i)
{
    hlo_window w;
    double size = 1;
    if (!hlo_window_parse(ridge_hlo_attribute_of(i, "window"), &w))
        return 1;
    for (int d = 0; d < w.n; d++)
        size *= (double)w.dims[d].size;
    return size;
}

static double first_elements(const ridge_hlo_shape *shape)
{
    const bool is_tuple = ridge_hlo_shape_is_tuple(shape) && shape->n > 0;
    return ridge_hlo_shape_elements(is_tuple ? &shape->parts[0] : shape);
}

/* Length of a dim of the result, from the last one; 1 when it has fewer. */
static double last_dim(const ridge_hlo_shape *shape, int back)
{
    const bool has_it = !ridge_hlo_shape_is_tuple(shape) && shape->n >= back;
    return has_it ? (double)shape->dims[shape->n - back] : 1;
}

static double library_flops(const ridge_hlo_instruction *i, double inputs)
{
    if (i->code == RIDGE_HLO_OP_SORT || i->code == RIDGE_HLO_OP_TOPK)
        return inputs > 1 ? inputs * ceil(log2(inputs)) : 0;
    if (i->code == RIDGE_HLO_OP_FFT) {
        const double length = (double)hlo_attribute_int(i, "fft_length", 2);
        return 2 * 4 * inputs * fmax(1, log2(fmax(2, length)));
    }
    if (i->code == RIDGE_HLO_OP_CHOLESKY)
        return inputs * last_dim(&i->shape, 1) / 3;
    if (i->code == RIDGE_HLO_OP_TRIANGULAR_SOLVE)
        return first_elements(&i->shape) * last_dim(&i->shape, 2);
    return i->code == RIDGE_HLO_OP_RNG_BIT_GENERATOR ? first_elements(&i->shape) : 0;
}

hlo_work hlo_work_of(const ridge_hlo_module *module, const ridge_hlo_instruction *i,
                     const ridge_hlo_shape *const *operands)
{
    const double out = first_elements(&i->shape);
    const double in = i->n_operands > 0 ? ridge_hlo_shape_elements(operands[0]) : 0;
    if (hlo_dot_is_map(i))
        return (hlo_work){out, 0};
    switch (ridge_hlo_opcode_kind(i->code)) {
    case RIDGE_HLO_KIND_MAP:
        return i->code == RIDGE_HLO_OP_MAP ? applied(module, i, out)
                                           : (hlo_work){out, 0};
    case RIDGE_HLO_KIND_HARD:
        return (hlo_work){0, out};
    case RIDGE_HLO_KIND_REDUCE:
        if (i->code == RIDGE_HLO_OP_REDUCE)
            return applied(module, i, fmax(0, in - out));
        return applied(module, i, out * fmax(0, window_size(i) - 1));
    case RIDGE_HLO_KIND_MOVE:
        if (i->code == RIDGE_HLO_OP_SCATTER && i->n_operands >= 3)
            return applied(module, i, ridge_hlo_shape_elements(operands[2]));
        return (hlo_work){0, 0};
    case RIDGE_HLO_KIND_LIBRARY:
        return (hlo_work){library_flops(i, in), 0};
    case RIDGE_HLO_KIND_FREE:
    case RIDGE_HLO_KIND_CONST:
    case RIDGE_HLO_KIND_PRODUCT:
    case RIDGE_HLO_KIND_NETWORK:
    case RIDGE_HLO_KIND_CONTROL:
    case RIDGE_HLO_KIND_HOST:
        break;
    }
    return (hlo_work){0, 0};
}

double hlo_work_vector_flops(const hlo_work *work)
{
    return work->flops +
           work->transcendentals * ridge_function_flops(RIDGE_FUNCTION_SIGMOID);
}
