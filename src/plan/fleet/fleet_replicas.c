/*
 * Whole replicas in every pool: each pool is a training problem of its own with a share
 * of the batch, whose gradients go on to its peers in the others. The step is that of
 * the slowest: pools meet once a step, where they reduce.
 */
#include "fleet_case.h"

#include <math.h>

enum { CANDIDATES = 6, ROUNDS = 3, COVERED_MOST = 2000000 };

/* Shares by pool. */
typedef struct fleet_deal_out {
    int64_t seqs[RIDGE_FLEET_POOL_MAX];
} fleet_deal_out;

typedef struct share_desk {
    fleet_case *fc;
    int64_t batch_seqs;
    /* Of each pool the best layouts for the share that was searched last. */
    int n_layouts[RIDGE_FLEET_POOL_MAX];
    ridge_layout layouts[RIDGE_FLEET_POOL_MAX][CANDIDATES];
    fleet_deal_out best_deal;
    ridge_train_price best[RIDGE_FLEET_POOL_MAX];
    double best_s;   /* INFINITY: nothing yet */
    int64_t covered; /* layouts of all pools at the deal that was searched last */
} share_desk;

static ridge_train_request request_of(const share_desk *d, int pool, int64_t seqs)
{
    ridge_train_request r = d->fc->requests[pool];
    r.batch_tokens = (double)seqs * floor(r.seq_tokens);
    r.between = &d->fc->together[pool];
    r.top = CANDIDATES;
    r.front = 0;
    r.progress = NULL;
    return r;
}

/* ---- a deal -----------------------------------------------------------------------
 */

/* A pool by itself. @param is_out  out: no layout that fits is quicker than the best
 * deal */
static ridge_status search_quicker(const share_desk *d, int pool, int64_t seqs,
                                   ridge_train_price *best, bool *is_out)
{
    ridge_train_result result;
    ridge_train_request r = request_of(d, pool, seqs);
    r.top = 1;
    r.known_step_s = isinf(d->best_s) ? 0 : d->best_s;
    RIDGE_TRY(ridge_train_search(d->fc->cx, &r, &result));
    *is_out = result.n_layouts == 0 || !(result.layouts[0].step_time_s < d->best_s);
    if (!*is_out)
        *best = result.layouts[0];
    return RIDGE_OK;
}

static void keep_deal(share_desk *d, const fleet_deal_out *deal,
                      const ridge_train_price *found, double slowest_s)
{
    d->best_s = slowest_s;
    d->best_deal = *deal;
    for (int p = 0; p < d->fc->n; p++)
        d->best[p] = found[p];
}

/* Keep a deal if it is better than the best so far: one pool that is not leaves the
 * others out of question. */
static ridge_status try_deal(share_desk *d, const fleet_deal_out *deal)
{
    ridge_train_price found[RIDGE_FLEET_POOL_MAX];
    double slowest_s = 0;
    for (int p = 0; p < d->fc->n; p++) {
        bool is_out = false;
        RIDGE_TRY(search_quicker(d, p, deal->seqs[p], &found[p], &is_out));
        if (is_out)
            return RIDGE_OK;
        slowest_s = fmax(slowest_s, found[p].step_time_s);
    }
    keep_deal(d, deal, found, slowest_s);
    return RIDGE_OK;
}

/* Every layout of every pool, the best of which are remembered. What is found is kept
 * if it is the best so far. */
static ridge_status search_deal(share_desk *d, const fleet_deal_out *deal)
{
    ridge_train_price found[RIDGE_FLEET_POOL_MAX];
    double slowest_s = 0;
    d->covered = 0;
    for (int p = 0; p < d->fc->n; p++) {
        ridge_train_result result;
        const ridge_train_request r = request_of(d, p, deal->seqs[p]);
        RIDGE_TRY(ridge_train_search(d->fc->cx, &r, &result));
        d->covered += result.covered;
        d->n_layouts[p] = result.n_layouts;
        for (int i = 0; i < result.n_layouts; i++)
            d->layouts[p][i] = result.layouts[i].layout;
        if (result.n_layouts == 0) {
            slowest_s = (double)INFINITY;
            continue;
        }
        found[p] = result.layouts[0];
        slowest_s = fmax(slowest_s, found[p].step_time_s);
    }
    if (slowest_s < d->best_s)
        keep_deal(d, deal, found, slowest_s);
    return RIDGE_OK;
}

