/* `ridge model --routed`: tokens dealt to a mixture's experts. */
#include "model_routing.h"

#include "ridge/report_routing.h"

ridge_status cli_routing_is_asked(cli_run *run, bool *out)
{
    static const char *const of_routing[] = {"experts", "ep", "capacity", NULL};
    *out = cli_option_text(run, "routed") != NULL;
    if (*out)
        return RIDGE_OK;
    return cli_refuse_options(run, of_routing, "is of --routed TOKENS: give that too");
}

/* "256/8": experts, and how many of them a token chooses. */
static ridge_status read_experts(cli_run *run, const char *text,
                                 ridge_routing_request *out)
{
    enum { EXPERTS_MOST = 1 << 30 };
    ridge_str chosen = ridge_str_of(text);
    const ridge_str experts = ridge_str_cut(&chosen, '/');
    if (ridge_parse_i64(experts, &out->experts) && chosen.p != NULL &&
        ridge_parse_i64(chosen, &out->chosen) && out->experts > 0 &&
        out->experts <= EXPERTS_MOST)
        return RIDGE_OK;
    return ridge_fail(run->cx, RIDGE_E_ARG,
                      "--experts '%.40s': experts (at most 2^30) and those of a token, "
                      "as in 256/8",
                      text);
}

static ridge_status find_experts(cli_run *run, const ridge_model *model,
                                 ridge_routing_request *out)
{
    const char *text = cli_option_text(run, "experts");
    if (text != NULL)
        return read_experts(run, text, out);
    for (int i = 0; model != NULL && i < model->n_layers; i++) {
        const ridge_ffn *f = &model->layers[i].ffn;
        if (f->kind != RIDGE_FFN_MOE)
            continue;
        out->experts = f->experts;
        out->chosen = f->experts_per_token;
        return RIDGE_OK;
    }
    return ridge_fail(run->cx, RIDGE_E_ARG,
                      model == NULL ? "--routed wants a mixture: name one, or give "
                                      "--experts 256/8"
                                    : "--routed is of mixtures and %s has no experts: "
                                      "name one, or give --experts 256/8",
                      model == NULL ? "" : model->name);
}

static ridge_status read_request(cli_run *run, const ridge_model *model,
                                 ridge_routing_request *out)
{
    enum { TOKENS_MOST = 1 << 30, RANKS_MOST = 1 << 20 };
    double tokens, ranks;
    *out = (ridge_routing_request){.ranks = 1};
    RIDGE_TRY(find_experts(run, model, out));
    RIDGE_TRY(cli_option_whole(run, "routed", 0, TOKENS_MOST, &tokens));
    RIDGE_TRY(cli_option_whole(run, "ep", 1, RANKS_MOST, &ranks));
    RIDGE_TRY(cli_option_count(run, "capacity", 0, &out->capacity));
    out->tokens = (int64_t)tokens;
    out->ranks = (int64_t)ranks;
    if (cli_option_text(run, "capacity") != NULL && !(out->capacity > 0))
        return ridge_fail(run->cx, RIDGE_E_ARG, "--capacity is a factor above 0");
    return RIDGE_OK;
}

static int emit(cli_run *run, const ridge_routing_view *view)
{
    ridge_buf text;
    ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    if (run->html_path) {
        ridge_buf page;
        ridge_buf_init(&page, ridge_ctx_arena(run->cx));
        ridge_routing_write_html(run->cx, view, &page);
        const int code = cli_emit_html(run, &page);
        if (code)
            return code;
    }
    if (run->is_json) {
        ridge_json *object = cli_json_begin(run);
        ridge_routing_write_json(run->cx, view, object);
        return cli_emit_json(run, object);
    }
    ridge_routing_write_text(run->cx, view, run->has_colour, &text);
    return cli_emit_text(run, &text);
}

int cli_model_routing(cli_run *run, const ridge_model *model)
{
    ridge_routing_request request;
    ridge_routing routing;
    if (read_request(run, model, &request) != RIDGE_OK ||
        ridge_routing_find(run->cx, &request, &routing) != RIDGE_OK)
        return cli_fail(run);
    const ridge_routing_view view = {model == NULL ? NULL : model->name, &request,
                                     &routing};
    return emit(run, &view);
}
