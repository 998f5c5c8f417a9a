/*
 * A model and a phase as a program: the table look-up, a block for each run of layers,
 * the head; in training the backward pass and the optimizer.
 */
#include "lower.h"

#include <string.h>

enum { SIZE_MOST = 1000000000 };

/* ---- one layer ------------------------------------------------------------------- */

/*
 * How the norms of a layer stand, told by how many there are: before each part; also
 * behind each (sandwich); or one that both parts of a parallel block read. What is left
 * belongs to no norm that a type's sizes would tell.
 */
typedef struct norm_plan {
    int before;       /* parts with a norm of their own before them */
    bool is_parallel; /* one norm for mixer and feed-forward */
    bool is_behind;   /* none before a part, one behind it */
    bool has_after;
    int64_t left; /* parameters */
} norm_plan;

static int count_parts(const ridge_layer *layer)
{
    return (layer->mixer.kind != RIDGE_MIXER_NONE) + (layer->has_cross ? 1 : 0) +
           (layer->ffn.kind != RIDGE_FFN_NONE);
}

/* OLMo 2 and 3 norm what a part gives, not what it takes. @source olmo2-2024 */
static bool has_norms_behind(const ridge_model *model)
{
    const char *type = model->model_type ? model->model_type : "";
    return strncmp(type, "olmo2", 5) == 0 || strncmp(type, "olmo3", 5) == 0;
}

static norm_plan plan_norms(const ridge__lower *l)
{
    const ridge_layer *layer = l->layer;
    const int parts = count_parts(layer);
    const int64_t one = l->vectors_per_norm * l->model->d_model;
    const int64_t norms = one > 0 ? layer->norm_params / one : 0;
    norm_plan p = {.before = norms < parts ? (int)norms : parts};
    p.is_parallel = norms == 1 && parts == 2 && !layer->has_cross && !layer->is_encoder;
    p.has_after = norms >= 2 * (int64_t)parts;
    if (norms == parts && has_norms_behind(l->model))
        p = (norm_plan){.is_behind = true, .has_after = true};
    p.left = layer->norm_params - one * (p.before + (p.has_after ? parts : 0));
    return p;
}

static int mixer(ridge__lower *l, int h)
{
    switch (l->layer->mixer.kind) {
    case RIDGE_MIXER_ATTENTION:
        return ridge__lower_attention(l, h, l->layer->mixer.is_cross ? l->memory : h,
                                      l->layer->mixer.is_cross);
    case RIDGE_MIXER_MLA:
        return l->layer->mixer.is_latent_only ? ridge__lower_latent(l, h)
                                              : ridge__lower_mla(l, h);
    case RIDGE_MIXER_DELTA:
        return ridge__lower_delta(l, h);
    case RIDGE_MIXER_LIGHTNING:
        return ridge__lower_lightning(l, h);
    case RIDGE_MIXER_SSM:
        return ridge__lower_ssm(l, h);
    case RIDGE_MIXER_CONV:
        return ridge__lower_convolution(l, h);
    case RIDGE_MIXER_NONE:
        break;
    }
    return h;
}

static int cross(ridge__lower *l, int h)
{
    l->stem = "cross_";
    const int y = ridge__lower_attention(l, h, l->memory, true);
    l->stem = "";
    return y;
}

typedef int part_fn(ridge__lower *l, int h);

/* One part of a layer with its norms and its addition to the stream. */
typedef struct part_step {
    part_fn *run;
    const char *norm, *after, *sum; /* names */
} part_step;

/* The parts that the layer has. @return how many; the last one's sum is x_out */
static int list_parts(const ridge__lower *l, part_step steps[3])
{
    static const part_step MIXER = {mixer, "h", "h_after", "x_mixed"};
    static const part_step CROSS = {cross, "h_cross", "h_cross_after", "x_crossed"};
    static const part_step FFN = {ridge__lower_ffn, "h_ffn", "h_ffn_after", "x_fed"};
    int n = 0;
    if (l->layer->mixer.kind != RIDGE_MIXER_NONE)
        steps[n++] = MIXER;
    if (l->layer->has_cross)
        steps[n++] = CROSS;
    if (l->layer->ffn.kind != RIDGE_FFN_NONE)
        steps[n++] = FFN;
    if (n > 0 && l->layer->per_layer_width == 0)
        steps[n - 1].sum = "x_out";
    return n;
}

static int norm_of_part(ridge__lower *l, const char *name, int x, bool has_weights)
{
    l->part = RIDGE_PART_NORM;
    return ridge__lower_norm(l, name, x, RIDGE__DIMS(l->dim_d),
                             has_weights ? l->vectors_per_norm : 0);
}

static int add(ridge__lower *l, const char *out, int a, int b)
{
    l->part = RIDGE_PART_NORM;
    return ridge__lower_function(l, out, RIDGE_FUNCTION_ADD, a, b);
}

