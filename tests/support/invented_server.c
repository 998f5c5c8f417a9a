#include "invented_server.h"

#include <math.h>
#include <stddef.h>

/* ---- prices ---------------------------------------------------------------------- */

typedef struct source {
    ridge_ctx *cx;
    const invented_server *server;
} source;

static double ways(const ridge_serving_layout *l)
{
    return (double)(l->tp * l->attention_dp * l->pp);
}

static double cache_ways(const ridge_serving_layout *l)
{
    return (double)(l->tp * l->pp);
}

static double narrow(const ridge_serving_layout *l)
{
    return ridge_dtype_bytes(l->formats.weight) / 2;
}

static const char *fault(void *payload, const ridge_serving_layout *l)
{
    const source *s = payload;
    if (l->kv_cut != RIDGE_KV_CUT_HEADS || l->is_weight_gathered)
        return "the cache is cut by heads alone";
    if (l->ep > 1 && l->ep != l->tp * l->attention_dp)
        return "experts are dealt over all chips or none";
    return l->tp > s->server->tp_most ? "tp exceeds the heads" : NULL;
}

static ridge_status memory(void *payload, const ridge_serving_layout *l,
                           ridge_serving_memory *out)
{
    const invented_server *v = ((const source *)payload)->server;
    *out = (ridge_serving_memory){
        .weights = v->weight_bytes * narrow(l) / ways(l),
        .activations = v->budget_bytes * (double)l->budget_tokens,
        .total = v->hbm_bytes,
        .cache_bytes_per_token = v->token_bytes / cache_ways(l),
        .block_tokens = 16};
    out->cache = fmax(0, out->total - out->weights - out->activations);
    out->blocks = (int64_t)(out->cache / (out->cache_bytes_per_token * 16));
    out->fits = out->cache > 16 * out->cache_bytes_per_token;
    return RIDGE_OK;
}

/* Both ends of a line are enough for a table. */
static ridge_curve_table line(ridge_arena *arena, double at_0, double slope)
{
    double *x = ridge_new(arena, double, 4);
    assert_non_null(x);
    x[1] = 1;
    x[2] = at_0;
    x[3] = at_0 + slope;
    return (ridge_curve_table){2, x, x + 2};
}

/* slope times x times y */
static ridge_plane_table product(ridge_arena *arena, double slope, double slope_x2)
{
    double *x = ridge_new(arena, double, 8);
    assert_non_null(x);
    x[1] = 1;
    x[3] = 1;
    x[6] = slope_x2; /* at x 1, y 0 */
    x[7] = slope_x2 + slope;
    return (ridge_plane_table){2, 2, x, x + 2, x + 4};
}

static ridge_status speed(void *payload, const ridge_serving_layout *l,
                          ridge_serving_speed *out)
{
    const source *s = payload;
    const invented_server *v = s->server;
    ridge_arena *arena = ridge_ctx_arena(s->cx);
    const double hops = v->hop_s * log2((double)l->tp * (double)l->attention_dp);
    *out = (ridge_serving_speed){
        .rows =
            line(arena, v->weights_s * narrow(l) / ways(l) + hops, v->row_s / ways(l)),
        .head = line(arena, 0, v->row_s / ways(l)),
        .n_caches = 1,
        .host_s = v->host_s,
        .attention_ranks = l->attention_dp,
        .stages = l->pp,
        .block_tokens = 16,
        .block_bytes = 16 * v->token_bytes,
        .transfer_bytes_per_s = v->send_bytes_per_s,
        .transfer_s = 1e-4};
    out->draft = (ridge_serving_draft){.verified = l->draft.nodes + 1,
                                       .draft = line(arena, 1e-4, 0)};
    out->caches[0] =
        (ridge_serving_cache){.decode = product(arena, v->read_s / cache_ways(l), 0),
                              .prefill = product(arena, v->score_s / cache_ways(l), 0)};
    return RIDGE_OK;
}

static ridge_status step(void *payload, const ridge_serving_layout *l,
                         const ridge_serving_load *load, ridge_serving_step *out)
{
    const source *s = payload;
    ridge_serving_speed made;
    const ridge_mark mark = ridge_arena_mark(ridge_ctx_arena(s->cx));
    RIDGE_TRY(speed(payload, l, &made));
    const double all_s = service_speed_iteration_s(&made, load);
    *out = (ridge_serving_step){.expected_s = all_s, .bound_s = all_s / 2};
    out->parts_s[RIDGE_SERVING_PART_DENSE] = all_s;
    ridge_arena_rewind(ridge_ctx_arena(s->cx), mark);
    return RIDGE_OK;
}

ridge_status invented_source_open(ridge_ctx *cx, const ridge_service_request *request,
                                  service_source *out)
{
    const char *at = (const char *)request->engine;
    const invented_problem *p =
        (const invented_problem *)(const void *)(at -
                                                 offsetof(invented_problem, engine));
    source *s = ridge_new(ridge_ctx_arena(cx), source, 1);
    if (s == NULL)
        return ridge_fail_nomem(cx);
    *s = (source){cx, &p->server};
    *out = (service_source){s, fault, memory, step, speed};
    return RIDGE_OK;
}

