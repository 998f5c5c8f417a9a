/* What a chip draws from the mains in training: by the load of its step where that is
 * known, else measured or rated, and which of these it is. */
#include "ridge/plan_money.h"

#include <math.h>

static const char *const source_texts[] = {
    [RIDGE_POWER_UNKNOWN] = "not published",
    [RIDGE_POWER_GIVEN] = "given",
    [RIDGE_POWER_MEASURED] = "measured in training",
    [RIDGE_POWER_RATED] = "rating of the node",
    [RIDGE_POWER_CHIP] = "rating of the chip alone",
    [RIDGE_POWER_LOAD] = "by load",
};
_Static_assert(RIDGE_COUNT_OF(source_texts) == RIDGE_POWER_LOAD + 1,
               "one text per source");

const char *ridge_power_source_text(ridge_power_source source)
{
    return source_texts[source];
}

/* The network's share counts where the data knows it; a site's own wins. */
static double network_watts(const ridge_slice *slice, const ridge_site *site)
{
    if (site->network_watts_per_chip > 0)
        return site->network_watts_per_chip;
    return slice->hosts > 1 ? slice->system->network_watts_per_chip : 0;
}

ridge_power ridge_power_of(const ridge_slice *slice, const ridge_money_request *money)
{
    const ridge_system *system = slice->system;
    ridge_power p = {.pue = money->pue > 0 ? money->pue : money->site->pue};
    if (money->watts_per_chip > 0) {
        p.source = RIDGE_POWER_GIVEN;
        p.chip_watts = money->watts_per_chip;
    } else if (system->training_watts_per_chip > 0) {
        p.source = RIDGE_POWER_MEASURED;
        p.chip_watts = system->training_watts_per_chip;
    } else if (system->node_watts > 0) {
        p.source = RIDGE_POWER_RATED;
        p.chip_watts = system->node_watts / (double)system->chips_per_node;
    } else if (slice->chip->power_watts > 0) {
        p.source = RIDGE_POWER_CHIP;
        p.chip_watts = slice->chip->power_watts;
    }
    if (p.source == RIDGE_POWER_MEASURED || p.source == RIDGE_POWER_RATED) {
        p.network_watts = network_watts(slice, money->site);
        p.chip_watts += p.network_watts;
    }
    if (p.pue <= 0)
        p.pue = 1;
    p.meter_watts = p.chip_watts * p.pue;
    return p;
}

/* ---- by load ----------------------------------------------------------------------
 */

/* Of a step: time in which it computes, and what that asks of memory and products. */
typedef struct step_load {
    double compute, memory, flops;
} step_load;

static step_load load_of(const ridge_train_price *price)
{
    const ridge_step_parts *p = &price->parts;
    const double streams_s = p->vector_s + p->optimizer_s;
    const double compute_s =
        p->matmul_s + p->attention_s + p->recompute_s + p->slowdown_s + streams_s;
    if (compute_s <= 0)
        return (step_load){1, 1, 1};
    return (step_load){.compute = fmin(1, compute_s / price->step_time_s),
                       .memory = fmin(1, streams_s / compute_s),
                       .flops = fmin(1, price->hfu * price->step_time_s / compute_s)};
}

/* Kernels of collectives and of ranks that wait are running too: they ask nothing. */
static double mean_draw(const ridge_chip *chip, const step_load *load)
{
    return load->compute * ridge_chip_draw_watts(chip, 1, load->memory, load->flops) +
           (1 - load->compute) * ridge_chip_draw_watts(chip, 1, 0, 0);
}

ridge_power ridge_power_of_step(const ridge_slice *slice,
                                const ridge_money_request *money,
                                const ridge_train_price *price)
{
    const ridge_chip *chip = slice->chip;
    ridge_power p = ridge_power_of(slice, money);
    const bool is_node =
        p.source == RIDGE_POWER_MEASURED || p.source == RIDGE_POWER_RATED;
    if (!is_node || !ridge_chip_has_draw(chip) || !(price->step_time_s > 0))
        return p;
    const step_load load = load_of(price);
    const double draw = mean_draw(chip, &load);
    p.source = RIDGE_POWER_LOAD;
    p.host_watts = fmax(0, p.chip_watts - p.network_watts - chip->power_watts);
    p.chip_load = draw / chip->power_watts;
    p.chip_watts = draw + p.host_watts + p.network_watts;
    p.idle_watts =
        ridge_chip_draw_watts(chip, 0, 0, 0) + p.host_watts + p.network_watts;
    p.meter_watts = p.chip_watts * p.pue;
    return p;
}
