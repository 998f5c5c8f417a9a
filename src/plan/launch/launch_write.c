/* The way from a plan to the writer of its launcher. */
#include "group_placement.h"
#include "launch_draft.h"

static const struct {
    const char *title;
    ridge_status (*write)(launch_draft *);
    bool has_orders; /* takes mesh axes in any order, or leaves it to others */
    /* Whether it can be told a layout, where that is known without writing. */
    ridge_status (*check)(launch_draft *);
} writers[RIDGE_LAUNCHER_COUNT] = {
    [RIDGE_LAUNCHER_MEGATRON] = {"Megatron-LM", launch_megatron_write, false, NULL},
    [RIDGE_LAUNCHER_MEGATRON_BRIDGE] = {"Megatron-Bridge", launch_bridge_write, false,
                                        NULL},
    [RIDGE_LAUNCHER_MAXTEXT] = {"MaxText", launch_maxtext_write, true, NULL},
    [RIDGE_LAUNCHER_TORCHTITAN] = {"torchtitan", launch_torchtitan_write, false, NULL},
    [RIDGE_LAUNCHER_DEEPSPEED] = {"DeepSpeed", launch_deepspeed_write, false, NULL},
    [RIDGE_LAUNCHER_JAX] = {"JAX", launch_jax_write, true, launch_jax_check},
};

/* What every launcher asks of a plan. */
static ridge_status open_draft(ridge_ctx *cx, ridge_launcher launcher,
                               const ridge_train_request *request,
                               const char *model_name, const ridge_layout *layout,
                               ridge_launch_text *text, launch_draft *draft)
{
    RIDGE_TRY(launch_draft_open(cx, request, model_name, layout, text, draft));
    draft->launcher = writers[launcher].title;
    if (!writers[launcher].has_orders &&
        !train_placement_is_usual(request->slice, layout->placement)) {
        return launch_draft_refuse(draft,
                                   "lays mesh axes in its own order: plan without "
                                   "placement=any");
    }
    return RIDGE_OK;
}

ridge_status ridge_launch_write(ridge_ctx *cx, ridge_launcher launcher,
                                const ridge_train_request *request,
                                const char *model_name, const ridge_layout *layout,
                                ridge_launch_text *out)
{
    launch_draft *draft = ridge_new(ridge_ctx_arena(cx), launch_draft, 1);
    ridge_launch_text text;
    if (draft == NULL)
        return ridge_fail_nomem(cx);
    RIDGE_TRY(open_draft(cx, launcher, request, model_name, layout, &text, draft));
    RIDGE_TRY(writers[launcher].write(draft));
    if (text.text.is_short)
        return ridge_fail_nomem(cx);
    *out = text;
    return RIDGE_OK;
}

ridge_status ridge_launch_check(ridge_ctx *cx, ridge_launcher launcher,
                                const ridge_train_request *request,
                                const char *model_name, const ridge_layout *layout)
{
    ridge_launch_text text;
    if (writers[launcher].check == NULL)
        return ridge_launch_write(cx, launcher, request, model_name, layout, &text);
    launch_draft *draft = ridge_new(ridge_ctx_arena(cx), launch_draft, 1);
    if (draft == NULL)
        return ridge_fail_nomem(cx);
    RIDGE_TRY(open_draft(cx, launcher, request, model_name, layout, &text, draft));
    return writers[launcher].check(draft);
}
