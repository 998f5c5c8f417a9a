/*
 * The search against brute force: every layout of small random problems is priced on
 * its own by ridge_train_price_one, and the fastest that fits must be the search's
 * first. The space is the one that `ridge train` promises; only what is left to a
 * default (TP overlap by kind of chip, plain 1F1B) is not varied.
 */
#include "train_fixture.h"

#include "network_time.h"

#include <math.h>

enum { PROBLEMS = 40, CP_CHUNK_LEAST_TOKENS = 1024 };

typedef struct brute {
    const train_problem *problem;
    ridge_train_price best;
    bool has_best;
    int64_t priced;
} brute;

static bool is_wanted(int64_t knob, int64_t value)
{
    return knob <= 0 || knob == value;
}

static void try_layout(brute *b, const ridge_layout *l)
{
    ridge_ctx *cx = b->problem->cx;
    const ridge_mark mark = ridge_arena_mark(ridge_ctx_arena(cx));
    const ridge_train_price price = train_price_of(cx, &b->problem->request, l);
    ridge_arena_rewind(ridge_ctx_arena(cx), mark);
    b->priced++;
    if (price.fit != RIDGE_FIT_OK)
        return;
    if (!b->has_best || price.step_time_s < b->best.step_time_s)
        b->best = price;
    b->has_best = true;
}

static void try_placements(brute *b, ridge_layout *l)
{
    const int count = train_placement_count(&b->problem->slice);
    for (l->placement = 0; l->placement < count; l->placement++)
        try_layout(b, l);
}

static void try_remats(brute *b, ridge_layout *l)
{
    const ridge_knobs *k = &b->problem->request.knobs;
    for (int sp = 0; sp <= (l->tp > 1); sp++) {
        if (k->has_sp >= 0 && l->tp > 1 && k->has_sp != sp)
            continue;
        l->has_sp = sp == 1;
        for (int remat = 0; remat < RIDGE_REMAT_COUNT; remat++) {
            l->remat = (ridge_remat)remat;
            if (k->remat < 0 || k->remat == remat)
                try_placements(b, l);
        }
    }
}

/* Stages of ZeRO that differ from 0 need something to shard over. */
static void try_zero(brute *b, ridge_layout *l)
{
    const ridge_knobs *k = &b->problem->request.knobs;
    for (int zero = l->fsdp > 1 ? 1 : 0; zero <= (l->fsdp * l->cp > 1 ? 3 : 0);
         zero++) {
        l->zero_stage = zero;
        if (k->zero_stage < 0 || k->zero_stage == zero)
            try_remats(b, l);
    }
}

/* Every microbatch that divides the share of a replica, or the one that is fixed. */
static void try_microbatches(brute *b, ridge_layout *l)
{
    const ridge_train_request *r = &b->problem->request;
    const int64_t seqs = (int64_t)round(r->batch_tokens / r->seq_tokens);
    const int64_t share = ridge_ceil_div(seqs, l->dp * l->fsdp);
    for (int64_t m = 1; m <= share; m++) {
        l->microbatch_seqs = m;
        const bool is_fixed = r->knobs.microbatch_seqs > 0;
        if (is_fixed ? m == r->knobs.microbatch_seqs : share % m == 0)
            try_zero(b, l);
    }
}

static void try_experts(brute *b, ridge_layout *l)
{
    const ridge_train_request *r = &b->problem->request;
    const int64_t experts = r->model->layers[0].ffn.experts;
    for (l->ep = 1; l->ep <= (experts > 0 ? experts : 1); l->ep++) {
        if ((experts == 0 || experts % l->ep == 0) && is_wanted(r->knobs.ep, l->ep))
            try_microbatches(b, l);
    }
}

