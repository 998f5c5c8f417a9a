/* Prices as tables, made once for all layouts that share them. */
#include "serving_curve.h"
#include "serving_knots.h"
#include "serving_weights.h"

#include <math.h>
#include <string.h>

/* Halvings between two powers of two of contexts. */
enum { CONTEXT_DEPTH = 4 };

/* What the key of planes has where: degrees are tp, then verified rows. */
enum { KEY_SCORES, KEY_DEGREES, KEY_CACHE, KEY_WINDOW, KEY_PLACE, KEY_SEQUENCES };

/* Of the key's word on the cache. */
enum { KEY_STATE = 1, KEY_GATHERED = 2 };

/* Where planes are looked at beside their far ends. */
enum { FEW_ROWS = 64 };

/* ---- planes ---------------------------------------------------------------------- */

/* Layers of a class of caches together. */
typedef struct plane_work {
    const serving_bench *b;
    double window; /* of the class; 0: the whole context */
    bool is_state;
} plane_work;

static bool is_of_class(const plane_work *w, const serving_mixer *m)
{
    return serving_mixer_is_state(m) == w->is_state &&
           (w->is_state || m->class_window == w->window);
}

static double decode_s(const plane_work *w, double sequences, double met)
{
    double s = 0;
    for (int i = 0; i < w->b->cut->n_mixers; i++) {
        const serving_mixer *m = &w->b->cut->mixers[i];
        if (!is_of_class(w, m))
            continue;
        const serving_scores d = serving_decode_price(w->b, m, sequences, met);
        s += d.s + d.exchange_s;
    }
    return s;
}

static double chunk_s(const plane_work *w, double tokens, double before)
{
    double s = 0;
    for (int i = 0; i < w->b->cut->n_mixers; i++) {
        const serving_mixer *m = &w->b->cut->mixers[i];
        if (is_of_class(w, m))
            s += serving_chunk_price(w->b, m, tokens, before).s;
    }
    return s;
}

typedef double plane_fn(const plane_work *w, double x, double y);

/* Where one side of a plane is looked at to choose its knots: at two places of the
 * other, each as a share of what it is in the middle. */
typedef struct plane_slice {
    const plane_work *w;
    plane_fn *f;
    bool is_along_y;
    double at[2], whole[2];
} plane_slice;

static double slice_at(const plane_slice *s, int i, double at)
{
    return s->is_along_y ? s->f(s->w, s->at[i], at) : s->f(s->w, at, s->at[i]);
}

static double slice_share(const void *payload, double at)
{
    const plane_slice *s = payload;
    return slice_at(s, 0, at) / s->whole[0] + slice_at(s, 1, at) / s->whole[1];
}

static plane_slice slice_of(const plane_work *w, plane_fn *f, bool is_along_y,
                            double first, double second, double middle)
{
    plane_slice s = {w, f, is_along_y, {first, second}, {1, 1}};
    for (int i = 0; i < 2; i++) {
        const double whole = slice_at(&s, i, middle);
        s.whole[i] = whole > 0 ? whole : 1;
    }
    return s;
}

static bool plane_build(const plane_work *w, plane_fn *f, double x_most, double y_least,
                        double y_most, ridge_plane_table *out)
{
    const double x_middle = ceil(x_most / 2);
    const double y_middle = floor((y_least + y_most) / 2);
    const plane_slice along_x = slice_of(w, f, false, y_middle, y_most, x_middle);
    const plane_slice along_y =
        slice_of(w, f, true, fmin(x_most, FEW_ROWS), x_most, y_middle);
    serving_knots kx = {
        .payload = &along_x, .f = slice_share, .depth = SERVING_ROW_DEPTH};
    serving_knots ky = {.payload = &along_y, .f = slice_share, .depth = CONTEXT_DEPTH};
    serving_knots_find(&kx, 1, x_most);
    serving_knots_find(&ky, y_least, y_most);
    const size_t n = (size_t)kx.n * (size_t)ky.n;
    double *z = ridge_new(ridge_ctx_arena(w->b->desk->cx), double, n);
    *out = (ridge_plane_table){kx.n, ky.n, serving_curve_copy(w->b->desk, kx.x, kx.n),
                               serving_curve_copy(w->b->desk, ky.x, ky.n), z};
    if (out->x == NULL || out->y == NULL || z == NULL)
        return false;
    for (int i = 0; i < kx.n; i++) {
        for (int j = 0; j < ky.n; j++)
            z[(size_t)i * (size_t)ky.n + (size_t)j] = f(w, kx.x[i], ky.x[j]);
    }
    return true;
}

