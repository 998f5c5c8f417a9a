#include "hlo_network.h"
#include "hlo_attribute.h"
#include "hlo_sharding.h"

/* ---- how many devices -------------------------------------------------------------
 */

static int64_t highest(const ridge_hlo_groups *g)
{
    int64_t most = -1;
    for (int64_t k = 0; k < g->n_groups * g->size; k++)
        most = g->devices[k] > most ? g->devices[k] : most;
    return most;
}

/* devices=[2,4]<=[8] or devices=[2,4]0,1,.. : the product of the sizes. */
static int64_t sharding_devices(ridge_str text)
{
    const char key[] = "devices=[";
    int64_t all = 1, size;
    for (size_t at = 0; at + sizeof key < text.n; at++) {
        if (text.p[at] != 'd' ||
            !hlo_text_has((ridge_str){text.p + at, sizeof key - 1}, key))
            continue;
        ridge_str rest = {text.p + at + sizeof key - 1, text.n - at - sizeof key + 1};
        ridge_str list = ridge_str_cut(&rest, ']');
        while (list.p) {
            if (!ridge_parse_i64(ridge_str_trim(ridge_str_cut(&list, ',')), &size) ||
                size < 1 || !ridge_mul_i64(all, size, &all))
                return 0;
        }
        return all;
    }
    return 0;
}

/* Ranks of a gather or scatter that names no groups, and so takes all devices: how much
 * larger one end is than the other. 0: another operation */
static int64_t ranks_by_shapes(const ridge_hlo_computation *c,
                               const ridge_hlo_instruction *i)
{
    const bool is_gather = i->code == RIDGE_HLO_OP_ALL_GATHER;
    if ((!is_gather && i->code != RIDGE_HLO_OP_REDUCE_SCATTER) || i->n_operands != 1 ||
        i->phase == RIDGE_HLO_DONE || i->phase == RIDGE_HLO_UPDATE)
        return 0;
    const ridge_hlo_shape *in = &c->instructions[i->operands[0]].shape;
    const ridge_hlo_shape *out = &i->shape;
    if (ridge_hlo_shape_is_tuple(out) && i->phase == RIDGE_HLO_START && out->n >= 2)
        out = &out->parts[1];
    if (ridge_hlo_shape_is_tuple(in) || ridge_hlo_shape_is_tuple(out))
        return 0;
    const double from = ridge_hlo_shape_elements(in),
                 to = ridge_hlo_shape_elements(out);
    const double ranks = is_gather ? to / from : from / to;
    return ranks >= 1 && ranks <= INT32_MAX ? (int64_t)ranks : 0;
}

ridge_status ridge_hlo_module_devices(ridge_ctx *cx, const ridge_hlo_module *module,
                                      int64_t *out)
{
    int64_t most = module->partitions;
    hlo_mesh mesh = {.devices = 1};
    if (!ridge_mul_i64(most, module->replicas, &most))
        most = module->partitions;
    if (module->format == RIDGE_HLO_FORMAT_MLIR)
        RIDGE_TRY(hlo_mesh_find(cx, module, &mesh));
    most = mesh.is_named && mesh.devices > most ? mesh.devices : most;
    for (int c = 0; c < module->n_computations; c++) {
        for (int k = 0; k < module->computations[c].n; k++) {
            const ridge_hlo_instruction *i = &module->computations[c].instructions[k];
            ridge_str text = ridge_hlo_attribute_of(i, "replica_groups");
            if (text.p == NULL)
                text = ridge_hlo_attribute_of(i, "source_target_pairs");
            ridge_hlo_groups groups = {.n_groups = 0};
            const ridge_mark mark = ridge_arena_mark(ridge_ctx_arena(cx));
            if (text.p)
                RIDGE_TRY(ridge_hlo_groups_parse(cx, text, &groups));
            const int64_t named = groups.n_groups > 0
                                      ? highest(&groups) + 1
                                      : ranks_by_shapes(&module->computations[c], i);
            ridge_arena_rewind(ridge_ctx_arena(cx), mark);
            const int64_t cut = sharding_devices(ridge_hlo_attribute_of(i, "sharding"));
            most = named > most ? named : most;
            most = cut > most ? cut : most;
        }
    }
    *out = most;
    return RIDGE_OK;
}

/* ---- groups on a slice ------------------------------------------------------------
 */

