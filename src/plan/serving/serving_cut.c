/*
 * The model's programs cut over tp, read as kernels whose sizes follow the rows of an
 * iteration: at two numbers of rows, for they grow in a straight line. Which streams an
 * engine runs as one kernel is decided here; experts and scores have prices of their
 * own (serving_experts.c, serving_scores.c).
 */
#include "serving_desk.h"

#include "ridge/shard.h"

#include <math.h>
#include <string.h>

/* Rows at which the programs are cut and read. */
enum { ROWS_ONE = 16, ROWS_TWO = 32 };

/* A cut under way. */
typedef struct cutting {
    ridge_serving_desk *desk;
    serving_cut *out;
    const ridge_partition *partition;
    ridge_kernel *one, *two; /* at both numbers of rows; n_ops 0: part of another */
    int n;
    bool is_prefill;
} cutting;

/* ---- partitions ------------------------------------------------------------------ */

/* The same with more rows: B grows, and with it the rows of experts. */
static bool enlarge(ridge_serving_desk *desk, const ridge_partition *small,
                    ridge_program *program, ridge_partition *out)
{
    *out = *small;
    *program = *small->program;
    ridge_program_dim *dims = ridge_new(ridge_ctx_arena(desk->cx), ridge_program_dim,
                                        (size_t)program->n_dims);
    if (dims == NULL)
        return false;
    memcpy(dims, program->dims, (size_t)program->n_dims * sizeof *dims);
    for (int i = 0; i < program->n_dims; i++) {
        const int64_t by = ROWS_TWO / ROWS_ONE;
        if (strcmp(dims[i].name, "B") == 0) {
            dims[i].size *= by;
        } else if (dims[i].used > 0) {
            dims[i].used *= (double)by;
            dims[i].size = (int64_t)ceil(dims[i].used);
        }
    }
    program->dims = dims;
    out->program = program;
    return true;
}

static ridge_status list_kernels(ridge_serving_desk *desk, const ridge_partition *p,
                                 ridge_kernel **out, int *n)
{
    const ridge_kernel *list;
    RIDGE_TRY(ridge_kernels_list(desk->cx, p, &list, n));
    *out = ridge_new(ridge_ctx_arena(desk->cx), ridge_kernel, (size_t)*n + 1);
    if (*out == NULL)
        return ridge_fail_nomem(desk->cx);
    memcpy(*out, list, (size_t)*n * sizeof **out);
    return RIDGE_OK;
}

static bool is_of_one_product(const ridge_kernel *a, const ridge_kernel *b)
{
    return a->kind == RIDGE_KERNEL_PRODUCT && b->kind == RIDGE_KERNEL_PRODUCT &&
           a->n_ops > 0 && b->n_ops > 0 && a->block == b->block &&
           a->operand == b->operand && a->part == b->part && a->weight >= 0 &&
           b->weight >= 0 && a->product.batch <= 1 && b->product.batch <= 1 &&
           !(a->product.k < b->product.k) && !(a->product.k > b->product.k);
}

/* Engines keep the weights that meet one array side by side, wherever a layer asks for
 * their products: queries, keys, values and gates; the low ranks of a latent. */
static void join_products(cutting *c)
{
    for (int i = 0; i < c->n; i++) {
        for (int j = i + 1; j < c->n; j++) {
            if (!is_of_one_product(&c->one[i], &c->one[j]))
                continue;
            c->one[i].product.n += c->one[j].product.n;
            c->two[i].product.n += c->two[j].product.n;
            c->one[j].n_ops = 0;
        }
    }
}

