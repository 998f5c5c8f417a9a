/*
 * Ridge as a library: parameters of a model of the catalogue, and the best training
 * layout on a slice, as JSON. With the library installed:
 *
 *     cc library.c $(pkg-config --cflags --libs ridge) -o library && ./library
 */
#include <ridge/cli_answer.h>
#include <ridge/model.h>

#include <stdio.h>

/* The same words as on the command line; the same object as with --json. */
static ridge_status print_best_layout(ridge_ctx *cx)
{
    const char *const words[] = {"train", "llama-3-8b", "--on", "h100:2x8", "--batch",
                                 "1M",    "--seq",      "8192", "--json"};
    const int n = sizeof words / sizeof words[0];
    ridge_answer answer;
    RIDGE_TRY(ridge_answer_line(cx, n, words, &answer));
    fputs(answer.code == 0 ? answer.out.p : answer.err.p, stdout);
    return RIDGE_OK;
}

static ridge_status print_parameters(ridge_ctx *cx)
{
    const ridge_library *library;
    const ridge_model *model;
    RIDGE_TRY(ridge_library_open(cx, NULL, &library));
    RIDGE_TRY(ridge_model_load(cx, library, "llama-3-8b", &model));
    printf("%lld parameters\n", (long long)ridge_model_params(model).total);
    return RIDGE_OK;
}

int main(void)
{
    ridge_ctx *cx = ridge_ctx_open(); /* owns all that is made in it */
    if (cx == NULL)
        return 2;
    const bool is_done =
        print_parameters(cx) == RIDGE_OK && print_best_layout(cx) == RIDGE_OK;
    if (!is_done)
        fprintf(stderr, "%s\n", ridge_ctx_message(cx));
    ridge_ctx_close(cx);
    return is_done ? 0 : 1;
}
