/*
 * The plain rooflines of a deployment's servers. Symbols: n chips of C FLOP/s and W
 * bytes/s of HBM; P parameters that multiply, of w bytes; B sequences of kv bytes; D
 * and F the widths of the layers that most are; Y ways of tp over axes of W_net
 * bytes/s.
 */
#include "ridge/plan_service_rooflines.h"

#include "ridge/plan.h"
#include "serving_bench.h"

#include <math.h>

#define TOPIC_KEY(name, key, title)   key,
#define TOPIC_TITLE(name, key, title) title,

const char *ridge_roofline_topic_key(ridge_roofline_topic topic)
{
    static const char *const keys[] = {RIDGE_ROOFLINE_TOPIC_LIST(TOPIC_KEY)};
    return keys[topic];
}

const char *ridge_roofline_topic_title(ridge_roofline_topic topic)
{
    static const char *const titles[] = {RIDGE_ROOFLINE_TOPIC_LIST(TOPIC_TITLE)};
    return titles[topic];
}

#define ROW(topic, name, key, formula, what)                                           \
    {RIDGE_ROOFLINE_TOPIC_##topic, key, formula, what},

const ridge_service_roofline_row *
ridge_service_roofline_find(ridge_service_roofline which)
{
    static const ridge_service_roofline_row rows[] = {RIDGE_SERVICE_ROOFLINE_LIST(ROW)};
    _Static_assert(RIDGE_COUNT_OF(rows) == RIDGE_SERVICE_ROOFLINE_COUNT,
                   "one row per enum value");
    return &rows[which];
}

/* ---- what they are made of ------------------------------------------------------- */

typedef struct study {
    const ridge_service_request *request;
    const ridge_model *model;
    const ridge_chip *chip;
    const ridge_service_pool *prefill, *decode; /* may be the same */
    const ridge_layer *layer;                   /* of the kind that most are */
    const ridge_mixer *attention; /* of most layers that attend; or NULL */
    double element;               /* a, bytes of an activation */
    double hop_s;
    double one_way_bytes_per_s;
    ridge_stationary_axes stationary;
    ridge_service_rooflines *out;
} study;

#define SET(s, name, value) set((s)->out, RIDGE_SERVICE_ROOFLINE_##name, value)

static void set(ridge_service_rooflines *out, ridge_service_roofline which, double v)
{
    out->applies[which] = true;
    out->values[which] = v;
}

static bool attends(const ridge_mixer *m)
{
    return m->kind == RIDGE_MIXER_ATTENTION || m->kind == RIDGE_MIXER_MLA;
}

static void find_layers(study *s)
{
    int64_t most = 0, most_attend = 0;
    for (int i = 0; i < s->model->n_layers; i++) {
        const ridge_layer *l = &s->model->layers[i];
        if (!l->is_encoder && l->ffn.kind != RIDGE_FFN_NONE && l->count > most) {
            most = l->count;
            s->layer = l;
        }
        if (!l->is_encoder && attends(&l->mixer) && l->count > most_attend) {
            most_attend = l->count;
            s->attention = &l->mixer;
        }
    }
}

/* A mixture's width is that of the experts of one token together. */
static void set_widths(study *s)
{
    ridge_service_rooflines *o = s->out;
    o->d_model = (double)s->model->d_model;
    if (s->layer == NULL)
        return;
    const ridge_ffn *f = &s->layer->ffn;
    o->is_dense = f->kind == RIDGE_FFN_DENSE;
    o->d_ff =
        (double)(o->is_dense ? f->d_ff
                             : f->expert_d_ff * f->experts_per_token + f->shared_d_ff);
}

/* Torus axes count one by one, each with both directions of its ring; switched levels
 * are as fast as the slowest one, which the chips of an inner one share. */
static void add_span(study *s, const ridge_span *span, double inner)
{
    ridge_service_rooflines *o = s->out;
    const ridge_slice *slice = s->request->slice;
    const ridge_axis *a = &slice->axes[span->axis];
    const bool is_torus = a->kind == RIDGE_AXIS_TORUS;
    const bool is_ring = is_torus && ridge_span_has_wraparound(slice, span);
    const double rate = a->bytes_per_s * (is_ring ? 2 : 1) * (is_torus ? 1 : inner);
    o->axes += is_torus || o->axes < 1 ? 1 : 0;
    if (o->axis_bytes_per_s <= 0 || rate < o->axis_bytes_per_s)
        o->axis_bytes_per_s = rate;
    s->hop_s = fmax(s->hop_s, a->latency_s);
    s->one_way_bytes_per_s = a->bytes_per_s;
}

/* What tp lies on; of a server without tp what it could lie on: the axes of a torus, or
 * the innermost level. */
static void set_network(study *s)
{
    const ridge_slice *slice = s->request->slice;
    const ridge_serving_layout *l = &s->decode->layout;
    serving_groups groups;
    double inner = 1;
    if (l->tp > 1 && serving_groups_place(slice, l, 1, &groups)) {
        for (int i = 0; i < groups.tp.n_spans; i++) {
            add_span(s, &groups.tp.spans[i], inner);
            inner *= (double)groups.tp.spans[i].size;
        }
    }
    for (int i = 0; l->tp == 1 && i < slice->n_axes; i++) {
        const bool is_near = i == 0 || slice->axes[i].kind == RIDGE_AXIS_TORUS;
        const ridge_span span = {.axis = i, .size = slice->axes[i].size, .stride = 1};
        if (is_near && span.size > 1)
            add_span(s, &span, 1);
    }
    s->stationary = (ridge_stationary_axes){s->out->axes, fmax(1, s->out->axes - 1)};
}

static double context_of(const ridge_service_work *w)
{
    return w->context_tokens > 0 ? w->context_tokens
                                 : w->prompt_tokens + w->output_tokens / 2;
}

static ridge_roofline_service service_of(const study *s, const ridge_service_pool *pool)
{
    ridge_roofline_service service =
        ridge_roofline_service_of(s->model, s->request->slice, &pool->layout.formats,
                                  context_of(&s->request->work));
    service.chips = (double)ridge_serving_layout_chips(&pool->layout);
    return service;
}

/* ---- scores ---------------------------------------------------------------------- */

/* Of a sequence of so many tokens, its causal half. */
static double scores_of(const ridge_model *model, double tokens)
{
    double flops = 0;
    for (int i = 0; tokens > 0 && i < model->n_layers; i++) {
        const ridge_layer *l = &model->layers[i];
        if (!l->is_encoder)
            flops +=
                (double)l->count * tokens * ridge_layer_scores_flops(l, tokens, true);
    }
    return flops;
}

/* Each of n tokens computes the scores of all before it anew: the sum over 1..n, by
 * Simpson's rule and half of the last; exact where no window ends. */
static double scores_uncached(const ridge_model *model, double tokens)
{
    enum { PANELS = 256 };
    const double step = tokens / PANELS;
    double sum = 0;
    for (int i = 0; i <= PANELS; i++) {
        const double weight = i == 0 || i == PANELS ? 1 : i % 2 == 1 ? 4 : 2;
        sum += weight * scores_of(model, i * step);
    }
    return sum * step / 3 + scores_of(model, tokens) / 2;
}

/* ---- topics ---------------------------------------------------------------------- */

/* FLOPs of a decoding query's scores for each byte of cache: heads share a read. */
static double decode_intensity(const ridge_mixer *m, double cache_bytes)
{
    if (m->kind == RIDGE_MIXER_ATTENTION)
        return 2 * (double)m->heads / ((double)m->kv_heads * cache_bytes);
    const double latent = (double)m->kv_lora_rank;
    const double entry = latent + (double)m->rope_head_dim;
    return 2 * (double)m->heads * (entry + latent) / (entry * cache_bytes);
}

static void add_critical(study *s, const ridge_serving_formats *f)
{
    const ridge_ffn *ffn = s->layer == NULL ? NULL : &s->layer->ffn;
    SET(s, GENERATION_CRITICAL,
        ridge_roofline_batch_critical(ridge_chip_peak(s->chip, f->compute, NULL),
                                      s->chip->hbm_bytes_per_s,
                                      ridge_dtype_bytes(f->weight)));
    if (ffn != NULL && ffn->kind == RIDGE_FFN_MOE)
        SET(s, GENERATION_CRITICAL_EXPERTS,
            (double)ffn->experts / (double)ffn->experts_per_token *
                ridge_roofline_batch_critical(
                    ridge_chip_peak(s->chip, f->expert_compute, NULL),
                    s->chip->hbm_bytes_per_s, ridge_dtype_bytes(f->expert)));
}

static void add_generation(study *s)
{
    const ridge_serving_formats *f = &s->decode->layout.formats;
    const ridge_roofline_service *v = &s->out->service;
    const ridge_decode_roofline d = ridge_roofline_decode(v, s->out->sequences);
    SET(s, GENERATION_CACHE, d.kv_load_s);
    SET(s, GENERATION_LOAD, d.weight_load_s);
    SET(s, GENERATION_FLOPS, d.flops_s);
    SET(s, GENERATION_STEP, d.step_s);
    SET(s, GENERATION_RATE, d.tokens_per_s_per_chip);
    SET(s, GENERATION_FULL, ridge_roofline_full_step(v->hbm_bytes, v->hbm_bytes_per_s));
    add_critical(s, f);
    SET(s, GENERATION_CROSSOVER, ridge_roofline_batch_crossover(v));
    SET(s, GENERATION_MOST, ridge_roofline_batch_most(v));
    SET(s, GENERATION_CHIPS, ridge_roofline_chips_least(d.total_bytes, v->hbm_bytes));
    if (s->attention != NULL)
        SET(s, GENERATION_INTENSITY,
            decode_intensity(s->attention, ridge_dtype_bytes(f->cache)));
}

/* @return seconds of a prompt at peak rates */
static double add_prompt(study *s)
{
    const ridge_service_work *w = &s->request->work;
    const ridge_serving_formats *f = &s->prefill->layout.formats;
    const ridge_roofline_service v = service_of(s, s->prefill);
    const double left = w->prompt_tokens - w->cached_tokens;
    const double scores =
        scores_of(s->model, w->prompt_tokens) - scores_of(s->model, w->cached_tokens);
    const double seconds = ridge_roofline_prefill(&v, left, scores, 1);
    SET(s, PROMPT_LINEAR, 2 * v.active_params * left);
    SET(s, PROMPT_SCORES, scores);
    SET(s, PROMPT_PREFILL, seconds);
    SET(s, PROMPT_OVER,
        left / s->out->values[RIDGE_SERVICE_ROOFLINE_GENERATION_CRITICAL]);
    if (s->attention != NULL && s->attention->kind == RIDGE_MIXER_ATTENTION) {
        const double heads = (double)s->attention->heads;
        const double pairs = heads + (double)s->attention->kv_heads;
        SET(s, PROMPT_LONG,
            ridge_chip_peak(s->chip, f->attention, NULL) / s->chip->hbm_bytes_per_s *
                s->element * pairs / (2 * heads));
    }
    SET(s, PROMPT_SHARE,
        ridge_roofline_prefix_share(w->prompt_tokens, w->cached_tokens));
    SET(s, PROMPT_SAVED, 2 * v.active_params * w->cached_tokens);
    return seconds;
}

static void add_sampling(study *s)
{
    const ridge_service_work *w = &s->request->work;
    const double tokens = w->prompt_tokens + w->output_tokens;
    const double each = 2 * s->out->service.active_params;
    const double linear = ridge_roofline_sampling(each, 0, tokens, true).linear;
    const double naive = ridge_roofline_sampling(each, 0, tokens, false).linear;
    const double scores = scores_of(s->model, tokens);
    const double naive_scores = scores_uncached(s->model, tokens);
    SET(s, SAMPLING_LINEAR, linear);
    SET(s, SAMPLING_SCORES, scores);
    SET(s, SAMPLING_NAIVE_LINEAR, naive);
    SET(s, SAMPLING_NAIVE_SCORES, naive_scores);
    SET(s, SAMPLING_GAIN, (naive + naive_scores) / (linear + scores));
}

static void add_flow(study *s, double prefill_s)
{
    const ridge_service_work *w = &s->request->work;
    const double b = s->out->sequences;
    const double step_s = s->out->values[RIDGE_SERVICE_ROOFLINE_GENERATION_STEP];
    const ridge_churn churn =
        ridge_roofline_churn(b, w->prompt_tokens, w->output_tokens);
    SET(s, FLOW_REQUESTS,
        ridge_roofline_requests_per_s(b, step_s, w->output_tokens) /
            s->out->service.chips);
    SET(s, FLOW_SERVERS,
        ridge_roofline_prefill_ratio(prefill_s, b, step_s, w->output_tokens));
    SET(s, FLOW_ENDING, churn.sequences_per_step);
    SET(s, FLOW_EVICTED, churn.tokens_per_step);
}

/* C of the feed-forward of most layers. */
static double layer_peak(const study *s)
{
    const ridge_serving_formats *f = &s->decode->layout.formats;
    return ridge_chip_peak(s->chip, s->out->is_dense ? f->compute : f->expert_compute,
                           NULL);
}

/* One product of a dense feed-forward in a step. */
static void add_product(study *s, double row_bytes)
{
    const ridge_service_rooflines *o = s->out;
    const double tp = (double)o->tp;
    const double params = o->d_model * o->d_ff;
    const double weight = ridge_dtype_bytes(s->decode->layout.formats.weight);
    SET(s, TP_WEIGHTS, params * weight / (tp * o->service.hbm_bytes_per_s));
    SET(s, TP_MATH, 2 * o->batch_tokens * params / (tp * layer_peak(s)));
    if (o->axis_bytes_per_s <= 0)
        return;
    SET(s, TP_MEMORY,
        weight / s->element * o->axes *
            ridge_roofline_tp_memory(o->d_ff, o->batch_tokens,
                                     o->service.hbm_bytes_per_s / o->axis_bytes_per_s));
    if (o->tp > 1)
        SET(s, TP_NETWORK, row_bytes / (o->axes * o->axis_bytes_per_s));
}

static void add_tp(study *s)
{
    const ridge_service_rooflines *o = s->out;
    const double row_bytes = o->batch_tokens * o->d_model * s->element;
    const double net = o->axis_bytes_per_s;
    if (s->attention != NULL && s->attention->kind == RIDGE_MIXER_ATTENTION)
        SET(s, TP_HEADS, (double)s->attention->kv_heads);
    if (o->is_dense)
        add_product(s, row_bytes);
    if (net <= 0)
        return;
    SET(s, TP_COMPUTE,
        2 / s->element * ridge_threshold_tp(layer_peak(s) / net, o->axes, o->d_ff));
    if (s->hop_s > 0)
        SET(s, TP_HOPS,
            ridge_roofline_tp_latency(row_bytes, s->one_way_bytes_per_s, s->hop_s));
}

static double layer_bytes(const study *s)
{
    const ridge_params p = ridge_model_params(s->model);
    const ridge_serving_formats *f = &s->decode->layout.formats;
    const double dense = ridge_dtype_bytes(f->weight);
    const double experts = (double)p.experts * ridge_dtype_bytes(f->expert);
    const double all = (double)(p.total - p.experts) * dense + experts;
    const double layers = (double)(p.attention + p.mlp) * dense + experts;
    return s->out->service.weight_bytes / all * layers / (double)s->model->layer_count;
}

static void add_weights(study *s)
{
    const ridge_service_rooflines *o = s->out;
    const double net = o->axis_bytes_per_s;
    const double row = 4 * s->element * o->d_model;
    SET(s, WEIGHTS_GATHER_FROM, layer_bytes(s) / row);
    if (net <= 0)
        return;
    const double prompt = s->request->work.prompt_tokens;
    SET(s, WEIGHTS_STATIONARY, row * prompt / (o->axes * net));
    SET(s, WEIGHTS_GATHERED, layer_bytes(s) / (o->axes * net));
    if (!o->is_dense || o->tp == 1)
        return;
    const ridge_stationary_2d two =
        ridge_roofline_stationary_on(&s->stationary, (double)o->tp, o->d_model, o->d_ff,
                                     s->element * o->batch_tokens / net);
    SET(s, WEIGHTS_FROM,
        ridge_roofline_stationary_on_from(&s->stationary, o->d_model, o->d_ff));
    SET(s, WEIGHTS_D_WAYS, two.x);
    SET(s, WEIGHTS_TWO, two.time_s);
    SET(s, WEIGHTS_ONE, two.time_1d_s);
}

void ridge_service_rooflines_find(const ridge_service_request *request,
                                  const ridge_service_choice *choice,
                                  ridge_service_rooflines *out)
{
    study s = {.request = request,
               .model = request->model,
               .chip = request->slice->chip,
               .prefill = &choice->pools[0],
               .decode = &choice->pools[choice->n_pools - 1],
               .out = out};
    const ridge_serving_layout *l = &s.decode->layout;
    *out =
        (ridge_service_rooflines){.tp = l->tp, .context = context_of(&request->work)};
    s.element = ridge_dtype_bytes(l->formats.activation);
    find_layers(&s);
    set_widths(&s);
    set_network(&s);
    out->service = service_of(&s, s.decode);
    out->batch_tokens = fmax(1, s.decode->batch * serving_verified_rows(&l->draft));
    out->sequences = fmax(1, s.decode->batch) * (double)(l->attention_dp * l->pp);
    add_generation(&s);
    const double prefill_s = add_prompt(&s);
    add_sampling(&s);
    add_flow(&s, prefill_s);
    if (out->d_ff > 0) {
        add_tp(&s);
        add_weights(&s);
    }
}
