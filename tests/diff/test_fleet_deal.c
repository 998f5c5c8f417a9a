/* Layers dealt to unlike stages, against every way to cut them, with and without
 * memories that do not take all. */
#include "near.h"
#include "train_fixture.h"

#include "fleet_deal.h"

#include <math.h>
#include <string.h>

enum { LAYERS_MOST = 10, STAGES_MOST = 5, KINDS = 2, PROBLEMS = 3000 };

typedef struct deal_problem {
    fleet_deal deal;
    int kinds[LAYERS_MOST];
    int starts[LAYERS_MOST];
    double times[STAGES_MOST][KINDS];
    const double *layer_s[STAGES_MOST];
    double fixed_s[STAGES_MOST];
    int from[(STAGES_MOST + 1) * (LAYERS_MOST + 1)];
    double layer_bytes[KINDS];
    double room_bytes[STAGES_MOST];
} deal_problem;

static bool fits(void *payload, int stage, const double *layers)
{
    const deal_problem *p = payload;
    double bytes = 0;
    for (int k = 0; k < KINDS; k++)
        bytes += layers[k] * p->layer_bytes[k];
    return bytes <= p->room_bytes[stage];
}

static void draw(uint64_t seed, deal_problem *p)
{
    dice d = dice_of(seed);
    const int n = (int)dice_roll(&d, 1, LAYERS_MOST);
    const int64_t most = n < STAGES_MOST ? n : STAGES_MOST;
    *p = (deal_problem){.deal = {.n_layers = n, .n_kinds = KINDS}};
    p->deal.pp = (int)dice_roll(&d, 1, most);
    const int first = (int)dice_roll(&d, 0, n); /* of the second kind */
    for (int i = 0; i < n; i++) {
        p->kinds[i] = i >= first;
        p->starts[i] = i > 0 && p->kinds[i] == p->kinds[i - 1] ? p->starts[i - 1] : i;
    }
    for (int s = 0; s < p->deal.pp; s++) {
        for (int k = 0; k < KINDS; k++) /* some times are alike, so that deals tie */
            p->times[s][k] = dice_roll(&d, 0, 1) ? (double)dice_roll(&d, 1, 4)
                                                 : dice_between(&d, 0.5, 4);
        p->fixed_s[s] = dice_roll(&d, 0, 2) ? 0 : dice_between(&d, 0, 3);
        p->layer_s[s] = p->times[s];
        p->room_bytes[s] = (double)dice_roll(&d, 2, 12);
    }
    p->layer_bytes[0] = 1;
    p->layer_bytes[1] = (double)dice_roll(&d, 1, 3);
    p->deal.kinds = p->kinds;
    p->deal.starts = p->starts;
    p->deal.layer_s = p->layer_s;
    p->deal.fixed_s = p->fixed_s;
    p->deal.from = p->from;
    p->deal.payload = p;
    p->deal.fits = dice_roll(&d, 0, 1) ? fits : NULL;
}

/* The slowest stage of layers [0, left) on stages 0 .. stage, cut anyhow. */
static double least(const deal_problem *p, int stage, int left)
{
    double best = (double)INFINITY;
    double layers[KINDS] = {0};
    double own = p->fixed_s[stage];
    for (int first = left - 1; first >= stage; first--) {
        const int kind = p->kinds[first];
        layers[kind]++;
        own += p->times[stage][kind];
        if (p->deal.fits != NULL && !fits(p->deal.payload, stage, layers))
            break;
        if (stage > 0) {
            best = fmin(best, fmax(own, least(p, stage - 1, first)));
        } else if (first == 0) {
            best = fmin(best, own);
        }
    }
    return best;
}

static double slowest(const deal_problem *p, const double *layers)
{
    double most = 0;
    for (int s = 0; s < p->deal.pp; s++) {
        double own = p->fixed_s[s];
        for (int k = 0; k < KINDS; k++)
            own += layers[s * KINDS + k] * p->times[s][k];
        most = fmax(most, own);
        if (p->deal.fits != NULL)
            assert_true(fits(p->deal.payload, s, &layers[s * KINDS]));
    }
    return most;
}

static void the_slowest_stage_takes_least(void **state)
{
    (void)state;
    int answered = 0;
    for (uint64_t seed = 1; seed <= PROBLEMS; seed++) {
        static deal_problem p;
        double layers[STAGES_MOST * KINDS];
        double most_s = 0;
        double sum = 0;
        draw(seed, &p);
        const double want = least(&p, p.deal.pp - 1, p.deal.n_layers);
        const bool is_found = fleet_deal_best(&p.deal, layers, &most_s);
        if (is_found == isinf(want))
            fail_msg("seed %llu: a deal exists or not", (unsigned long long)seed);
        if (!is_found)
            continue;
        answered++;
        assert_near(most_s, want, 1e-9);
        assert_near(slowest(&p, layers), want, 1e-9);
        for (int i = 0; i < p.deal.pp * KINDS; i++)
            sum += layers[i];
        assert_near(sum, p.deal.n_layers, 0);
        assert_true(fleet_deal_within(&p.deal, want * (1 + 1e-9), layers));
        assert_false(fleet_deal_within(&p.deal, want * (1 - 1e-9), layers));
    }
    assert_true(answered > PROBLEMS / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_slowest_stage_takes_least),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