static ridge_status cut_program(ridge_serving_desk *desk, const ridge_program *program,
                                int64_t tp, cutting *c)
{
    const ridge_parallelism degrees = {
        .dp = 1, .fsdp = 1, .ep = 1, .cp = 1, .tp = tp, .is_vocab_parallel = true};
    const ridge_rule *rules;
    ridge_mesh mesh;
    int n;
    RIDGE_TRY(ridge_parallelism_rules(desk->cx, program, &degrees, &mesh, &rules, &n));
    RIDGE_TRY(ridge_partition_build(desk->cx, program, &mesh, rules, n, NULL, NULL,
                                    &c->partition));
    ridge_program *larger = ridge_new(ridge_ctx_arena(desk->cx), ridge_program, 1);
    ridge_partition two;
    int n_two;
    if (larger == NULL || !enlarge(desk, c->partition, larger, &two))
        return ridge_fail_nomem(desk->cx);
    RIDGE_TRY(list_kernels(desk, c->partition, &c->one, &c->n));
    RIDGE_TRY(list_kernels(desk, &two, &c->two, &n_two));
    if (n_two != c->n)
        return ridge_fail(desk->cx, RIDGE_E_INTERNAL,
                          "kernels change with the rows: %d and %d", c->n, n_two);
    join_products(c);
    return RIDGE_OK;
}

/* ---- what a kernel is ------------------------------------------------------------ */

static const ridge_operation *op_of(const cutting *c, const ridge_kernel *k)
{
    return &c->partition->program->ops[k->ops[0]];
}

static const ridge_block *block_of(const cutting *c, const ridge_kernel *k)
{
    return &c->partition->program->blocks[k->block];
}

static const ridge_layer *layer_of(const cutting *c, const ridge_kernel *k)
{
    const int layer = block_of(c, k)->layer;
    return layer < 0 ? NULL : &c->desk->compact->layers[layer];
}

static bool has_name(const cutting *c, int tensor, const char *name)
{
    return tensor >= 0 &&
           strcmp(ridge_tensor_base(&c->partition->program->tensors[tensor]), name) ==
               0;
}

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static int format_of(const cutting *c, const ridge_kernel *k)
{
    if (k->is_head)
        return RIDGE_QUANT_HEAD;
    if (k->weight < 0)
        return SERVING_FORMAT_REST;
    switch (k->part) {
    case RIDGE_PART_ATTENTION:
        return RIDGE_QUANT_ATTENTION;
    case RIDGE_PART_MLP:
        break;
    case RIDGE_PART_EXPERTS:
        return RIDGE_QUANT_EXPERTS;
    case RIDGE_PART_ROUTER:
    case RIDGE_PART_NORM:
        return SERVING_FORMAT_REST;
    }
    const char *base = ridge_tensor_base(&c->partition->program->tensors[k->weight]);
    return starts_with(base, "shared_") ? RIDGE_QUANT_SHARED : RIDGE_QUANT_DENSE;
}

static bool is_add(const ridge_operation *op)
{
    return op->code == RIDGE_OPCODE_ELEMENTWISE && op->function == RIDGE_FUNCTION_ADD;
}

static bool is_append(const ridge_operation *op)
{
    return op->code == RIDGE_OPCODE_ELEMENTWISE &&
           op->function == RIDGE_FUNCTION_APPEND;
}

/* Biases are added where products are stored, and caches where attention is called. */
static bool is_within_others(const cutting *c, const ridge_kernel *k)
{
    const ridge_program *p = c->partition->program;
    for (int i = 0; i < k->n_ops; i++) {
        const ridge_operation *op = &p->ops[k->ops[i]];
        const bool is_bias = is_add(op) && op->n_inputs == 2 &&
                             p->tensors[op->inputs[1]].role == RIDGE_ROLE_WEIGHT;
        if (!is_bias && !is_append(op))
            return false;
    }
    return true;
}

/* The addition to the stream that ends a layer runs with the norm that begins the next.
 */
static bool is_last_sum(const cutting *c, const ridge_kernel *k)
{
    const ridge_operation *op = op_of(c, k);
    return k->n_ops == 1 && is_add(op) && op->outputs[0] == block_of(c, k)->carry_out;
}

/* ---- kernels of rows ------------------------------------------------------------- */

static double slope(double one, double two)
{
    return (two - one) / (ROWS_TWO - ROWS_ONE);
}