/* ---- problems -------------------------------------------------------------------- */

static invented_server draw_server(dice *d)
{
    return (invented_server){.weights_s = dice_between(d, 1e-3, 40e-3),
                             .row_s = dice_between(d, 1e-6, 100e-6),
                             .read_s = dice_between(d, 1e-8, 1e-6),
                             .score_s = dice_between(d, 1e-10, 1e-8),
                             .hop_s = dice_between(d, 1e-5, 2e-3),
                             .host_s = dice_between(d, 0, 2e-3),
                             .weight_bytes = dice_between(d, 0.5e9, 20e9),
                             .hbm_bytes = 16e9,
                             .token_bytes = dice_between(d, 1e4, 1e6),
                             .budget_bytes = dice_between(d, 1e3, 1e5),
                             .send_bytes_per_s = dice_between(d, 1e8, 1e11),
                             .tp_most = (int64_t)1 << dice_roll(d, 0, 4)};
}

static ridge_engine draw_engine(dice *d)
{
    ridge_engine e = {.name = "invented",
                      .batching = (ridge_engine_batching)dice_roll(d, 0, 2),
                      .is_chunked = dice_roll(d, 0, 1) == 1,
                      .block_tokens = 16,
                      .budget_tokens = dice_roll(d, 1, 8) * 1024,
                      .sequences = 256,
                      .request_s = 5e-3};
    if (dice_roll(d, 0, 3) == 0)
        e.preemption = RIDGE_PREEMPTION_RESERVE;
    return e;
}

/* Goals near what the machine can do, so that they count. */
static void draw_goals(dice *d, const invented_server *v, ridge_service_request *r)
{
    const double unit_s = v->weights_s + v->host_s;
    r->goals = ridge_service_goals_none();
    if (dice_roll(d, 0, 1) == 1)
        r->goals.most_s[RIDGE_SERVICE_TPOT] = unit_s * dice_between(d, 0.2, 4);
    if (dice_roll(d, 0, 1) == 1)
        r->goals.most_s[RIDGE_SERVICE_TTFT] =
            r->work.prompt_tokens * v->row_s * dice_between(d, 0.3, 4) + unit_s;
    if (dice_roll(d, 0, 3) == 0)
        r->goals.most_s[RIDGE_SERVICE_E2E] =
            unit_s * r->work.output_tokens * dice_between(d, 0.3, 4);
    if (dice_roll(d, 0, 2) == 0)
        r->goals.quantile = dice_between(d, 0.5, 0.99);
}

void invented_problem_open(ridge_ctx *cx, uint64_t seed, invented_problem *p)
{
    static const int64_t sizes[] = {1, 2, 3, 4, 6, 8};
    dice d = dice_of(seed);
    *p = (invented_problem){.cx = cx};
    p->server = draw_server(&d);
    p->engine = draw_engine(&d);
    p->slice = *train_slice(cx, "v5e:2x4");
    p->chip = *p->slice.chip;
    p->slice.chip = &p->chip;
    p->slice.chips = sizes[dice_roll(&d, 0, 5)];
    p->request = (ridge_service_request){
        .model = dice_roll(&d, 0, 2) == 0 ? train_moe_model(cx) : train_dense_model(cx),
        .slice = &p->slice,
        .engine = &p->engine,
        .aim = dice_roll(&d, 0, 2) == 0 ? RIDGE_SERVICE_AIM_LATENCY
                                        : RIDGE_SERVICE_AIM_THROUGHPUT,
        .usd_per_chip_hour = 2,
        .top = 3};
    p->request.work =
        (ridge_service_work){.prompt_tokens = (double)dice_roll(&d, 16, 6000),
                             .output_tokens = (double)dice_roll(&d, 1, 600)};
    draw_goals(&d, &p->server, &p->request);
    if (dice_roll(&d, 0, 2) == 0) {
        p->request.requests_per_s = dice_between(&d, 0.05, 4) *
                                    dice_between(&d, 0.05, 4) / p->server.weights_s /
                                    p->request.work.output_tokens;
        p->request.aim = dice_roll(&d, 0, 2) == 0 ? RIDGE_SERVICE_AIM_LATENCY
                                                  : RIDGE_SERVICE_AIM_CHIPS;
    }
    p->request.knobs = ridge_service_knobs_free();
    p->request.knobs.mode = (ridge_service_mode)dice_roll(&d, 0, 2);
    if (p->request.work.output_tokens <= 1)
        p->request.knobs.mode = RIDGE_SERVICE_MODE_AGGREGATED;
    p->request.knobs.n_formats = 1;
    p->request.knobs.formats[0] =
        (ridge_serving_formats){.weight = RIDGE_DTYPE_BF16, .cache = RIDGE_DTYPE_BF16};
}
