#include "layout_front.h"

#include <math.h>

/* The last layout that is not slower, -1: none. */
static int last_within(const layout_front *f, double time_s)
{
    int low = -1;
    int high = f->n;
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (f->layouts[middle].step_time_s <= time_s) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

bool layout_front_beats(const layout_front *f, double least_s, double bytes)
{
    int i = last_within(f, least_s);
    return i >= 0 && f->layouts[i].peak_memory_bytes <= bytes;
}

/* The layout whose neighbours in time are nearest to each other; never an end. */
static int least_missed(const layout_front *f)
{
    int least = 1;
    double gap = (double)INFINITY;
    for (int i = 1; i + 1 < f->n; i++) {
        double g = f->layouts[i + 1].step_time_s / f->layouts[i - 1].step_time_s;
        if (g < gap) {
            gap = g;
            least = i;
        }
    }
    return least;
}

static void remove_at(layout_front *f, int at)
{
    f->n--;
    for (int i = at; i < f->n; i++)
        f->layouts[i] = f->layouts[i + 1];
}

void layout_front_thin(layout_front *f, int most)
{
    while (f->n > most && f->n > 2)
        remove_at(f, least_missed(f));
}

void layout_front_insert(layout_front *f, const ridge_train_price *p)
{
    if (f->most < 3 || layout_front_beats(f, p->step_time_s, p->peak_memory_bytes))
        return;
    int at = last_within(f, p->step_time_s) + 1;
    if (at > 0 && f->layouts[at - 1].step_time_s == p->step_time_s)
        at--;
    while (at < f->n && f->layouts[at].peak_memory_bytes >= p->peak_memory_bytes)
        remove_at(f, at);
    if (f->n == f->most) {
        int missed = least_missed(f);
        remove_at(f, missed);
        at -= missed < at ? 1 : 0;
    }
    for (int i = f->n++; i > at; i--)
        f->layouts[i] = f->layouts[i - 1];
    f->layouts[at] = *p;
}
