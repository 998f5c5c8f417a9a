/* Which quantities can be explained, and the frame in which their derivations are told.
 */
#include "explain_story.h"
#include "reason.h"
#include "train_terms.h"

#include <string.h>

typedef struct explained {
    const char *name;
    void (*tell)(story *s, int depth);
} explained;

static const explained quantities[] = {
    {"step_time", explain_step_time},
    {"matmul", explain_matmul},
    {"attention", explain_attention},
    {"vector", explain_vector},
    {"recompute", explain_recompute},
    {"slowdown", explain_slowdown},
    {"host", explain_host},
    {"tp", explain_tp},
    {"cp", explain_cp},
    {"ep", explain_ep},
    {"imbalance", explain_imbalance},
    {"fsdp", explain_fsdp},
    {"dp", explain_dp},
    {"pp", explain_pp},
    {"bubble", explain_bubble},
    {"optimizer", explain_optimizer},
    {"offload", explain_offload},
    {"memory", explain_memory},
    {"mfu", explain_mfu},
    {"bound_step_time", explain_bound},
    {"days", explain_days},
    {"usd", explain_usd},
};

static const char *const names[] = {
    "step_time", "matmul",  "attention", "vector", "recompute",
    "slowdown",  "host",    "tp",        "cp",     "ep",
    "imbalance", "fsdp",    "dp",        "pp",     "bubble",
    "optimizer", "offload", "memory",    "mfu",    "bound_step_time",
    "days",      "usd",     NULL};
_Static_assert(RIDGE_COUNT_OF(names) == RIDGE_COUNT_OF(quantities) + 1,
               "one name per quantity");

const char *const *ridge_explain_quantities(void)
{
    return names;
}

static const char *or_empty(const char *z)
{
    return z == NULL ? "" : z;
}

/* The terms that the derivations quote, as pricing computed them. */
static ridge_status open_story(story *s, train_case *tc, train_load *load)
{
    const ridge_layout *l = &s->price->layout;
    layer_shape shape = layer_shape_of(l);
    RIDGE_TRY(train_case_set_policy(tc, l->precision, l->optimizer, &l->lora));
    train_case_set_remat(tc, l);
    s->layers = train_layer_times(tc, &shape);
    s->stages = train_case_stages(tc, l);
    s->load = load;
    if (s->layers == NULL)
        return tc->status == RIDGE_OK ? ridge_fail_nomem(s->cx) : tc->status;
    if (s->stages == NULL || !train_load_build(tc, l->tp, l->ep, l->has_sp, load))
        return ridge_fail_nomem(s->cx);
    if (!train_groups_place(tc->slice, l, l->placement, &s->groups)) {
        return ridge_fail(s->cx, RIDGE_E_ARG, "the layout does not lie on %s: %s",
                          tc->slice->text, ridge_fit_text(RIDGE_FIT_PLACEMENT));
    }
    return RIDGE_OK;
}

ridge_status ridge_train_explain(ridge_ctx *cx, const ridge_train_request *request,
                                 const ridge_train_price *price, const char *quantity,
                                 ridge_explanation *out)
{
    size_t i = 0;
    while (i < RIDGE_COUNT_OF(quantities) && strcmp(quantities[i].name, quantity) != 0)
        i++;
    if (i == RIDGE_COUNT_OF(quantities)) {
        const char *hint = ridge_suggestion(ridge_ctx_scratch(cx), quantity, names,
                                            RIDGE_COUNT_OF(quantities));
        return ridge_fail(cx, RIDGE_E_NOTFOUND,
                          "unknown quantity '%s'%s%s: try step_time, "
                          "memory, mfu, goodput, days, usd or a part of the step",
                          quantity, hint == NULL || hint[0] == '\0' ? "" : ": ",
                          or_empty(hint));
    }
    train_case tc;
    train_load load;
    RIDGE_TRY(train_case_open(cx, request, &tc));
    *out = (ridge_explanation){0};
    story s = {.cx = cx, .tc = &tc, .request = request, .price = price, .out = out};
    RIDGE_TRY(open_story(&s, &tc, &load));
    quantities[i].tell(&s, 0);
    return RIDGE_OK;
}