/* Distance between the devices of a group; 0: not even. */
static int64_t stride_of(const int64_t *devices, int64_t n)
{
    if (n < 2)
        return 0;
    const int64_t stride = devices[1] - devices[0];
    for (int64_t k = 2; k < n; k++) {
        if (devices[k] - devices[k - 1] != stride)
            return 0;
    }
    return stride;
}

/** Where a group lies along one axis of the slice. */
typedef struct axis_part {
    int64_t size, stride, first;
} axis_part;

enum { PLACES_MOST = 4096 };

/* The places along one axis that devices of a group take; devices are numbered with the
 * innermost axis of the slice first. @return false: not evenly spaced */
static bool find_part(const int64_t *devices, int64_t n, int64_t below, int64_t size,
                      axis_part *out)
{
    unsigned char is_there[PLACES_MOST] = {0};
    int64_t last = -1;
    *out = (axis_part){0, 0, -1};
    if (size > PLACES_MOST)
        return false;
    for (int64_t k = 0; k < n; k++)
        is_there[devices[k] / below % size] = 1;
    for (int64_t at = 0; at < size; at++) {
        if (!is_there[at])
            continue;
        out->size++;
        out->first = out->first < 0 ? at : out->first;
        if (out->size == 2)
            out->stride = at - last;
        if (out->size > 2 && at - last != out->stride)
            return false;
        last = at;
    }
    return true;
}

/* The group as a box of the slice. @return false: it is none */
static bool find_box(const ridge_slice *slice, const int64_t *devices, int64_t n,
                     ridge_group *out)
{
    int64_t below = 1;
    *out = (ridge_group){.ranks = 1};
    for (int a = 0; a < slice->n_axes; a++) {
        axis_part part;
        if (!find_part(devices, n, below, slice->axes[a].size, &part))
            return false;
        if (part.size > 1) {
            out->spans[out->n_spans++] = (ridge_span){a, part.size, part.stride};
            out->ranks *= part.size;
        }
        below *= slice->axes[a].size;
    }
    return out->ranks == n;
}

/* The innermost ranks of the slice, as many as the group has at least. */
static void take_innermost(const ridge_slice *slice, int64_t n, ridge_group *out)
{
    *out = (ridge_group){.ranks = 1};
    for (int a = 0; a < slice->n_axes && out->ranks < n; a++) {
        const int64_t wanted = ridge_ceil_div(n, out->ranks);
        const int64_t size =
            wanted < slice->axes[a].size ? wanted : slice->axes[a].size;
        if (size < 2)
            continue;
        out->spans[out->n_spans++] = (ridge_span){a, size, 1};
        out->ranks *= size;
    }
}

static void lay(const ridge_slice *slice, const int64_t *devices,
                ridge_hlo_collective *out)
{
    if (slice == NULL || out->ranks < 2)
        return;
    if (devices && find_box(slice, devices, out->ranks, &out->group))
        return;
    out->is_estimated = devices != NULL;
    take_innermost(slice, out->ranks, &out->group);
}

/* ---- collectives ------------------------------------------------------------------
 */

static const struct {
    ridge_hlo_opcode code;
    ridge_collective kind;
    bool is_per_rank; /* V is the input of all ranks */
} kinds[] = {
    {RIDGE_HLO_OP_ALL_GATHER, RIDGE_COLLECTIVE_ALL_GATHER, true},
    {RIDGE_HLO_OP_ALL_REDUCE, RIDGE_COLLECTIVE_ALL_REDUCE, false},
    {RIDGE_HLO_OP_REDUCE_SCATTER, RIDGE_COLLECTIVE_REDUCE_SCATTER, false},
    {RIDGE_HLO_OP_ALL_TO_ALL, RIDGE_COLLECTIVE_ALL_TO_ALL, true},
    {RIDGE_HLO_OP_RAGGED_ALL_TO_ALL, RIDGE_COLLECTIVE_ALL_TO_ALL, true},
    {RIDGE_HLO_OP_COLLECTIVE_PERMUTE, RIDGE_COLLECTIVE_SEND_RECV, false},
    {RIDGE_HLO_OP_COLLECTIVE_BROADCAST, RIDGE_COLLECTIVE_BROADCAST, false},
    {RIDGE_HLO_OP_SEND, RIDGE_COLLECTIVE_SEND_RECV, false},
};