static void read_product(const ridge_kernel *one, const ridge_kernel *two,
                         serving_kernel *out)
{
    out->kind = RIDGE_KERNEL_PRODUCT;
    out->product = one->product;
    out->m_each = slope(one->product.m, two->product.m);
    out->product.m = one->product.m - ROWS_ONE * out->m_each;
}

static void read_stream(const ridge_kernel *one, const ridge_kernel *two,
                        serving_kernel *out)
{
    out->kind = RIDGE_KERNEL_STREAM;
    out->bytes_each = slope(one->bytes, two->bytes);
    out->bytes = one->bytes - ROWS_ONE * out->bytes_each;
    out->vector_flops_each = slope(one->vector_flops, two->vector_flops);
}

static void read_exchange(const cutting *c, const ridge_kernel *one,
                          const ridge_kernel *two, serving_kernel *out)
{
    const ridge_operation *op = op_of(c, one);
    read_stream(one, two, out);
    out->kind = RIDGE_KERNEL_EXCHANGE;
    out->collective = (ridge_collective)op->collective;
    for (int i = 0; i < op->n_axes; i++) {
        const char *axis = c->partition->mesh.axes[op->axes[i]].name;
        out->is_over_kv = out->is_over_kv || strcmp(axis, "tp") == 0;
        out->is_over_copies = out->is_over_copies || strcmp(axis, "tpr") == 0;
    }
}

static bool is_like(const serving_kernel *a, const serving_kernel *b)
{
    serving_kernel x = *a, y = *b;
    x.count = y.count = 0;
    return memcmp(&x, &y, sizeof x) == 0;
}

static void add_kernel(serving_kernel *list, int *n, const serving_kernel *k)
{
    for (int i = 0; i < *n; i++) {
        if (is_like(&list[i], k)) {
            list[i].count += k->count;
            return;
        }
    }
    list[(*n)++] = *k;
}

/* Where in a layer the reading stands. */
typedef struct place {
    int block;
    bool has_mixer_stream; /* a stream of the mixer since the last product */
    bool has_norm_sum;     /* squares of queries and keys were summed over tp */
} place;

static ridge_serving_part part_of(const ridge_kernel *k)
{
    if (k->kind == RIDGE_KERNEL_EXCHANGE)
        return RIDGE_SERVING_PART_TP;
    if (k->is_head)
        return RIDGE_SERVING_PART_HEAD;
    if (k->part == RIDGE_PART_ROUTER)
        return RIDGE_SERVING_PART_EXPERTS;
    return k->kind == RIDGE_KERNEL_PRODUCT ? RIDGE_SERVING_PART_DENSE
                                           : RIDGE_SERVING_PART_VECTOR;
}

/* Streams of a mixer between two products (norms and rotation of queries and keys,
 * gates, taps) run as one kernel. */
static bool joins_mixer(const ridge_kernel *k, place *at)
{
    if (k->kind == RIDGE_KERNEL_PRODUCT || k->part != RIDGE_PART_ATTENTION) {
        at->has_mixer_stream = false;
        return false;
    }
    const bool joins = at->has_mixer_stream;
    at->has_mixer_stream = true;
    return joins;
}

/* Once a layer, for queries and keys. */
static bool sum_squares(place *at, serving_kernel *k)
{
    const bool is_first = !at->has_norm_sum;
    at->has_norm_sum = true;
    serving_norm_set(k);
    return is_first;
}

