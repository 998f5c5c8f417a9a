#include "search_target.h"

#include "ridge/plan_launch.h"

/* Asked of the writers: so nothing is found that one refuses. What is written for that
 * goes with a ctx of its own. */
bool search_is_taken(search_desk *d, const ridge_layout *l)
{
    const ridge_train_request *r = d->tc.request;
    const ridge_launch_target *target = r->target;
    if (target == NULL)
        return true;
    ridge_ctx *cx = ridge_ctx_open();
    const ridge_status st =
        cx == NULL ? RIDGE_E_NOMEM
                   : ridge_launch_check(cx, target->launcher, r, target->model_name, l);
    if (cx != NULL)
        ridge_ctx_close(cx);
    d->is_short = d->is_short || st == RIDGE_E_NOMEM;
    return st == RIDGE_OK;
}

bool search_is_any_taken(search_desk *d, const candidate *c, const ridge_layout *l)
{
    ridge_layout at = *l;
    bool is_any = d->tc.request->target == NULL || c->places->n == 0;
    for (int i = 0; i < c->places->n && !is_any; i++) {
        at.placement = c->places->index[i];
        is_any = search_is_taken(d, &at);
    }
    return is_any;
}