/* The step of a pool by the layouts that are known. */
static ridge_status quick_step(const share_desk *d, int pool, int64_t seqs, double *out)
{
    const ridge_train_request r = request_of(d, pool, seqs);
    ridge_ctx *cx = ridge_ctx_open();
    if (cx == NULL)
        return ridge_fail_nomem(d->fc->cx);
    ridge_status st = RIDGE_OK;
    *out = (double)INFINITY;
    for (int i = 0; i < d->n_layouts[pool] && st == RIDGE_OK; i++) {
        ridge_train_price price;
        st = ridge_train_price_one(cx, &r, &d->layouts[pool][i], &price);
        if (st == RIDGE_OK && price.fit == RIDGE_FIT_OK)
            *out = fmin(*out, price.step_time_s);
    }
    if (st != RIDGE_OK)
        st = ridge_fail(d->fc->cx, st, "%s", ridge_ctx_message(cx));
    ridge_ctx_close(cx);
    return st;
}

/* ---- the best deal ------------------------------------------------------------------
 */

/* As many sequences as the pools are quick, all of them dealt. */
static fleet_deal_out deal_by_rate(const share_desk *d, const double *rates)
{
    fleet_deal_out deal;
    double sum = 0;
    double before = 0;
    int64_t dealt = 0;
    for (int p = 0; p < d->fc->n; p++)
        sum += rates[p];
    for (int p = 0; p < d->fc->n; p++) {
        before += rates[p];
        const int64_t least = dealt + 1;
        const int64_t most = d->batch_seqs - (d->fc->n - 1 - p);
        int64_t upto = (int64_t)llround((double)d->batch_seqs * before / sum);
        upto = upto < least ? least : upto > most ? most : upto;
        deal.seqs[p] = upto - dealt;
        dealt = upto;
    }
    return deal;
}

static int slowest_of(const share_desk *d, const double *steps)
{
    int slowest = 0;
    for (int p = 1; p < d->fc->n; p++)
        slowest = steps[p] > steps[slowest] ? p : slowest;
    return slowest;
}

static int quickest_of(const share_desk *d, const double *steps)
{
    int quickest = 0;
    for (int p = 1; p < d->fc->n; p++)
        quickest = steps[p] < steps[quickest] ? p : quickest;
    return quickest;
}

/* Sequences go from the slowest pool to the quickest as long as that helps, many at
 * first. */
static ridge_status move_shares(const share_desk *d, fleet_deal_out *deal)
{
    double steps[RIDGE_FLEET_POOL_MAX];
    int64_t step = d->batch_seqs / 16 > 0 ? d->batch_seqs / 16 : 1;
    for (int p = 0; p < d->fc->n; p++)
        RIDGE_TRY(quick_step(d, p, deal->seqs[p], &steps[p]));
    while (step > 0) {
        const int from = slowest_of(d, steps);
        const int to = quickest_of(d, steps);
        double from_s = (double)INFINITY;
        double to_s = (double)INFINITY;
        if (from != to && deal->seqs[from] > step) {
            RIDGE_TRY(quick_step(d, from, deal->seqs[from] - step, &from_s));
            RIDGE_TRY(quick_step(d, to, deal->seqs[to] + step, &to_s));
        }
        if (fmax(from_s, to_s) < steps[from]) {
            deal->seqs[from] -= step;
            deal->seqs[to] += step;
            steps[from] = from_s;
            steps[to] = to_s;
        } else {
            step /= 2;
        }
    }
    return RIDGE_OK;
}

