/* What to do: each piece with its evidence and what it is worth, best first. */
#include "advice_list.h"

#include "profile_builder.h"

#include <stdarg.h>
#include <string.h>

enum { LEAST_SHARE_INVERSE = 200, EVIDENCE_BYTES = 1024 };

void advice_add(advice_list *list, const char *key, const char *title, double worth_s,
                const char *evidence, ...)
{
    char text[EVIDENCE_BYTES];
    va_list args;
    if (list->n == ADVICE_MAX || worth_s * LEAST_SHARE_INVERSE < list->p->work_s)
        return;
    va_start(args, evidence);
    vsnprintf(text, sizeof text, evidence, args);
    va_end(args);
    const char *kept = ridge_str_dup(ridge_ctx_arena(list->cx), ridge_str_of(text));
    list->items[list->n++] = (ridge_profile_advice){
        key, title, kept == NULL ? "" : kept, worth_s / list->steps};
}

ridge_text advice_step_text(const advice_list *list, double all_s)
{
    return ridge_format_seconds(all_s / list->steps);
}

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
