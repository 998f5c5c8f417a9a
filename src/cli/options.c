/*
 * Values of parsed options, and what most verbs open by them: the catalogue, the
 * library of models, a slice.
 */
#include "cli.h"

#include "ridge/execute_weights.h"

#include <math.h>
#include <string.h>

const char *cli_option_text(const cli_run *run, const char *name)
{
    for (int i = run->n_options - 1; i >= 0; i--) {
        if (strcmp(run->options[i].key, name) == 0)
            return run->options[i].value;
    }
    return NULL;
}

ridge_status cli_refuse_options(cli_run *run, const char *const *names,
                                const char *what)
{
    for (int i = 0; names[i] != NULL; i++) {
        if (cli_option_text(run, names[i]) != NULL)
            return ridge_fail(run->cx, RIDGE_E_ARG, "--%s %s", names[i], what);
    }
    return RIDGE_OK;
}

ridge_status cli_option_count(cli_run *run, const char *name, double fallback,
                              double *out)
{
    const char *text = cli_option_text(run, name);
    double v = fallback;
    if (text && !ridge_parse_count(ridge_str_of(text), &v)) {
        return ridge_fail(run->cx, RIDGE_E_ARG,
                          "--%s '%s' is not a count: write 4096, 4M or 15T", name,
                          text);
    }
    *out = v;
    return RIDGE_OK;
}

ridge_status cli_option_whole(cli_run *run, const char *name, double fallback,
                              double most, double *out)
{
    RIDGE_TRY(cli_option_count(run, name, fallback, out));
    if (floor(*out) != *out || *out > most)
        return ridge_fail(run->cx, RIDGE_E_ARG,
                          "--%s: expected a whole number up to %s", name,
                          ridge_format_count(most).s);
    return RIDGE_OK;
}

ridge_status cli_option_bytes(cli_run *run, const char *name, double fallback,
                              double *out)
{
    const char *text = cli_option_text(run, name);
    double v = fallback;
    if (text && !ridge_parse_bytes(ridge_str_of(text), &v)) {
        return ridge_fail(run->cx, RIDGE_E_ARG,
                          "--%s '%s' is not a size: write 64MiB, 1GB or 512", name,
                          text);
    }
    *out = v;
    return RIDGE_OK;
}

ridge_status cli_option_dtype(cli_run *run, const char *name, ridge_dtype fallback,
                              ridge_dtype *out)
{
    const char *text = cli_option_text(run, name);
    if (!text) {
        *out = fallback;
        return RIDGE_OK;
    }
    ridge_status st = ridge_dtype_parse(run->cx, text, out);
    if (st != RIDGE_OK)
        ridge_ctx_note(run->cx, "--%s", name);
    return st;
}

ridge_status cli_slice(cli_run *run, const ridge_slice **out)
{
    const char *text = cli_option_text(run, "on");
    if (!text) {
        return ridge_fail(run->cx, RIDGE_E_ARG,
                          "--on SLICE is missing: for example --on v5p:8x8x8 or "
                          "--on h100:4x8");
    }
    const ridge_catalog *catalog = NULL;
    RIDGE_TRY(cli_catalog(run, &catalog));
    return ridge_slice_parse(run->cx, catalog, text, out);
}

ridge_status cli_stack(cli_run *run, const char *name, const ridge_stack **out)
{
    const ridge_catalog *catalog;
    *out = NULL;
    if (!name)
        return RIDGE_OK;
    RIDGE_TRY(cli_catalog(run, &catalog));
    RIDGE_TRY(ridge_stack_find(run->cx, catalog, name, out));
    if (strcmp((*out)->name, "well-tuned") == 0)
        *out = NULL; /* it takes nothing from the chips' own facts */
    return RIDGE_OK;
}

const ridge_stack *cli_usual_stack(const ridge_catalog *catalog,
                                   const ridge_slice *slice)
{
    const ridge_stack *stack = ridge_stack_usual(catalog, slice->chip, false);
    for (slice = slice->next; slice != NULL; slice = slice->next) {
        if (ridge_stack_usual(catalog, slice->chip, false) != stack)
            return NULL;
    }
    return stack;
}

ridge_status cli_catalog(cli_run *run, const ridge_catalog **out)
{
    if (!run->catalog)
        RIDGE_TRY(ridge_catalog_open(run->cx, run->data_dir, &run->catalog));
    *out = run->catalog;
    return RIDGE_OK;
}

ridge_status cli_library(cli_run *run, const ridge_library **out)
{
    if (!run->library)
        RIDGE_TRY(ridge_library_open(run->cx, run->data_dir, &run->library));
    *out = run->library;
    return RIDGE_OK;
}

static bool is_bin(const char *path)
{
    const size_t n = strlen(path);
    return n > 4 && strcmp(path + n - 4, ".bin") == 0 && ridge_path_exists(path) &&
           !ridge_path_is_dir(path);
}

ridge_status cli_model(cli_run *run, const char *name, const ridge_model **out)
{
    const ridge_library *library;
    ridge_numerics numerics;
    if (ridge_llama2c_is_checkpoint(name) ||
        is_bin(name)) /* one that is broken says how */
        return ridge_llama2c_model(run->cx, name, out, &numerics);
    RIDGE_TRY(cli_library(run, &library));
    return ridge_model_load(run->cx, library, name, out);
}

bool cli_slice_is_bare(cli_run *run, const char *text)
{
    const ridge_catalog *catalog;
    const ridge_slice *slice;
    if (strpbrk(text, ":*+") != NULL)
        return false;
    const bool is_several =
        cli_catalog(run, &catalog) == RIDGE_OK &&
        ridge_slice_parse(run->cx, catalog, text, &slice) == RIDGE_OK &&
        slice->chips > 1;
    ridge_ctx_clear(run->cx);
    return !is_several;
}
