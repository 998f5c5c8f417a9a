/* How often a job on a slice fails, from what is told or published of nodes and chips.
 */
#include "ridge/plan_money.h"

#include <math.h>

double ridge_money_mtbf_s(const ridge_slice *slice, const ridge_money_request *money)
{
    const double chips = (double)slice->chips;
    if (money->is_reliable)
        return (double)INFINITY;
    if (money->has_mtbf) {
        switch (money->mtbf_scope) {
        case RIDGE_MTBF_JOB:
            return money->mtbf_s;
        case RIDGE_MTBF_NODE:
            return money->mtbf_s / (double)slice->hosts;
        case RIDGE_MTBF_CHIP:
            return money->mtbf_s / chips;
        }
    }
    if (money->failures == NULL)
        return 0;
    return RIDGE_HOUR_S / (money->failures->failures_per_chip_hour * chips);
}
