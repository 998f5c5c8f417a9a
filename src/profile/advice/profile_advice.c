/* What to do: each piece with its evidence and what it is worth, best first. */
#include "advice_list.h"

#include "profile_builder.h"

#include <string.h>

static void sort(advice_list *list)
{
    for (int i = 1; i < list->n; i++) {
        for (int k = i; k > 0 && list->items[k].worth_s > list->items[k - 1].worth_s;
             k--) {
            const ridge_profile_advice kept = list->items[k];
            list->items[k] = list->items[k - 1];
            list->items[k - 1] = kept;
        }
    }
}

ridge_status profile_advice_set(ridge_ctx *cx, ridge_profile *p)
{
    advice_list list = {.cx = cx, .p = p, .steps = p->steps > 0 ? (double)p->steps : 1};
    advice_network(&list);
    advice_host(&list);
    advice_compute(&list);
    sort(&list);
    p->advice = ridge_new(ridge_ctx_arena(cx), ridge_profile_advice, (size_t)list.n);
    if (p->advice == NULL)
        return ridge_fail_nomem(cx);
    if (list.n > 0)
        memcpy(p->advice, list.items, (size_t)list.n * sizeof *p->advice);
    p->n_advice = list.n;
    return RIDGE_OK;
}
