/* Samples kept by the first round, met again by the second, and settled. */
#include "calibration.h"

#include <math.h>
#include <string.h>

/* Rounds that are further apart in a unit's whole time did not have the machine to
 * themselves both times; short samples alone scatter as much on a quiet one. */
static const double DISTURBED = 1.25;

double ridge__quicker_s(double a_s, double b_s)
{
    return a_s <= 0.0 ? b_s : b_s <= 0.0 ? a_s : fmin(a_s, b_s);
}

void ridge__unit_begin(ridge__calibrator *c)
{
    c->unit++;
}

void ridge__samples_again(ridge__calibrator *c)
{
    c->is_again = true;
    c->matmul.met = c->attention.met = c->stream.met = c->collective.met = 0;
}

/* ---- keeping --------------------------------------------------------------------- */

static bool is_same(const ridge__sample *a, const ridge__sample *b)
{
    for (int i = 0; i < RIDGE_GRID_AXIS_MAX; i++) {
        if (a->at[i] != b->at[i])
            return false;
    }
    return strcmp(a->name, b->name) == 0;
}

/* The sample of the first round that this one repeats; NULL: there is none. */
static ridge__sample *meet(ridge__samples *s, const ridge__sample *sample)
{
    for (int i = s->met; i < s->n; i++) {
        if (is_same(&s->items[i], sample)) {
            s->met = i + 1;
            return &s->items[i];
        }
    }
    return NULL;
}

static ridge_status append(ridge__calibrator *c, ridge__samples *to,
                           const ridge__sample *sample)
{
    enum { SAMPLES_MOST = 8192 };
    if (to->items == NULL) {
        to->most = SAMPLES_MOST;
        to->items = ridge_new(ridge_ctx_arena(c->cx), ridge__sample, (size_t)to->most);
        if (to->items == NULL)
            return ridge_fail_nomem(c->cx);
    }
    if (to->n == to->most)
        return ridge_fail(c->cx, RIDGE_E_INTERNAL, "more than %d samples", to->most);
    to->items[to->n] = *sample;
    to->items[to->n].unit = c->unit;
    to->items[to->n++].again_s = 0.0;
    return RIDGE_OK;
}

ridge_status ridge__sample_add(ridge__calibrator *c, ridge__samples *to,
                               const ridge__sample *sample)
{
    ridge__sample *known = c->is_again ? meet(to, sample) : NULL;
    if (known == NULL)
        return append(c, to, sample);
    known->again_s = sample->seconds;
    return RIDGE_OK;
}

/* ---- settling -------------------------------------------------------------------- */

/* Whole times of the rounds in n samples, of those that both have. */
static void whole_times(const ridge__sample *s, int n, double *first_s, double *again_s)
{
    *first_s = *again_s = 0.0;
    for (int i = 0; i < n; i++) {
        if (s[i].again_s <= 0.0)
            continue;
        *first_s += s[i].seconds;
        *again_s += s[i].again_s;
    }
}

/* @return whether a round was disturbed */
static bool settle_unit(ridge__sample *s, int n)
{
    double first_s, again_s;
    whole_times(s, n, &first_s, &again_s);
    const bool is_disturbed =
        fmax(first_s, again_s) > DISTURBED * fmin(first_s, again_s);
    for (int i = 0; i < n; i++) {
        if (s[i].again_s <= 0.0)
            continue;
        const double mean_s = 0.5 * (s[i].seconds + s[i].again_s);
        const double quicker_s = first_s < again_s ? s[i].seconds : s[i].again_s;
        s[i].seconds = is_disturbed ? quicker_s : mean_s;
    }
    return is_disturbed;
}

static void settle(ridge__samples *s, int *units, int *disturbed)
{
    for (int i = 0, n; i < s->n; i += n) {
        for (n = 1; i + n < s->n && s->items[i + n].unit == s->items[i].unit; n++)
            continue;
        *units += 1;
        *disturbed += settle_unit(&s->items[i], n);
    }
}

double ridge__samples_settle(ridge__calibrator *c)
{
    int units = 0, disturbed = 0;
    settle(&c->matmul, &units, &disturbed);
    settle(&c->attention, &units, &disturbed);
    settle(&c->stream, &units, &disturbed);
    settle(&c->collective, &units, &disturbed);
    return units > 0 ? (double)disturbed / units : 0.0;
}
