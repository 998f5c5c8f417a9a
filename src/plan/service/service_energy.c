/* The power of a service: what its iterations ask of memory and products, which chips
 * draw for it, and what their hosts draw beside. */
#include "service_energy.h"

#include <math.h>

/* Iterations of each kind for one that decodes, in the mean. */
double service_prefill_weight(const ridge_service_price *p)
{
    const double m = p->mixed;
    if (p->choice.n_pools > 1 || m <= 0)
        return 0;
    return p->prefill_load.decode_sequences > 0 ? m : m / (1 - m);
}

/* Of chips of one pool, over all time; the second two while iterations run. */
typedef struct pool_load {
    double busy, memory, flops;
} pool_load;

/* A step keeps its chips at work for its whole time; what of it the network or the host
 * takes asks nothing of memory and products. */
static pool_load load_of(const ridge_serving_step *step, double busy)
{
    if (step->expected_s <= 0)
        return (pool_load){.busy = 0};
    return (pool_load){.busy = busy,
                       .memory = fmin(1, (step->bound_weights_s + step->bound_cache_s) /
                                             step->expected_s),
                       .flops = fmin(1, step->bound_flops_s / step->expected_s)};
}

/* Sums of time shares. */
static pool_load mix(const pool_load *a, double a_share, const pool_load *b,
                     double b_share)
{
    const double sum = a_share + b_share;
    if (sum <= 0)
        return (pool_load){.busy = 0};
    return (pool_load){.busy = sum,
                       .memory = (a_share * a->memory + b_share * b->memory) / sum,
                       .flops = (a_share * a->flops + b_share * b->flops) / sum};
}

/* Requests that come at random leave a server without any for e^-mean of the time. */
static double busy_share(const ridge_service_request *r, const ridge_service_pool *pool)
{
    const bool is_open = r->requests_per_s > 0 || r->goals.quantile > 0;
    return is_open ? 1 - exp(-pool->batch * (double)pool->layout.attention_dp) : 1;
}

static pool_load one_pool(const ridge_service_request *r, const ridge_service_price *p)
{
    const pool_load decode = load_of(&p->decode, 1);
    const pool_load prefill = load_of(&p->prefill, 1);
    const double weight = service_prefill_weight(p);
    const double batch = p->choice.pools[0].batch;
    const bool is_mixed = p->prefill_load.decode_sequences > 0;
    const double busy = busy_share(r, &p->choice.pools[0]);
    if (p->decode.expected_s <= 0)
        return load_of(&p->prefill, fmin(1, p->use));
    if (busy >= 1 && batch < 1) /* a prompt, then its tokens, one at a time */
        return mix(&decode, batch, &prefill, 1 - batch);
    pool_load sum = mix(&decode, (is_mixed ? 1 - weight : 1) * p->decode.expected_s,
                        &prefill, weight * p->prefill.expected_s);
    sum.busy = busy;
    return sum;
}

static pool_load all_pools(const ridge_service_request *r, const ridge_service_price *p)
{
    const ridge_service_pool *pools = p->choice.pools;
    double chips[2];
    if (p->choice.n_pools == 1)
        return one_pool(r, p);
    for (int i = 0; i < 2; i++)
        chips[i] =
            (double)(ridge_serving_layout_chips(&pools[i].layout) * pools[i].servers);
    const pool_load prefill = load_of(&p->prefill, fmin(1, p->use));
    const pool_load decode = load_of(&p->decode, busy_share(r, &pools[1]));
    pool_load sum =
        mix(&prefill, chips[0] * prefill.busy, &decode, chips[1] * decode.busy);
    sum.busy /= chips[0] + chips[1];
    return sum;
}

/* Of a chip, beside its own: what was measured of a whole node, else its rating. */
static double host_watts(const ridge_slice *slice)
{
    const ridge_system *system = slice->system;
    const double node = system->training_watts_per_chip > 0
                            ? system->training_watts_per_chip
                            : system->node_watts / (double)system->chips_per_node;
    return fmax(0, node - slice->chip->power_watts);
}

/* Of a paid chip: those that no server takes rest. */
static double mean_draw(const ridge_chip *chip, const pool_load *load,
                        const ridge_service_price *p)
{
    const double serving = fmin(1, (double)p->chips / p->paid_chips);
    return serving *
               ridge_chip_draw_watts(chip, load->busy, load->memory, load->flops) +
           (1 - serving) * ridge_chip_draw_watts(chip, 0, 0, 0);
}

static void set_watts(const ridge_slice *slice, const pool_load *load,
                      const ridge_service_price *p, ridge_service_energy *e)
{
    const ridge_chip *chip = slice->chip;
    if (!ridge_chip_has_draw(chip) && slice->system->training_watts_per_chip > 0) {
        e->source = RIDGE_SERVICE_POWER_TRAINING;
        e->chip_watts = slice->system->training_watts_per_chip;
        return;
    }
    if (!(chip->power_watts > 0))
        return;
    e->source = ridge_chip_has_draw(chip) ? RIDGE_SERVICE_POWER_DRAWN
                                          : RIDGE_SERVICE_POWER_RATED;
    e->chip_watts = mean_draw(chip, load, p);
    e->host_watts = host_watts(slice);
}

double service_energy_floor(const ridge_service_request *r,
                            double tokens_per_s_per_chip)
{
    const ridge_slice *slice = r->slice;
    double watts = r->watts_per_chip;
    if (watts <= 0) {
        ridge_service_energy e = {.meter_watts = 0};
        const pool_load rest = {.busy = 0};
        const ridge_service_price all = {.chips = 1, .paid_chips = 1};
        set_watts(slice, &rest, &all, &e);
        watts = e.chip_watts + e.host_watts;
    }
    return watts * (r->pue > 0 ? r->pue : 1) / tokens_per_s_per_chip;
}

ridge_service_energy service_energy_of(const ridge_service_request *r,
                                       const ridge_service_price *p)
{
    const pool_load load = all_pools(r, p);
    ridge_service_energy e = {.busy_share = load.busy,
                              .memory_share = load.memory,
                              .flops_share = load.flops};
    if (r->watts_per_chip > 0) {
        e.source = RIDGE_SERVICE_POWER_GIVEN;
        e.chip_watts = r->watts_per_chip;
    } else {
        set_watts(r->slice, &load, p, &e);
    }
    e.meter_watts = (e.chip_watts + e.host_watts) * (r->pue > 0 ? r->pue : 1);
    if (p->tokens_per_s_per_chip > 0)
        e.joules_per_token = e.meter_watts / p->tokens_per_s_per_chip;
    e.usd_per_million_tokens =
        e.joules_per_token * 1e6 / (1000 * RIDGE_HOUR_S) * r->usd_per_kwh;
    return e;
}
