#include "train_target.h"

#include "train_offer.h"
#include "train_rivals.h"

#include "ridge/plan_launch.h"

ridge_status train_target_read(cli_run *run, const char *model_name,
                               ridge_train_request *request)
{
    const char *text = cli_option_text(run, "to");
    ridge_launch_target *target;
    if (text == NULL)
        return RIDGE_OK;
    if (train_offer_is_asked(run) || train_rivals_are_asked(run) ||
        request->slice->next != NULL)
        return ridge_fail(run->cx, RIDGE_E_ARG,
                          "--to is of one model on one slice of like chips: leave it "
                          "out, or ask for each");
    target = ridge_new(ridge_ctx_arena(run->cx), ridge_launch_target, 1);
    if (target == NULL)
        return ridge_fail_nomem(run->cx);
    target->model_name = model_name;
    request->target = target;
    return ridge_launcher_parse(run->cx, text, &target->launcher);
}

/* What recomputing and the host hide first: of a layout that keeps everything it is
 * what the launcher lacks whatever is chosen beside it. */
static ridge_status tell_lack(cli_run *run, const ridge_train_request *request,
                              const ridge_layout *found)
{
    const ridge_launch_target *target = request->target;
    ridge_launch_text text;
    ridge_layout plain = *found;
    plain.remat = RIDGE_REMAT_NONE;
    plain.remat_ops = 0;
    plain.remat_layers = 0;
    plain.offload = RIDGE_OFFLOAD_NONE;
    RIDGE_TRY(ridge_launch_write(run->cx, target->launcher, request, target->model_name,
                                 &plain, &text));
    return ridge_launch_write(run->cx, target->launcher, request, target->model_name,
                              found, &text);
}

ridge_status train_target_explain(cli_run *run, const ridge_train_request *request,
                                  const ridge_train_result *result)
{
    ridge_train_request any = *request;
    ridge_train_result found;
    if (request->target == NULL || result->n_layouts > 0)
        return RIDGE_OK;
    any.target = NULL;
    any.top = 1;
    any.front = 0;
    RIDGE_TRY(ridge_train_search(run->cx, &any, &found));
    if (found.n_layouts == 0) /* nor fits any other */
        return RIDGE_OK;
    return tell_lack(run, request, &found.layouts[0].layout);
}

void train_target_text(const ridge_train_request *request, ridge_buf *out)
{
    if (request->target == NULL)
        return;
    const char *name = ridge_launcher_text(request->target->launcher);
    ridge_buf_printf(out,
                     "Layouts that %s can be told (%s), the others left out.\n"
                     "--plan FILE and ridge export FILE --to %s write it.\n\n",
                     name, ridge_launcher_what(request->target->launcher), name);
}