static bool is_mesh_wanted(const ridge_train_request *r, const ridge_layout *l)
{
    const ridge_knobs *k = &r->knobs;
    const int64_t seq = (int64_t)r->seq_tokens;
    const bool is_cp_wanted =
        k->cp > 0
            ? l->cp == k->cp
            : l->cp == 1 || (seq % l->cp == 0 && seq / l->cp >= CP_CHUNK_LEAST_TOKENS);
    return is_cp_wanted && is_wanted(k->dp, l->dp) && is_wanted(k->fsdp, l->fsdp) &&
           is_wanted(k->tp, l->tp) && is_wanted(k->pp, l->pp);
}

static void try_meshes(brute *b)
{
    const ridge_train_request *r = &b->problem->request;
    const int64_t n = r->slice->chips;
    for (int64_t code = 0; code < n * n * n * n; code++) {
        ridge_layout l = train_layout(1, 1 + code % n, 1 + code / n % n,
                                      1 + code / (n * n) % n, 1 + code / (n * n * n));
        const int64_t rest = l.fsdp * l.tp * l.cp * l.pp;
        if (n % rest != 0)
            continue;
        l.dp = n / rest;
        l.precision = r->knobs.precision;
        l.has_tp_overlap = l.tp > 1 && r->slice->chip->kind == RIDGE_CHIP_TPU;
        if (is_mesh_wanted(r, &l))
            try_experts(b, &l);
    }
}

static void print_layout(const char *who, const ridge_train_price *p)
{
    const ridge_layout *l = &p->layout;
    print_error("%s: dp %lld fsdp %lld tp %lld cp %lld pp %lld ep %lld zero %d sp %d "
                "microbatch %lld remat %s placement %d: %.12g s, %.4g GB\n",
                who, (long long)l->dp, (long long)l->fsdp, (long long)l->tp,
                (long long)l->cp, (long long)l->pp, (long long)l->ep, l->zero_stage,
                l->has_sp, (long long)l->microbatch_seqs, ridge_remat_text(l->remat),
                l->placement, p->step_time_s, p->peak_memory_bytes / RIDGE_GB);
}

/* Where a dominance that once was assumed does not hold: an all-reduce on a torus with
 * one start less than SP's two collectives; remat that is free beside exposed gathers
 * and hides the reduction over DCN. */
static const uint64_t hard_seeds[] = {415, 703, 872, 1183, 1359, 1383};

/* Equal up to the last bits, in which sums in another order may differ. */
static const double REL = 1e-9;

static bool is_equal(const ridge_train_result *result, const brute *b)
{
    if (result->n_layouts == 0 || !b->has_best)
        return (result->n_layouts == 0) == !b->has_best;
    const double got = result->layouts[0].step_time_s;
    return fabs(got - b->best.step_time_s) <= REL * b->best.step_time_s;
}

static bool check_problem(uint64_t seed, int64_t *priced)
{
    train_problem problem;
    train_problem_open(seed, &problem);
    brute b = {.problem = &problem};
    ridge_train_result result;
    assert_ok(problem.cx, ridge_train_search(problem.cx, &problem.request, &result));
    try_meshes(&b);
    *priced += b.priced;
    const bool is_right = is_equal(&result, &b);
    if (!is_right) {
        print_error("seed %llu on %s:\n", (unsigned long long)seed, problem.slice.text);
        if (result.n_layouts > 0)
            print_layout("search", &result.layouts[0]);
        if (b.has_best)
            print_layout("brute force", &b.best);
    }
    ridge_ctx_close(problem.cx);
    return is_right;
}

static void the_search_finds_what_brute_force_finds(void **state)
{
    (void)state;
    int64_t priced = 0;
    int wrong = 0;
    for (uint64_t seed = 1; seed <= PROBLEMS; seed++)
        wrong += !check_problem(seed, &priced);
    for (size_t i = 0; i < RIDGE_COUNT_OF(hard_seeds); i++)
        wrong += !check_problem(hard_seeds[i], &priced);
    print_message("%lld layouts priced one by one\n", (long long)priced);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_search_finds_what_brute_force_finds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