/* A deal with its steps. */
typedef struct fleet_trial {
    fleet_deal_out deal;
    double steps[RIDGE_FLEET_POOL_MAX];
    double slowest_s;
} fleet_trial;

/* Take @p seqs of a pool, the rest with any one of the others, if that is quicker than
 * the best. */
static ridge_status try_share(const share_desk *d, const fleet_trial *from, int pool,
                              int64_t seqs, fleet_trial *best)
{
    for (int other = 0; other < d->fc->n; other++) {
        fleet_trial t = *from;
        t.deal.seqs[other] += t.deal.seqs[pool] - seqs;
        t.deal.seqs[pool] = seqs;
        if (other == pool || seqs < 1 || t.deal.seqs[other] < 1)
            continue;
        RIDGE_TRY(quick_step(d, pool, seqs, &t.steps[pool]));
        if (!(t.steps[pool] < best->slowest_s)) /* nor is the slowest of all */
            continue;
        RIDGE_TRY(quick_step(d, other, t.deal.seqs[other], &t.steps[other]));
        t.slowest_s = t.steps[slowest_of(d, t.steps)];
        if (t.slowest_s < best->slowest_s)
            *best = t;
    }
    return RIDGE_OK;
}

/* Shares that fill whole microbatches on every replica of a layout that is known: below
 * and above the present one. */
static ridge_status fill_shares(const share_desk *d, fleet_deal_out *deal)
{
    fleet_trial now = {.deal = *deal};
    for (int p = 0; p < d->fc->n; p++)
        RIDGE_TRY(quick_step(d, p, deal->seqs[p], &now.steps[p]));
    now.slowest_s = now.steps[slowest_of(d, now.steps)];
    fleet_trial best = now;
    for (int p = 0; p < d->fc->n; p++) {
        for (int i = 0; i < d->n_layouts[p]; i++) {
            const ridge_layout *l = &d->layouts[p][i];
            const int64_t unit = l->dp * l->fsdp * l->microbatch_seqs;
            const int64_t below = now.deal.seqs[p] / unit * unit;
            RIDGE_TRY(try_share(d, &now, p, below, &best));
            RIDGE_TRY(try_share(d, &now, p, below + unit, &best));
        }
    }
    *deal = best.deal;
    return RIDGE_OK;
}

static bool is_same_deal(const share_desk *d, const fleet_deal_out *a,
                         const fleet_deal_out *b)
{
    bool is_same = true;
    for (int p = 0; p < d->fc->n; p++)
        is_same = is_same && a->seqs[p] == b->seqs[p];
    return is_same;
}

/* Deals of two pools about the best so far, as many as there is time for, a sixteenth
 * of the batch to either side at most. */
static ridge_status search_about(share_desk *d)
{
    const fleet_deal_out centre = d->best_deal;
    const int64_t reach = d->batch_seqs / 16 > 0 ? d->batch_seqs / 16 : 1;
    const int64_t trials = COVERED_MOST / (d->covered > 0 ? d->covered : 1) / 2;
    if (d->fc->n != 2 || trials < 1 || isinf(d->best_s))
        return RIDGE_OK;
    const int64_t stride = ridge_ceil_div(reach, trials);
    for (int64_t more = -reach; more <= reach; more += stride) {
        const fleet_deal_out deal = {{centre.seqs[0] + more, centre.seqs[1] - more}};
        if (more != 0 && deal.seqs[0] > 0 && deal.seqs[1] > 0)
            RIDGE_TRY(try_deal(d, &deal));
    }
    return RIDGE_OK;
}

/* From shares by the peaks of the pools to those that their layouts make equally slow.
 */
static ridge_status search_by_rate(share_desk *d)
{
    double rates[RIDGE_FLEET_POOL_MAX];
    for (int p = 0; p < d->fc->n; p++)
        rates[p] = (double)d->fc->slices[p].chips *
                   ridge_chip_peak(d->fc->slices[p].chip, RIDGE_DTYPE_BF16, NULL);
    fleet_deal_out deal = deal_by_rate(d, rates);
    for (int round = 0; round < ROUNDS; round++) {
        fleet_deal_out next = deal;
        RIDGE_TRY(search_deal(d, &deal));
        RIDGE_TRY(move_shares(d, &next));
        RIDGE_TRY(fill_shares(d, &next));
        if (is_same_deal(d, &deal, &next))
            return search_about(d);
        deal = next;
    }
    RIDGE_TRY(search_deal(d, &deal));
    return search_about(d);
}