static int kind_row(const ridge_hlo_instruction *i)
{
    for (size_t k = 0; k < RIDGE_COUNT_OF(kinds); k++) {
        if (kinds[k].code == i->code)
            return (int)k;
    }
    return -1;
}

bool hlo_collective_is(const ridge_hlo_instruction *i)
{
    const bool is_host =
        ridge_str_is(ridge_hlo_attribute_of(i, "is_host_transfer"), "true");
    return kind_row(i) >= 0 && !is_host && i->phase != RIDGE_HLO_DONE &&
           i->phase != RIDGE_HLO_UPDATE;
}

/* The shortest jump of the pairs: {{0,1},{1,2},{2,3},{3,0}} is a ring of steps of one,
 * and what closes it has a link of its own or takes the ring's way back. */
static void read_pairs(const ridge_hlo_groups *pairs, const ridge_slice *slice,
                       ridge_hlo_collective *out)
{
    const int64_t *pair = NULL;
    out->ranks = 1;
    out->stride = 0;
    out->n_groups = pairs->n_groups;
    for (int64_t k = 0; pairs->size == 2 && k < pairs->n_groups; k++) {
        const int64_t *p = pairs->devices + 2 * k;
        const int64_t jump = p[1] > p[0] ? p[1] - p[0] : p[0] - p[1];
        if (jump > 0 && (pair == NULL || jump < out->stride)) {
            pair = p;
            out->stride = jump;
            out->ranks = 2;
        }
    }
    if (pair)
        lay(slice, pair, out);
}

ridge_status hlo_collective_find(ridge_ctx *cx, const ridge_hlo_instruction *i,
                                 double input_bytes, int64_t devices,
                                 const ridge_slice *slice, ridge_hlo_collective *out)
{
    const int row = kind_row(i);
    const ridge_str pairs = ridge_hlo_attribute_of(i, "source_target_pairs");
    const ridge_str text =
        pairs.p ? pairs : ridge_hlo_attribute_of(i, "replica_groups");
    ridge_hlo_groups groups = {.n_groups = 0};
    if (row < 0)
        return ridge_fail(cx, RIDGE_E_INTERNAL, "no collective");
    *out = (ridge_hlo_collective){.kind = kinds[row].kind,
                                  .kind_text = ridge_hlo_opcode_text(i->code),
                                  .ranks = devices,
                                  .n_groups = 1,
                                  .stride = devices > 1,
                                  .is_async = i->phase == RIDGE_HLO_START};
    if (text.p)
        RIDGE_TRY(ridge_hlo_groups_parse(cx, text, &groups));
    if (kinds[row].kind == RIDGE_COLLECTIVE_SEND_RECV) {
        read_pairs(&groups, slice, out);
    } else {
        if (groups.n_groups > 0) {
            out->ranks = groups.size;
            out->n_groups = groups.n_groups;
            out->stride = stride_of(groups.devices, groups.size);
        }
        lay(slice, groups.n_groups > 0 ? groups.devices : NULL, out);
    }
    out->bytes = input_bytes * (kinds[row].is_per_rank ? (double)out->ranks : 1);
    return RIDGE_OK;
}

/* ", dim 2": the one that is gathered or scattered; "" for others. */
static const char *dim_text(ridge_ctx *cx, const ridge_hlo_instruction *i)
{
    const int64_t dim = hlo_attribute_int(i, "dimensions", -1);
    const bool has_dim =
        i->code == RIDGE_HLO_OP_ALL_GATHER || i->code == RIDGE_HLO_OP_REDUCE_SCATTER;
    const char *z = has_dim && dim >= 0 ? ridge_sprintf(ridge_ctx_arena(cx),
                                                        ", dim %lld", (long long)dim)
                                        : "";
    return z ? z : "";
}

const char *hlo_collective_text(ridge_ctx *cx, const ridge_hlo_instruction *i,
                                const ridge_hlo_collective *c)
{
    const char *z =
        c->kind == RIDGE_COLLECTIVE_SEND_RECV
            ? ridge_sprintf(ridge_ctx_arena(cx), "%lld pairs, stride %lld",
                            (long long)c->n_groups, (long long)c->stride)
            : ridge_sprintf(ridge_ctx_arena(cx), "%lld x %lld ranks, stride %lld%s%s",
                            (long long)c->n_groups, (long long)c->ranks,
                            (long long)c->stride, dim_text(cx, i),
                            c->is_estimated ? ", no box of the slice" : "");
    return z ? z : "";
}