static void read_kernel(const cutting *c, int i, place *at)
{
    const ridge_kernel *one = &c->one[i], *two = &c->two[i];
    if (at->block != one->block)
        *at = (place){.block = one->block};
    if (one->part == RIDGE_PART_EXPERTS && one->kind != RIDGE_KERNEL_EXCHANGE)
        return;
    if (one->kind == RIDGE_KERNEL_STREAM && is_within_others(c, one))
        return;
    serving_kernel k;
    memset(&k, 0, sizeof k);
    k.part = part_of(one);
    k.format = format_of(c, one);
    k.count = (double)block_of(c, one)->repeat;
    k.is_joined = joins_mixer(one, at) || is_last_sum(c, one);
    if (one->kind == RIDGE_KERNEL_PRODUCT) {
        read_product(one, two, &k);
    } else if (one->kind == RIDGE_KERNEL_EXCHANGE) {
        read_exchange(c, one, two, &k);
        if (serving_norm_is_gather(c->partition->program, op_of(c, one)) &&
            !sum_squares(at, &k))
            return;
    } else {
        read_stream(one, two, &k);
    }
    if (k.part == RIDGE_SERVING_PART_HEAD) {
        add_kernel(c->out->head, &c->out->n_head, &k);
    } else {
        add_kernel(c->out->kernels, &c->out->n_kernels, &k);
    }
}

/* ---- mixers ---------------------------------------------------------------------- */

/* The mixer of a block, or of its cross-attention, made when it is first met. */
static serving_mixer *mixer_of(const cutting *c, const ridge_kernel *k, bool is_cross)
{
    const ridge_layer *layer = layer_of(c, k);
    if (layer == NULL)
        return NULL;
    for (int i = 0; i < c->out->n_mixers; i++) {
        serving_mixer *m = &c->out->mixers[i];
        if (m->layer == layer && m->is_cross == is_cross)
            return m;
    }
    serving_mixer *m = &c->out->mixers[c->out->n_mixers++];
    *m = (serving_mixer){.mixer = &layer->mixer,
                         .layer = layer,
                         .count = (double)layer->count,
                         .is_cross = is_cross};
    return m;
}

static bool is_cross_op(const cutting *c, const ridge_kernel *k)
{
    const ridge_layer *layer = layer_of(c, k);
    const ridge_operation *op = op_of(c, k);
    const ridge_program *p = c->partition->program;
    const char *base = ridge_tensor_base(&p->tensors[op->outputs[0]]);
    return layer != NULL && (layer->mixer.is_cross || starts_with(base, "cross_"));
}

static void read_scores(const cutting *c, const ridge_kernel *k)
{
    serving_mixer *m = mixer_of(c, k, is_cross_op(c, k));
    if (m == NULL)
        return;
    ridge_attention a = k->attention;
    a.batch = a.query_tokens = a.context_tokens = 1;
    a.window = 0;
    m->has_scores = true;
    if (c->is_prefill) {
        m->prefill = a;
    } else {
        m->decode = a;
        m->decode.is_causal = false;
    }
}

static void read_scan(const cutting *c, int i)
{
    const ridge_kernel *one = &c->one[i], *two = &c->two[i];
    const ridge_operation *op = op_of(c, one);
    if (op->scan == RIDGE_SCAN_SELECT || op->scan == RIDGE_SCAN_POOL)
        return; /* serving_scores.c prices them by the context */
    serving_mixer *m = mixer_of(c, one, false);
    if (m == NULL)
        return;
    const double state = slope(one->state_bytes, two->state_bytes);
    m->state_bytes += state;
    m->scan_bytes += fmax(0, slope(one->bytes, two->bytes) - 2 * state);
    m->scan_calls++;
    m->scan_share = 1 / (double)c->out->tp;
}

/* The key and value maps of a latent belong to the scores. */
static bool read_latent_map(const cutting *c, const ridge_kernel *k)
{
    const ridge_layer *layer = layer_of(c, k);
    if (layer == NULL || layer->mixer.kind != RIDGE_MIXER_MLA ||
        k->kind != RIDGE_KERNEL_PRODUCT ||
        !(has_name(c, k->weight, "wk_b") || has_name(c, k->weight, "wv_b")))
        return false;
    serving_mixer *m = mixer_of(c, k, false);
    ridge_matmul map = k->product;
    map.m = k->product.m / ROWS_ONE;
    if (c->is_prefill && m->n_expand < SERVING_MAP_MAX) {
        m->expand[m->n_expand++] = map;
    } else if (!c->is_prefill && m->n_absorb < SERVING_MAP_MAX) {
        m->absorb[m->n_absorb++] = map;
    }
    return true;
}

