/* Bounds on a fleet's step from speeds and numbers of stages alone. */
#include "fleet_bound.h"

#include <math.h>

static const double CLOSE = 1e-12; /* relative; sums in another order differ by it */

double fleet_work_total(const fleet_work *work)
{
    double sum = 0;
    for (int k = 0; k < work->n_kinds; k++)
        sum += work->layers[k] * work->base_s[k];
    return sum;
}

double fleet_pace_speed(const fleet_work *work, const double *layer_s)
{
    double speed = 0;
    for (int k = 0; k < work->n_kinds; k++)
        speed = fmax(speed, work->base_s[k] / layer_s[k]);
    return speed;
}

double fleet_work_room(const fleet_work *work, const int64_t *room, int64_t stages)
{
    double sum = 0;
    for (int k = 0; k < work->n_kinds; k++)
        sum += work->base_s[k] * fmin(work->layers[k], (double)(stages * room[k]));
    return sum;
}

double fleet_pace_kept(int64_t stages, double microbatches)
{
    return pow(1 - 1 / microbatches, (double)stages);
}

/* What the paces that are not full do in one second of a step. */
static double rate_of(const fleet_pace *paces, int n, unsigned full,
                      double microbatches, bool has_bubble)
{
    double y = 0;
    for (int i = n - 1; i >= 0; i--) {
        const double s = paces[i].speed;
        if ((full >> i & 1U) != 0)
            continue;
        if (!has_bubble) {
            y += (double)paces[i].stages * s / microbatches;
        } else if (s > y) {
            y = s - (s - y) * paces[i].kept;
        }
    }
    return y;
}

double fleet_bound_s(const fleet_pace *paces, int n, double work, double microbatches,
                     bool has_bubble)
{
    double bound_s = 0;
    for (unsigned full = 0; full < 1U << n; full++) {
        double left = work;
        if ((full >> (n - 1) & 1U) == 0)
            left += paces[n - 1].speed * paces[n - 1].head_s;
        for (int i = 0; i < n; i++)
            left -= (full >> i & 1U) != 0 ? paces[i].room : 0;
        if (left > CLOSE * work)
            bound_s =
                fmax(bound_s, left / rate_of(paces, n, full, microbatches, has_bubble));
    }
    return bound_s * (1 - CLOSE);
}