/* Every deal, pools before @p pool having taken theirs. Depth: RIDGE_FLEET_POOL_MAX. */
static ridge_status try_deals(share_desk *d, fleet_deal_out *deal, int pool,
                              int64_t left)
{
    if (pool == d->fc->n - 1 || pool == RIDGE_FLEET_POOL_MAX - 1) {
        deal->seqs[pool] = left;
        return try_deal(d, deal);
    }
    const int64_t most = left - (d->fc->n - 1 - pool);
    for (deal->seqs[pool] = 1; deal->seqs[pool] <= most; deal->seqs[pool]++)
        RIDGE_TRY(try_deals(d, deal, pool + 1, left - deal->seqs[pool]));
    return RIDGE_OK;
}

/* ---- sums -------------------------------------------------------------------------
 */

/* FLOP/s that the MFU of a share is of. */
static double share_peak(const fleet_case *fc, const ridge_fleet_share *share)
{
    const ridge_slice *slice = &fc->slices[share->pool];
    const ridge_policy *policy = fc->pools[share->pool].policy;
    return (double)slice->chips * ridge_policy_mfu_peak(policy, slice->chip, NULL);
}

/* How full the chips of a share are. */
static double share_fullness(const fleet_case *fc, const ridge_fleet_share *share)
{
    return share->price.peak_memory_bytes /
           ridge_chip_memory_bytes(fc->slices[share->pool].chip);
}

/* The share whose step the others wait for, and (the last of) the fullest. */
static void find_extremes(const fleet_case *fc, ridge_fleet_replicas *r, int *fullest)
{
    *fullest = 0;
    for (int i = 1; i < r->n; i++) {
        const ridge_fleet_share *share = &r->shares[i];
        if (share->price.step_time_s > r->shares[r->slowest].price.step_time_s)
            r->slowest = i;
        if (share_fullness(fc, share) >= share_fullness(fc, &r->shares[*fullest]))
            *fullest = i;
    }
}

/* Work of all shares in a step. */
static void add_work(const fleet_case *fc, ridge_fleet_replicas *r)
{
    ridge_train_price *sum = &r->price;
    double tokens = 0;
    double flops = 0;
    double hfu = 0;
    sum->padded_seqs = 0;
    for (int i = 0; i < r->n; i++) {
        const ridge_train_price *p = &r->shares[i].price;
        const double peak = share_peak(fc, &r->shares[i]);
        tokens += (double)r->shares[i].batch_seqs * fc->pools[0].seq_tokens;
        flops += p->mfu * peak * p->step_time_s;
        hfu += p->hfu * peak * p->step_time_s;
        sum->padded_seqs += p->padded_seqs;
    }
    const double chips = (double)fc->chips;
    sum->tokens_per_s_per_chip = tokens / sum->step_time_s / chips;
    sum->model_flops_per_s_per_chip = flops / sum->step_time_s / chips;
    sum->mfu = flops / sum->step_time_s / fc->peak_flops_per_s;
    sum->hfu = hfu / sum->step_time_s / fc->peak_flops_per_s;
    sum->has_usd = false;
    sum->has_total = fc->request->total_tokens > 0;
    if (!sum->has_total)
        return;
    const double seconds = ceil(fc->request->total_tokens / tokens) * sum->step_time_s;
    sum->days = seconds / RIDGE_DAY_S;
    sum->chip_hours = seconds / RIDGE_HOUR_S * chips;
}