/* x + mixer(h) + ffn(h) with one h. */
static int parallel_parts(ridge__lower *l, const part_step *steps, int x)
{
    const int h = norm_of_part(l, steps[0].norm, x, true);
    const int mixed = steps[0].run(l, h);
    const int fed = steps[1].run(l, h);
    return add(l, steps[1].sum, x, add(l, "parts", mixed, fed));
}

/* Gemma 4's embedding of each layer, taken from the stream. */
static int per_layer(ridge__lower *l, int x)
{
    if (l->layer->per_layer_width == 0)
        return x;
    const int width = ridge__lower_dim(l, "U", l->layer->per_layer_width);
    const ridge__map in = {.out = "per_layer_x",
                           .weight = "per_layer_in",
                           .in = RIDGE__DIMS(l->dim_d),
                           .to = RIDGE__DIMS(width)};
    const ridge__map gate = {.out = "per_layer_g",
                             .weight = "per_layer_gate",
                             .in = RIDGE__DIMS(l->dim_d),
                             .to = RIDGE__DIMS(width)};
    const ridge__map out = {.out = "per_layer_y",
                            .weight = "per_layer_out",
                            .in = RIDGE__DIMS(width),
                            .to = RIDGE__DIMS(l->dim_d)};
    l->part = RIDGE_PART_MLP;
    const int up = ridge__lower_map(l, x, &in);
    const int g = ridge__lower_map(l, x, &gate);
    const int act =
        ridge__lower_function(l, "per_layer_act", RIDGE_FUNCTION_GEGLU, g, up);
    return add(l, "x_out", x, ridge__lower_map(l, act, &out));
}

int ridge__lower_layer(ridge__lower *l, int x)
{
    part_step steps[3] = {{0}};
    const norm_plan norms = plan_norms(l);
    const int n = list_parts(l, steps);
    if (n == 0) /* a layer of nothing hands its input on */
        x = ridge__lower_function(l, "x_out", RIDGE_FUNCTION_COPY, x, -1);
    if (norms.is_parallel) {
        x = parallel_parts(l, steps, x);
    } else {
        for (int i = 0; i < n; i++) {
            const int h = norms.is_behind
                              ? x
                              : norm_of_part(l, steps[i].norm, x, i < norms.before);
            int y = steps[i].run(l, h);
            if (norms.has_after)
                y = norm_of_part(l, steps[i].after, y, true);
            x = add(l, steps[i].sum, x, y);
        }
    }
    if (n > 0)
        x = per_layer(l, x);
    ridge__lower_unread(l, "norm_rest", norms.left);
    ridge__lower_unread(l, "mixer_rest", l->layer->mixer.extra_params);
    return x;
}

/* ---- runs of layers -------------------------------------------------------------- */

/* Where lowering stands in the model. */
typedef struct progress {
    int x, source;                      /* streams of decoder and encoder */
    int64_t index;                      /* of the next layer */
    int n_blocks;                       /* of layers */
    int64_t seen[RIDGE_LAYER_KIND_MAX]; /* layers of each kind so far */
} progress;

static const char *format_name(ridge__lower *l, const char *stem, int64_t number)
{
    const char *name = ridge_sprintf(l->b.arena, "%s_%lld", stem, (long long)number);
    if (name == NULL) {
        ridge__builder_fail_nomem(&l->b);
        return stem;
    }
    return name;
}

/* Layers that share weights find them in the first block, by the name of their set. */
static void name_weights(ridge__lower *l, const char *block, int kind, int64_t set)
{
    const ridge_layer *layer = &l->model->layers[kind];
    l->weights_block = -1;
    l->prefix = "";
    if (l->model->n_runs > 1 || layer->weight_sets != layer->count) {
        const char *prefix = ridge_sprintf(l->b.arena, "%s.", block);
        if (prefix == NULL) {
            ridge__builder_fail_nomem(&l->b);
        } else {
            l->prefix = prefix;
        }
    }
    if (layer->weight_sets != layer->count) {
        l->weights_block = 0;
        l->shared_prefix =
            ridge_sprintf(l->b.arena, "set_%d_%lld.", kind, (long long)set);
        if (l->shared_prefix == NULL)
            ridge__builder_fail_nomem(&l->b);
    }
}