/* The next power of two: layouts of other batches share tables. */
static double rounded_up(double x)
{
    double p = 1;
    while (p < x)
        p *= 2;
    return p;
}

/* Prompts are cut over neither sequences nor tokens, and know of no drafts. */
static serving_key prompts_key(const serving_key *of)
{
    serving_key key = *of;
    key.of[KEY_DEGREES] = of->of[KEY_DEGREES] >> 32;
    key.of[KEY_CACHE] = of->of[KEY_CACHE] & (KEY_GATHERED | KEY_STATE);
    key.of[KEY_PLACE] = key.of[KEY_SEQUENCES] = 0;
    return key;
}

/* Tables of the same prompts. */
static const serving_planes *same_prompts(const ridge_serving_desk *desk,
                                          const serving_key *key)
{
    const serving_key wanted = prompts_key(key);
    for (int i = 0; i < desk->n_planes; i++) {
        const serving_key other = prompts_key(&desk->planes[i].key);
        if (memcmp(&other, &wanted, sizeof other) == 0)
            return &desk->planes[i];
    }
    return NULL;
}

static bool planes_build(const plane_work *w, double sequences, double chunk,
                         serving_planes *out)
{
    const double longest = w->b->desk->about.longest_tokens;
    const double met = w->window > 0 ? fmin(w->window, longest) : longest;
    const serving_planes *same = same_prompts(w->b->desk, &out->key);
    if (!plane_build(w, decode_s, sequences, 1, w->is_state ? 1 : met, &out->decode))
        return false;
    if (same != NULL) {
        out->prefill = same->prefill;
        return true;
    }
    return plane_build(w, chunk_s, chunk, 0, w->is_state ? 0 : longest, &out->prefill);
}

static serving_key planes_key(const plane_work *w, double sequences, double chunk)
{
    const ridge_serving_layout *l = w->b->layout;
    const bool is_cut = l->kv_cut != RIDGE_KV_CUT_HEADS;
    return (serving_key){
        .of = {[KEY_SCORES] = w->b->scores_key,
               [KEY_DEGREES] = l->tp << 32 | (int64_t)w->b->verified,
               [KEY_CACHE] = (int64_t)l->kv_cut << 2 |
                             (l->is_weight_gathered ? KEY_GATHERED : 0) |
                             (w->is_state ? KEY_STATE : 0),
               [KEY_WINDOW] = (int64_t)w->window,
               [KEY_PLACE] =
                   is_cut ? l->pp << 32 | l->attention_dp << 8 | l->placement : 0,
               [KEY_SEQUENCES] = (int64_t)sequences},
        .at = {chunk}};
}

static bool planes_grow(ridge_serving_desk *desk)
{
    if (desk->n_planes < desk->cap_planes)
        return true;
    const int cap = desk->cap_planes == 0 ? 64 : 2 * desk->cap_planes;
    serving_planes *more =
        ridge_new(ridge_ctx_arena(desk->cx), serving_planes, (size_t)cap);
    if (more == NULL)
        return false;
    if (desk->n_planes > 0)
        memcpy(more, desk->planes, (size_t)desk->n_planes * sizeof *more);
    desk->planes = more;
    desk->cap_planes = cap;
    return true;
}