/* The fleet's price: the step of the slowest share, the memory of the fullest. */
static void add_up(const fleet_case *fc, ridge_fleet_replicas *r)
{
    ridge_train_price *sum = &r->price;
    int fullest;
    find_extremes(fc, r, &fullest);
    const ridge_train_price *full = &r->shares[fullest].price;
    *sum = r->shares[r->slowest].price;
    sum->memory = full->memory;
    sum->peak_memory_bytes = full->peak_memory_bytes;
    sum->fullest_stage = full->fullest_stage;
    for (int i = 0; i < r->n; i++) {
        const ridge_train_price *p = &r->shares[i].price;
        r->shares[i].waiting = 1 - p->step_time_s / sum->step_time_s;
        sum->bound_step_time_s = fmax(sum->bound_step_time_s, p->bound_step_time_s);
    }
    add_work(fc, r);
}

/* ---- the calls --------------------------------------------------------------------
 */

ridge_status ridge_fleet_replicas_search(ridge_ctx *cx,
                                         const ridge_train_request *request,
                                         ridge_fleet_replicas *out)
{
    fleet_case *fc = NULL;
    fleet_deal_out deal;
    RIDGE_TRY(fleet_case_open(cx, request, &fc));
    share_desk *d = ridge_new(ridge_ctx_arena(cx), share_desk, 1);
    if (d == NULL)
        return ridge_fail_nomem(cx);
    d->fc = fc;
    d->best_s = (double)INFINITY;
    d->batch_seqs =
        (int64_t)fmax(1, round(request->batch_tokens / floor(request->seq_tokens)));
    *out = (ridge_fleet_replicas){.n = 0};
    if (d->batch_seqs < fc->n)
        return RIDGE_OK;
    RIDGE_TRY(d->batch_seqs <= RIDGE_FLEET_SHARES_TRIED && fc->n == 2
                  ? try_deals(d, &deal, 0, d->batch_seqs)
                  : search_by_rate(d));
    if (isinf(d->best_s))
        return RIDGE_OK;
    out->n = fc->n;
    for (int p = 0; p < fc->n; p++)
        out->shares[p] = (ridge_fleet_share){p, d->best_deal.seqs[p], d->best[p], 0};
    add_up(fc, out);
    return RIDGE_OK;
}

static ridge_status check_shares(const fleet_case *fc, const ridge_fleet_share *shares,
                                 int n)
{
    bool is_used[RIDGE_FLEET_POOL_MAX] = {false};
    bool is_whole = n == fc->n;
    for (int i = 0; i < n && is_whole; i++) {
        const int pool = shares[i].pool;
        is_whole =
            pool >= 0 && pool < fc->n && !is_used[pool] && shares[i].batch_seqs >= 1;
        if (is_whole)
            is_used[pool] = true;
    }
    return is_whole ? RIDGE_OK
                    : ridge_fail(fc->cx, RIDGE_E_ARG,
                                 "no replicas of this fleet: each of its %d pools has "
                                 "one share of at least one sequence",
                                 fc->n);
}

ridge_status ridge_fleet_replicas_price(ridge_ctx *cx,
                                        const ridge_train_request *request,
                                        const ridge_fleet_share *shares, int n,
                                        ridge_fleet_replicas *out)
{
    fleet_case *fc = NULL;
    share_desk d = {.batch_seqs = 0};
    RIDGE_TRY(fleet_case_open(cx, request, &fc));
    RIDGE_TRY(check_shares(fc, shares, n));
    d.fc = fc;
    ridge_fleet_replicas r = {.n = n};
    for (int i = 0; i < n; i++) {
        const ridge_train_request own =
            request_of(&d, shares[i].pool, shares[i].batch_seqs);
        r.shares[i] = shares[i];
        RIDGE_TRY(ridge_train_price_one(cx, &own, &shares[i].price.layout,
                                        &r.shares[i].price));
        if (r.shares[i].price.fit != RIDGE_FIT_OK) {
            *out = r;
            out->price.fit = r.shares[i].price.fit;
            return RIDGE_OK;
        }
    }
    add_up(fc, &r);
    *out = r;
    return RIDGE_OK;
}
