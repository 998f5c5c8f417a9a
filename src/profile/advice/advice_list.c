/* Pieces of advice being gathered. */
#include "advice_list.h"

#include <stdarg.h>

enum { LEAST_SHARE_INVERSE = 200, EVIDENCE_BYTES = 1024 };

void advice_add(advice_list *list, const char *key, const char *title, double worth_s,
                const char *evidence, ...)
{
    char text[EVIDENCE_BYTES];
    va_list args;
    /* Of a run that took no time nothing is worth anything. */
    if (list->n == ADVICE_MAX || !(worth_s > 0) ||
        worth_s * LEAST_SHARE_INVERSE < list->p->work_s)
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
