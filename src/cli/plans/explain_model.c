#include "explain_model.h"

#include "ridge/plan_model.h"

#include <string.h>

static bool ends_in_json(const char *word)
{
    const size_t n = strlen(word);
    return n > 5 && strcmp(word + n - 5, ".json") == 0;
}

/* Keys of a config of transformers and of a model of the catalogue. */
static bool is_model_file(ridge_ctx *cx, const char *path)
{
    static const char *const keys[] = {"model_type", "architectures", "config"};
    ridge_node root;
    if (ridge_json_read(cx, path, &root) != RIDGE_OK ||
        !ridge_json_is_absent(ridge_json_get(&root, "format")))
        return false;
    for (size_t i = 0; i < RIDGE_COUNT_OF(keys); i++) {
        if (!ridge_json_is_absent(ridge_json_get(&root, keys[i])))
            return true;
    }
    return false;
}

bool explain_model_is_asked(cli_run *run)
{
    const char *word = run->args[0];
    if (ends_in_json(word))
        return ridge_path_exists(word) && is_model_file(run->cx, word);
    return ridge_path_is_dir(word) || !ridge_path_exists(word);
}

static ridge_status explain(cli_run *run, const char *quantity, const char **title,
                            ridge_explanation *out)
{
    const ridge_model *model;
    double seq_tokens;
    RIDGE_TRY(cli_model(run, run->args[0], &model));
    RIDGE_TRY(cli_option_whole(run, "seq", ridge_model_view_seq(model),
                               CLI_SEQ_TOKENS_MOST, &seq_tokens));
    if (seq_tokens < 1)
        return ridge_fail(run->cx, RIDGE_E_ARG, "--seq must be at least 1 token");
    *title = ridge_sprintf(ridge_ctx_arena(run->cx), "%s of %s", quantity, model->name);
    return ridge_model_explain(run->cx, model, seq_tokens, quantity, out);
}

int explain_model_run(cli_run *run)
{
    const char *quantity = run->n_args > 1 ? run->args[1] : "parameters";
    const char *title = NULL;
    ridge_explanation *told = ridge_new(ridge_ctx_arena(run->cx), ridge_explanation, 1);
    if (told == NULL || explain(run, quantity, &title, told) != RIDGE_OK)
        return cli_fail(run);
    const ridge_explain_view view = {.title = title == NULL ? quantity : title,
                                     .explanation = told};
    return cli_explain_show(run, &view);
}
