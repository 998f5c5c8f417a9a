/*
 * ridge export: a plan as the launch configuration of a framework or a serving engine.
 */
#include "export_service.h"
#include "plan_request.h"
#include "service_plan.h"

#include "ridge/plan_launch.h"

#include <stdio.h>

/* What is lacking may be much: the search knows it all at once. */
static ridge_status refuse(cli_run *run, const char *to)
{
    const char *why = ridge_str_dup(ridge_ctx_arena(run->cx),
                                    ridge_str_of(ridge_ctx_message(run->cx)));
    if (why == NULL)
        return ridge_fail_nomem(run->cx);
    return ridge_fail(run->cx, RIDGE_E_ARG, "%s, or search for it: ridge train --to %s",
                      why, to);
}

static ridge_status write_training(cli_run *run, const char *to, ridge_launch_text *out)
{
    ridge_plan plan;
    ridge_train_request request = {.top = 1};
    ridge_train_price price;
    ridge_launcher launcher;
    RIDGE_TRY(ridge_launcher_parse(run->cx, to, &launcher));
    RIDGE_TRY(ridge_plan_read(run->cx, run->args[0], &plan));
    RIDGE_TRY(cli_plan_request(run, &plan, &request));
    RIDGE_TRY(ridge_train_price_one(run->cx, &request, &plan.layout, &price));
    if (price.step_time_s <= 0) {
        return ridge_fail(run->cx, RIDGE_E_ARG, "%s: the layout is not legal: %s",
                          run->args[0], ridge_fit_text(price.fit));
    }
    const ridge_status st = ridge_launch_write(run->cx, launcher, &request,
                                               plan.model_name, &plan.layout, out);
    return st == RIDGE_E_ARG ? refuse(run, to) : st;
}

static ridge_status write_launch(cli_run *run, ridge_launch_text *out)
{
    const char *to = cli_option_text(run, "to");
    bool is_service = false;
    if (!to) {
        return ridge_fail(run->cx, RIDGE_E_ARG,
                          "export needs --to LAUNCHER: megatron, megatron-bridge, "
                          "maxtext, torchtitan, deepspeed or jax; vllm, vllm-yaml, "
                          "vllm-tpu, sglang, trtllm, tgi, lmdeploy, jetstream or "
                          "maxtext of a serving plan");
    }
    RIDGE_TRY(cli_plan_is_service(run, run->args[0], &is_service));
    return is_service ? export_service_write(run, to, out)
                      : write_training(run, to, out);
}

static ridge_json *as_json(cli_run *run, const ridge_launch_text *launch)
{
    ridge_json *o = cli_json_begin(run);
    ridge_json_set_text(o, "launcher", cli_option_text(run, "to"));
    ridge_json_set_text(o, "text", ridge_buf_text(&launch->text));
    ridge_json *notes = ridge_json_set_array(run->cx, o, "notes");
    for (int i = 0; i < launch->notes.n; i++)
        ridge_json_push_text(notes, launch->notes.text[i]);
    return o;
}

static void tell_note(cli_run *run, const char *note)
{
    cli_tell(run, "ridge: note: ");
    cli_tell(run, note);
    cli_tell(run, "\n");
}

static int write_page(cli_run *run, const ridge_launch_text *launch)
{
    ridge_buf about;
    const char *title = ridge_sprintf(ridge_ctx_arena(run->cx), "%s for %s",
                                      run->args[0], cli_option_text(run, "to"));
    ridge_buf_init(&about, ridge_ctx_arena(run->cx));
    for (int i = 0; i < launch->notes.n; i++)
        ridge_buf_printf(&about, "%s%s", i > 0 ? "; " : "", launch->notes.text[i]);
    return cli_emit_listing(run, title != NULL ? title : "Launch",
                            ridge_buf_text(&about), ridge_buf_text(&launch->text));
}

static int run_export(cli_run *run)
{
    ridge_launch_text *launch =
        ridge_new(ridge_ctx_arena(run->cx), ridge_launch_text, 1);
    if (!launch || write_launch(run, launch) != RIDGE_OK)
        return cli_fail(run);
    const int code = write_page(run, launch);
    if (code)
        return code;
    if (run->is_json)
        return cli_emit_json(run, as_json(run, launch));
    for (int i = 0; i < launch->notes.n; i++)
        tell_note(run, launch->notes.text[i]);
    return cli_emit_text(run, &launch->text);
}

static const cli_option options[] = {
    {"to", "LAUNCHER",
     "megatron, megatron-bridge, maxtext, torchtitan, deepspeed or jax; of a serving "
     "plan vllm, vllm-yaml, vllm-tpu, sglang, trtllm, tgi, lmdeploy, jetstream or "
     "maxtext (required)"},
    {NULL, NULL, NULL}};

const cli_verb cli_verb_export = {
    .name = "export",
    .summary = "a plan as the launch configuration of a framework or an engine",
    .synopsis = "PLAN --to LAUNCHER",
    .detail =
        "PLAN is a file written by `ridge train ... --plan FILE` or `ridge serve ... "
        "--plan FILE`.\nLAUNCHER of a training plan is one of\n"
        "  megatron         arguments of Megatron-LM, one a line: $(cat FILE)\n"
        "  megatron-bridge  overrides of a Megatron-Bridge recipe, Python\n"
        "  maxtext          a MaxText configuration, yml\n"
        "  torchtitan       a torchtitan job configuration, toml\n"
        "  deepspeed        a DeepSpeed configuration, json\n"
        "  jax              a mesh and the partition specs of all arrays, Python\n"
        "and of a serving plan, aggregated or disaggregated,\n"
        "  vllm             vllm serve commands\n"
        "  vllm-yaml        a file of vllm serve --config\n"
        "  vllm-tpu         vllm serve commands for TPUs\n"
        "  sglang           sglang.launch_server commands\n"
        "  trtllm           trtllm-serve commands with their yaml files\n"
        "  tgi              text-generation-launcher commands\n"
        "  lmdeploy         lmdeploy serve api_server commands\n"
        "  jetstream        the command of a JetStream server of MaxText\n"
        "  maxtext          the same as a MaxText configuration, yml\n"
        "\n"
        "What the framework cannot express is refused, with what to plan instead. "
        "What\n"
        "it does otherwise in detail, and what a plan leaves open (data, tokenizer,\n"
        "learning rate), is said on stderr and in comments where the format has them.\n"
        "`ridge train --from FILE` and `ridge serve --from FILE` go the other way.",
    .example = "ridge export examples/plan.json --to maxtext",
    .options = options,
    .min_args = 1,
    .max_args = 1,
    .run = run_export,
};
