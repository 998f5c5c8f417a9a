/* What a chip draws from the mains in training: measured where that is published, else
 * ratings, and which of these it is. */
#include "ridge/plan_money.h"

static const char *const source_texts[] = {
    [RIDGE_POWER_UNKNOWN] = "not published",
    [RIDGE_POWER_GIVEN] = "given",
    [RIDGE_POWER_MEASURED] = "measured in training",
    [RIDGE_POWER_RATED] = "rating of the node",
    [RIDGE_POWER_CHIP] = "rating of the chip alone",
};
_Static_assert(RIDGE_COUNT_OF(source_texts) == RIDGE_POWER_CHIP + 1,
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
