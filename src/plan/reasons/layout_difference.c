/* Where one layout loses against another. */
#include "ridge/plan_reasons.h"

#include <math.h>

/* Of 335 pairs of measured layouts of one model on one machine that were predicted this
 * far apart or farther, 87 % stood in the predicted order; of nearer ones about half:
 * `ridge validate --rows` over the rows of docs/accuracy.md. */
static const double TELL_APART = 0.03;

int ridge_train_differences(const ridge_train_price *best,
                            const ridge_train_price *other, ridge_difference *out)
{
    ridge_difference all[RIDGE_STEP_COUNT];
    int n = 0;
    for (int i = 0; i < RIDGE_STEP_COUNT; i++) {
        const double change_s =
            ridge_step_get(&other->parts, i) - ridge_step_get(&best->parts, i);
        if (fabs(change_s) < 1e-3 * best->step_time_s)
            continue;
        int at = n++;
        for (; at > 0 && fabs(all[at - 1].change_s) < fabs(change_s); at--)
            all[at] = all[at - 1];
        all[at] = (ridge_difference){i, change_s};
    }
    if (n > RIDGE_DIFFERENCE_MAX)
        n = RIDGE_DIFFERENCE_MAX;
    for (int i = 0; i < n; i++)
        out[i] = all[i];
    return n;
}

bool ridge_train_is_tie(const ridge_train_price *best, const ridge_train_price *other)
{
    return other->step_time_s <= best->step_time_s * (1 + TELL_APART);
}