static void add_block(ridge__lower *l, progress *at, int kind, int64_t count,
                      int64_t set)
{
    const ridge_layer *layer = &l->model->layers[kind];
    const char *stem = layer->is_encoder && l->is_two_stacks ? "encoder" : "layer";
    const char *name =
        l->model->n_runs > 1 || at->n_blocks > 0 || layer->weight_sets != layer->count
            ? format_name(l, stem, at->index)
            : stem;
    int *stream = layer->is_encoder && l->is_two_stacks ? &at->source : &at->x;
    l->layer = layer;
    name_weights(l, name, kind, set);
    const ridge_block block = {.name = name,
                               .repeat = count,
                               .carry_in = *stream,
                               .layer = kind,
                               .forward_of = -1};
    const int b = ridge__builder_block(&l->b, &block);
    *stream = ridge__lower_layer(l, *stream);
    if (!ridge__builder_is_bad(&l->b))
        l->b.p.blocks[b].carry_out = *stream;
    at->index += count;
    at->n_blocks++;
}

/* Whether later layers borrow this layer's keys: then the last of its run stands alone,
 * as it is one of the block's repetitions that they read. */
static bool lends_keys(const ridge__lower *l, const ridge_layer *layer)
{
    bool has_borrowers = false;
    for (int i = 0; i < l->model->n_layers; i++)
        has_borrowers = has_borrowers || l->model->layers[i].mixer.has_shared_kv;
    return has_borrowers && !layer->mixer.has_shared_kv;
}

/* Layers from one run that share a block: all, those of one set of weights, or all but
 * the last. */
static int64_t piece_of(const ridge__lower *l, const progress *at, int kind,
                        int64_t left, int64_t *set)
{
    const ridge_layer *layer = &l->model->layers[kind];
    *set = 0;
    if (layer->weight_sets < 1 || layer->weight_sets >= layer->count)
        return left > 1 && lends_keys(l, layer) ? left - 1 : left;
    /* Layer i of a kind has set i sets / count. */
    *set = at->seen[kind] * layer->weight_sets / layer->count;
    const int64_t next = ridge_ceil_div((*set + 1) * layer->count, layer->weight_sets);
    return next - at->seen[kind] < left ? next - at->seen[kind] : left;
}

static void end_encoder(ridge__lower *l, progress *at)
{
    const ridge_block block = {.name = "encoder_end",
                               .repeat = 1,
                               .carry_in = -1,
                               .carry_out = -1,
                               .layer = -1,
                               .forward_of = -1};
    l->memory = at->source;
    if (l->model->final_norm_params == 0)
        return;
    ridge__builder_block(&l->b, &block);
    l->prefix = "";
    l->weights_block = -1;
    l->memory = ridge__lower_final_norm(l, "memory", at->source);
}

/* The tokens of a stack: the source's, or the decoder's. */
static void enter_stack(ridge__lower *l, bool is_source)
{
    l->tokens = is_source ? l->how.context_tokens : l->how.query_tokens;
    l->dim_t = ridge__lower_dim(l, is_source ? "S" : "T", l->tokens);
}

static void add_runs(ridge__lower *l, progress *at)
{
    bool is_in_source = false;
    for (int r = 0; r < l->model->n_runs && !ridge__builder_is_bad(&l->b); r++) {
        const int kind = l->model->runs[r].layer;
        const bool is_source = l->is_two_stacks && l->model->layers[kind].is_encoder;
        if (is_source && l->how.phase == RIDGE_PHASE_DECODE) {
            at->index += l->model->runs[r].count;
            continue;
        }
        if (is_in_source && !is_source)
            end_encoder(l, at);
        if (is_source != is_in_source)
            enter_stack(l, is_source);
        is_in_source = is_source;
        int64_t left = l->model->runs[r].count;
        while (left > 0 && !ridge__builder_is_bad(&l->b)) {
            int64_t set;
            const int64_t n = piece_of(l, at, kind, left, &set);
            add_block(l, at, kind, n, set);
            at->seen[kind] += n;
            left -= n;
        }
    }
}

/* ---- the whole ------------------------------------------------------------------- */

static ridge_status check_sizes(ridge_ctx *cx, const ridge_model *model,
                                const ridge_lowering *how)
{
    const int64_t sizes[] = {how->sequences, how->query_tokens, how->context_tokens};
    bool has_decoder = false;
    for (size_t i = 0; i < RIDGE_COUNT_OF(sizes); i++) {
        if (sizes[i] < 1 || sizes[i] > SIZE_MOST) {
            return ridge_fail(cx, RIDGE_E_ARG,
                              "%lld is no number of sequences or tokens: 1 to 10^9",
                              (long long)sizes[i]);
        }
    }
    for (int i = 0; i < model->n_layers; i++)
        has_decoder = has_decoder || !model->layers[i].is_encoder;
    if (how->phase == RIDGE_PHASE_DECODE && !has_decoder) {
        return ridge_fail(cx, RIDGE_E_ARG,
                          "%.60s is an encoder: it does not decode, use prefill",
                          model->name);
    }
    if (how->phase == RIDGE_PHASE_DECODE && how->query_tokens > how->context_tokens) {
        return ridge_fail(cx, RIDGE_E_ARG,
                          "the context holds the query's own tokens: at least %lld",
                          (long long)how->query_tokens);
    }
    return RIDGE_OK;
}