static const serving_planes *planes_of(const plane_work *w)
{
    ridge_serving_desk *desk = w->b->desk;
    const double sequences =
        rounded_up(ceil((double)w->b->layout->sequences / w->b->ranks));
    const double chunk = fmin(rounded_up((double)w->b->layout->budget_tokens),
                              rounded_up(desk->about.longest_tokens));
    const serving_key key = planes_key(w, sequences, chunk);
    for (int i = 0; i < desk->n_planes; i++) {
        if (memcmp(&desk->planes[i].key, &key, sizeof key) == 0)
            return &desk->planes[i];
    }
    if (!planes_grow(desk))
        return NULL;
    serving_planes *p = &desk->planes[desk->n_planes];
    p->key = key;
    if (!planes_build(w, sequences, chunk, p))
        return NULL;
    desk->n_planes++;
    return p;
}

static bool class_build(const plane_work *w, ridge_serving_cache *out)
{
    const serving_planes *p = planes_of(w);
    if (p == NULL)
        return false;
    out->window_tokens = w->window;
    out->decode = p->decode;
    out->prefill = p->prefill;
    return true;
}

/* ---- classes --------------------------------------------------------------------- */

static void add_kept(const serving_bench *b, const plane_work *w,
                     ridge_serving_cache *out)
{
    for (int i = 0; i < b->cut->n_mixers; i++) {
        const serving_mixer *m = &b->cut->mixers[i];
        if (!is_of_class(w, m))
            continue;
        const serving_kept kept =
            serving_layer_kept(b, (int)(m->layer - b->desk->compact->layers));
        if (!w->is_state)
            out->bytes_per_token += m->count * kept.token_bytes;
        out->state_bytes += m->count * kept.state_bytes;
    }
}

static bool add_class(const serving_bench *b, const plane_work *w,
                      ridge_serving_speed *out)
{
    if (out->n_caches == RIDGE_SERVING_CACHE_MAX)
        return true;
    plane_work work = *w;
    ridge_serving_cache *cache = &out->caches[out->n_caches++];
    *cache = (ridge_serving_cache){0};
    add_kept(b, &work, cache);
    return class_build(&work, cache);
}

/* Whether an earlier mixer is of the same class. */
static bool is_met(const serving_bench *b, int i, const plane_work *w)
{
    for (int j = 0; j < i; j++) {
        if (is_of_class(w, &b->cut->mixers[j]))
            return true;
    }
    return false;
}

static bool caches_build(const serving_bench *b, ridge_serving_speed *out)
{
    for (int i = 0; i < b->cut->n_mixers; i++) {
        const serving_mixer *m = &b->cut->mixers[i];
        const plane_work w = {.b = b,
                              .is_state = serving_mixer_is_state(m),
                              .window =
                                  serving_mixer_is_state(m) ? 0 : m->class_window};
        if (!is_met(b, i, &w) && !add_class(b, &w, out))
            return false;
    }
    return true;
}

/* ---- drafts ---------------------------------------------------------------------- */

static ridge_status draft_build(const serving_bench *b, ridge_serving_speed *out)
{
    enum { KNOTS = 12 };
    const ridge_draft *d = &b->layout->draft;
    ridge_arena *arena = ridge_ctx_arena(b->desk->cx);
    const bool has_draft = d->kind != RIDGE_DRAFT_NONE;
    const int accepts = has_draft ? (int)d->depth : 0;
    double *x = ridge_new(arena, double, KNOTS);
    double *y = ridge_new(arena, double, KNOTS);
    double *accept = ridge_new(arena, double, (size_t)accepts + 1);
    if (x == NULL || y == NULL || accept == NULL)
        return ridge_fail_nomem(b->desk->cx);
    memcpy(accept, d->accept, (size_t)accepts * sizeof *accept);
    const double most = ceil((double)b->layout->sequences / b->ranks);
    int n = 0;
    for (double at = 1; has_draft && n < KNOTS; at = fmin(2 * at, most)) {
        x[n] = at;
        RIDGE_TRY(
            serving_draft_price(b, at, b->desk->about.longest_tokens / 2, &y[n++]));
        if (at >= most)
            break;
    }
    out->draft =
        (ridge_serving_draft){.verified = (int64_t)b->verified,
                              .lookahead = has_draft ? (int64_t)b->verified - 1 : 0,
                              .n_accept = accepts,
                              .accept = accept,
                              .draft = {n > 0 ? n : 1, x, y}};
    return RIDGE_OK;
}