static void read_blocks(const cutting *c)
{
    place at = {.block = -1};
    for (int i = 0; i < c->n; i++) {
        const ridge_kernel *k = &c->one[i];
        const ridge_layer *layer = layer_of(c, k);
        if (k->n_ops == 0)
            continue;
        if (layer != NULL && layer->is_encoder && c->desk->compact->n_layers > 1 &&
            c->is_prefill)
            continue; /* of another stack */
        if (k->kind == RIDGE_KERNEL_ATTENTION) {
            read_scores(c, k);
        } else if (k->kind == RIDGE_KERNEL_SCAN) {
            if (!c->is_prefill)
                read_scan(c, i);
        } else if (!read_latent_map(c, k) && !c->is_prefill) {
            read_kernel(c, i, &at);
        }
    }
}

/* ---- cuts ------------------------------------------------------------------------ */

static bool make_lists(ridge_serving_desk *desk, serving_cut *cut, size_t kernels)
{
    ridge_arena *arena = ridge_ctx_arena(desk->cx);
    const size_t layers = (size_t)desk->compact->n_layers;
    cut->kernels = ridge_new(arena, serving_kernel, kernels);
    cut->head = ridge_new(arena, serving_kernel, kernels);
    cut->mixers = ridge_new(arena, serving_mixer, 2 * layers);
    cut->moe = ridge_new(arena, serving_moe, layers);
    return cut->kernels != NULL && cut->head != NULL && cut->mixers != NULL &&
           cut->moe != NULL;
}

static void list_moe(const ridge_serving_desk *desk, serving_cut *cut)
{
    for (int i = 0; i < desk->compact->n_layers; i++) {
        const ridge_layer *layer = &desk->compact->layers[i];
        if (layer->ffn.kind == RIDGE_FFN_MOE)
            cut->moe[cut->n_moe++] = (serving_moe){&layer->ffn, (double)layer->count};
    }
}

static int64_t kv_ways_of(const ridge_mesh *mesh)
{
    const int axis = ridge_mesh_find(mesh, "tp");
    return axis < 0 ? 1 : mesh->axes[axis].size;
}

static ridge_status make_cut(ridge_serving_desk *desk, int64_t tp, serving_cut *out)
{
    serving_cut cut = {.tp = tp};
    cutting decode = {.desk = desk, .out = &cut};
    cutting prefill = {.desk = desk, .out = &cut, .is_prefill = true};
    RIDGE_TRY(cut_program(desk, desk->decode, tp, &decode));
    RIDGE_TRY(cut_program(desk, desk->prefill, tp, &prefill));
    if (!make_lists(desk, &cut, (size_t)decode.n + 1))
        return ridge_fail_nomem(desk->cx);
    cut.kv_ways = kv_ways_of(&decode.partition->mesh);
    read_blocks(&decode);
    read_blocks(&prefill);
    list_moe(desk, &cut);
    serving_classes_set(&cut);
    *out = cut;
    return RIDGE_OK;
}

ridge_status serving_cut_find(ridge_serving_desk *desk, int64_t tp,
                              const serving_cut **out)
{
    for (int i = 0; i < desk->n_cuts; i++) {
        if (desk->cuts[i].tp == tp) {
            *out = &desk->cuts[i];
            return RIDGE_OK;
        }
    }
    if (desk->n_cuts == SERVING_CUT_MOST)
        return ridge_fail(desk->cx, RIDGE_E_ARG,
                          "more than %d degrees of tp: open another desk",
                          SERVING_CUT_MOST);
    RIDGE_TRY(make_cut(desk, tp, &desk->cuts[desk->n_cuts]));
    *out = &desk->cuts[desk->n_cuts++];
    return RIDGE_OK;
}
