/* Two profiles joined by part and by key. */
#include "ridge/profile_compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double steps_of(const ridge_profile *p)
{
    return p->steps > 0 ? (double)p->steps : 1;
}

static double part_s(const ridge_profile *p, int part)
{
    return 1e-9 * (double)p->times.part_ns[part] / steps_of(p);
}

static double change_size(const ridge_profile_change *c)
{
    return fabs(c->after_s - c->before_s);
}

static int compare_changes(const void *a, const void *b)
{
    const ridge_profile_change *x = a;
    const ridge_profile_change *y = b;
    const double dx = change_size(x);
    const double dy = change_size(y);
    return dx != dy ? (dx > dy ? -1 : 1) : strcmp(x->name, y->name);
}

static int compare_names(const void *a, const void *b)
{
    const ridge_profile_group *x = a;
    const ridge_profile_group *y = b;
    return strcmp(x->name, y->name);
}

static void side_set(const ridge_profile_group *g, double steps, double *s,
                     double *count)
{
    *s = 1e-9 * (double)g->time_ns / steps;
    *count = (double)g->count / steps;
}

/* Both sides in order of names: one pass joins them. */
static void join(const ridge_profile_group *before, int n,
                 const ridge_profile_group *after, int m, ridge_profile_diff *d)
{
    int i = 0;
    int k = 0;
    while (i < n || k < m) {
        ridge_profile_change *c = &d->groups[d->n_groups++];
        const int order = i == n   ? 1
                          : k == m ? -1
                                   : strcmp(before[i].name, after[k].name);
        c->name = order <= 0 ? before[i].name : after[k].name;
        if (order <= 0)
            side_set(&before[i++], steps_of(d->before), &c->before_s, &c->before_count);
        if (order >= 0)
            side_set(&after[k++], steps_of(d->after), &c->after_s, &c->after_count);
    }
}

static ridge_status groups_join(ridge_ctx *cx, ridge_profile_diff *d)
{
    ridge_profile_group *before;
    ridge_profile_group *after;
    int n;
    int m;
    RIDGE_TRY(ridge_profile_group_by(cx, d->before, d->key, &before, &n));
    RIDGE_TRY(ridge_profile_group_by(cx, d->after, d->key, &after, &m));
    d->groups =
        ridge_new(ridge_ctx_arena(cx), ridge_profile_change, (size_t)n + (size_t)m);
    if (d->groups == NULL)
        return ridge_fail_nomem(cx);
    qsort(before, (size_t)n, sizeof *before, compare_names);
    qsort(after, (size_t)m, sizeof *after, compare_names);
    join(before, n, after, m, d);
    qsort(d->groups, (size_t)d->n_groups, sizeof *d->groups, compare_changes);
    return RIDGE_OK;
}

static ridge_status check_work(ridge_ctx *cx, const ridge_profile *p)
{
    if (p->times.total_ns > 0)
        return RIDGE_OK;
    return ridge_fail(cx, RIDGE_E_ARG,
                      "%s: no device is at work in it: nothing can be compared",
                      p->path);
}

ridge_status ridge_profile_diff_build(ridge_ctx *cx, const ridge_profile *before,
                                      const ridge_profile *after, ridge_profile_key key,
                                      ridge_profile_diff *out)
{
    ridge_profile_diff d = {.before = before, .after = after, .key = key};
    RIDGE_TRY(check_work(cx, before));
    RIDGE_TRY(check_work(cx, after));
    d.step = (ridge_profile_change){"step", before->step_s, after->step_s, 0, 0};
    d.hidden = (ridge_profile_change){
        "hidden communication",
        1e-9 * (double)ridge_profile_hidden_ns(&before->times) / steps_of(before),
        1e-9 * (double)ridge_profile_hidden_ns(&after->times) / steps_of(after), 0, 0};
    for (int i = 0; i < RIDGE_PROFILE_PART_COUNT; i++) {
        const double b = part_s(before, i);
        const double a = part_s(after, i);
        if (b > 0 || a > 0)
            d.parts[d.n_parts++] = (ridge_profile_change){
                ridge_profile_part_text((ridge_profile_part)i), b, a, 0, 0};
    }
    RIDGE_TRY(groups_join(cx, &d));
    *out = d;
    return RIDGE_OK;
}