static bool has_two_stacks(const ridge_model *model)
{
    bool has_encoder = false, has_decoder = false;
    for (int i = 0; i < model->n_layers; i++) {
        has_encoder = has_encoder || model->layers[i].is_encoder;
        has_decoder = has_decoder || !model->layers[i].is_encoder;
    }
    return has_encoder && has_decoder;
}

/* Vectors of one norm: the final one's; without it, so that each part has one. */
static int vectors_per_norm(const ridge_model *model, bool is_two_stacks)
{
    int64_t vectors = model->final_norm_params / model->d_model;
    if (is_two_stacks)
        vectors /= 2;
    for (int i = 0; vectors == 0 && i < model->n_layers; i++) {
        const ridge_layer *layer = &model->layers[i];
        const int parts = count_parts(layer);
        if (parts > 0)
            vectors = layer->norm_params / model->d_model / parts;
    }
    return vectors > 2 ? 2 : (int)vectors;
}

static void open_block(ridge__lower *l, const char *name)
{
    const ridge_block block = {.name = name,
                               .repeat = 1,
                               .carry_in = -1,
                               .carry_out = -1,
                               .layer = -1,
                               .forward_of = -1};
    l->prefix = l->stem = "";
    l->weights_block = -1;
    ridge__builder_block(&l->b, &block);
}

/* What cross-attention meets when no encoder makes it: an image, from outside. */
static void add_memory(ridge__lower *l)
{
    bool is_wanted = false;
    for (int i = 0; i < l->model->n_layers; i++) {
        is_wanted = is_wanted || l->model->layers[i].mixer.is_cross ||
                    l->model->layers[i].has_cross;
    }
    if (!is_wanted || l->is_two_stacks || l->how.phase == RIDGE_PHASE_DECODE)
        return;
    const int s = ridge__lower_dim(l, "S", l->how.context_tokens);
    l->memory = ridge__lower_tensor(l, RIDGE_ROLE_INPUT, "memory", l->how.activation,
                                    RIDGE__DIMS(l->dim_b, s, l->dim_d));
}

static void lower_forward(ridge__lower *l)
{
    progress at = {.x = -1, .source = -1};
    l->dim_b = ridge__lower_dim(l, "B", l->how.sequences);
    enter_stack(l, false);
    l->dim_d = ridge__lower_dim(l, "D", l->model->d_model);
    l->dim_v = ridge__lower_dim(l, "V", l->model->vocab);
    open_block(l, "embed");
    ridge__lower_embed(l, l->is_two_stacks, &at.x, &at.source);
    add_memory(l);
    add_runs(l, &at);
    open_block(l, "head");
    ridge__lower_head(l, at.x);
}

ridge_lowering ridge_lowering_usual(const ridge_model *model, ridge_phase phase,
                                    int64_t sequences, int64_t tokens)
{
    const bool is_narrow =
        ridge_dtype_bytes(model->weight_dtype) < ridge_dtype_bytes(RIDGE_DTYPE_BF16);
    return (ridge_lowering){.phase = phase,
                            .sequences = sequences,
                            .query_tokens = phase == RIDGE_PHASE_DECODE ? 1 : tokens,
                            .context_tokens = tokens,
                            .weight = phase != RIDGE_PHASE_TRAIN && is_narrow
                                          ? model->weight_dtype
                                          : RIDGE_DTYPE_BF16,
                            .activation = RIDGE_DTYPE_BF16,
                            .cache = RIDGE_DTYPE_BF16};
}

ridge_status ridge_program_lower(ridge_ctx *cx, const ridge_model *model,
                                 const ridge_lowering *lowering,
                                 const ridge_program **out)
{
    RIDGE_TRY(check_sizes(cx, model, lowering));
    ridge__lower l = {.model = model,
                      .how = *lowering,
                      .prefix = "",
                      .stem = "",
                      .weights_block = -1,
                      .memory = -1,
                      .last_keys = {{-1, -1}, {-1, -1}},
                      .embedding_map = -1,
                      .is_two_stacks = has_two_stacks(model)};
    l.vectors_per_norm = vectors_per_norm(model, l.is_two_stacks);
    ridge__builder_open(&l.b, cx, model->name, lowering->phase);
    lower_forward(&l);
    if (lowering->phase == RIDGE_PHASE_TRAIN) {
        ridge__backward(&l.b);
        ridge__update(&l.b, lowering->update);
    }
    const ridge_status st = ridge__builder_finish(&l.b, out);
    if (st == RIDGE_E_ARG)
        ridge_ctx_note(cx, "%.60s", model->name);
    return st;
}