/* ---- the whole ------------------------------------------------------------------- */

static ridge_status blocks_find(const serving_bench *b, ridge_serving_speed *out)
{
    ridge_serving_memory memory;
    RIDGE_TRY(ridge_serving_memory_find(b->desk, b->layout, &memory));
    out->blocks = memory.pages;
    out->block_tokens = memory.page_tokens;
    out->sequence_blocks = memory.sequence_pages;
    out->block_bytes = serving_token_bytes(b) * (double)memory.page_tokens;
    return RIDGE_OK;
}

static void links_find(const serving_bench *b, ridge_serving_speed *out)
{
    const ridge_slice *slice = b->desk->about.slice;
    const ridge_chip *chip = slice->chip;
    const double tp = (double)b->layout->tp;
    const bool swaps = b->desk->about.engine->preemption == RIDGE_PREEMPTION_SWAP;
    const double host = ridge_memory_bytes_per_s(chip, RIDGE_MEMORY_HOST);
    out->swap_bytes_per_s = swaps ? host * tp : 0;
    if (slice->n_axes < 1)
        return;
    const ridge_axis *outer = &slice->axes[slice->n_axes - 1];
    out->transfer_bytes_per_s = outer->bytes_per_s * outer->efficiency * tp;
    out->transfer_s = outer->startup_s + outer->latency_s;
}

static double sequences_most(const serving_bench *b)
{
    const ridge_graph_sizes *graphs = &b->desk->about.engine->graph_sizes;
    const double most =
        b->ranks *
        ridge_graph_padded(graphs, ceil((double)b->layout->sequences / b->ranks));
    return rounded_up(fmax(2, most * b->verified));
}

static double rows_most(const serving_bench *b)
{
    const double budget = (double)b->layout->budget_tokens * b->ranks;
    return fmax(rounded_up(budget), sequences_most(b));
}

static ridge_status speed_build(const serving_bench *b, ridge_serving_speed *out)
{
    ridge_serving_desk *desk = b->desk;
    const ridge_serving_layout *layout = b->layout;
    const ridge_engine *e = desk->about.engine;
    const double chips = (double)ridge_serving_layout_chips(layout);
    const serving_host host = serving_host_of(b);
    ridge_serving_speed speed = {.graph_sizes = e->graph_sizes,
                                 .host_s = host.iteration_s,
                                 .host_sequence_s = host.sequence_s,
                                 .is_host_hidden = host.is_hidden,
                                 .request_s = e->request_s,
                                 .handoff_s = e->handoff_s,
                                 .attention_ranks = layout->attention_dp,
                                 .stages = layout->pp,
                                 .chips = chips,
                                 .chunk_call_s = serving_chunk_call_s(b),
                                 .eager_s = serving_eager_s(b)};
    if (!serving_curve_find(b, SERVING_CURVE_ROWS, rows_most(b), &speed.rows) ||
        !serving_curve_find(b, SERVING_CURVE_HEAD, sequences_most(b), &speed.head) ||
        !caches_build(b, &speed))
        return ridge_fail_nomem(desk->cx);
    if (b->ranks > 1 &&
        !serving_curve_find(b, SERVING_CURVE_RANK_ROWS,
                            fmax(2, rows_most(b) / b->ranks), &speed.rank_rows))
        return ridge_fail_nomem(desk->cx);
    RIDGE_TRY(draft_build(b, &speed));
    RIDGE_TRY(blocks_find(b, &speed));
    links_find(b, &speed);
    if (desk->chip->n_prices > 0)
        speed.usd_per_hour = desk->chip->prices[0].usd_per_chip_hour * chips;
    *out = speed;
    return RIDGE_OK;
}

ridge_status ridge_serving_speed_build(ridge_serving_desk *desk,
                                       const ridge_serving_layout *layout,
                                       ridge_serving_speed *out)
{
    serving_bench b;
    RIDGE_TRY(serving_bench_open(desk, layout, &b));
    return speed_build(&b, out);
}
