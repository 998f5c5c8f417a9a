/*
 * The checkpoint beside a config, as a check on the counts: its bytes against those
 * that the model predicts, and the usual reasons for which they differ.
 */
#include "gguf_model.h"
#include "weight_index.h"

#include "ridge/model_gguf.h"

#include <math.h>
#include <string.h>

enum { INDEX_MOST_BYTES = 256 << 20 };

/* Relative differences: of an exact match, of buffers that a checkpoint holds beside
 * its weights, and of what still counts as the same model. */
static const double EXACT = 1e-4;
static const double CLOSE = 0.01;

static bool ends_with(const char *text, const char *tail)
{
    const size_t n = strlen(text), t = strlen(tail);
    return n >= t && strcmp(text + n - t, tail) == 0;
}

/* ---- finding --------------------------------------------------------------------- */

const char *ridge_checkpoint_find(ridge_ctx *cx, const char *path)
{
    static const char *const names[] = {"model.safetensors.index.json",
                                        "pytorch_model.bin.index.json",
                                        "model.safetensors"};
    if (ridge_gguf_is_path(path))
        return path;
    const char *slash = strrchr(path, '/');
    const char *folder = path;
    if (!ridge_path_is_dir(path) && slash == NULL) {
        folder = ".";
    } else if (!ridge_path_is_dir(path)) {
        folder = ridge_str_dup(ridge_ctx_arena(cx),
                               (ridge_str){path, (size_t)(slash - path) + 1});
    }
    for (size_t i = 0; folder != NULL && i < RIDGE_COUNT_OF(names); i++) {
        const char *file =
            ridge_sprintf(ridge_ctx_arena(cx), "%s/%s", folder, names[i]);
        if (file != NULL && ridge_path_exists(file))
            return file;
    }
    return NULL;
}

/* ---- comparing ------------------------------------------------------------------- */

/* Bytes that a checkpoint may hold beside the model's own weights. */
typedef struct extra {
    bool is_stored;
    double bytes;
    const char *what;
} extra;

enum { EXTRA_COUNT = 4 };

static void list_extras(const ridge_model *model, const ridge__tensor_marks *marks,
                        double bytes_per_param, extra out[EXTRA_COUNT])
{
    const double rest = ridge_dtype_bytes(model->rest_dtype);
    const double table = (double)model->vocab * (double)model->d_model;
    out[0] = (extra){marks->has_head && model->is_tied && model->has_unembedding,
                     table * rest, "the tied head a second time"};
    out[1] = (extra){marks->has_mtp && model->mtp_params > 0,
                     (double)model->mtp_params * bytes_per_param,
                     "multi-token prediction layers"};
    out[2] = (extra){marks->has_vision && model->vision_params > 0,
                     (double)model->vision_params * rest, "a vision tower"};
    out[3] = (extra){marks->table_bytes > 0, (double)marks->table_bytes - table * rest,
                     "the token table in fewer bits"};
}

/* Predicted bytes with every extra that the names show; @p words names them. */
static double with_extras(const ridge_model *model, const ridge__tensor_marks *marks,
                          double predicted, ridge_buf *words)
{
    const double params = (double)ridge_model_params(model).total;
    extra extras[EXTRA_COUNT];
    list_extras(model, marks, predicted / params, extras);
    double bytes = predicted;
    for (size_t i = 0; i < EXTRA_COUNT; i++) {
        if (!extras[i].is_stored)
            continue;
        bytes += extras[i].bytes;
        ridge_buf_printf(words, "%s%s (%s)", words->n == 0 ? "; it stores " : " and ",
                         extras[i].what, ridge_format_bytes(extras[i].bytes).s);
    }
    return bytes;
}

/* Whether every weight seems to be stored in another width, as after a conversion. */
static bool is_other_width(double ratio, double *factor)
{
    static const double factors[] = {2, 0.5, 4, 0.25};
    for (size_t i = 0; i < RIDGE_COUNT_OF(factors); i++) {
        if (fabs(ratio / factors[i] - 1) <= EXACT) {
            *factor = factors[i];
            return true;
        }
    }
    return false;
}

static void write_verdict(const ridge_model *model, const ridge__tensor_sums *sums,
                          ridge_checkpoint *check, ridge_buf *out)
{
    ridge_buf extras;
    ridge_buf_init(&extras, out->arena);
    const double expected =
        with_extras(model, &sums->marks, check->predicted_bytes, &extras);
    const double ratio = check->total_bytes / expected, off = ratio - 1;
    double factor = 1;
    check->agrees = true;
    if (fabs(off) <= EXACT) {
        ridge_buf_puts(out, off == 0 ? "agrees to the byte" : "agrees");
    } else if (off > 0 && off <= CLOSE && sums->marks.has_buffers) {
        ridge_buf_printf(out, "agrees: %s more are rotary or mask buffers",
                         ridge_format_bytes(check->total_bytes - expected).s);
    } else if (fabs(off) <= CLOSE) {
        ridge_buf_printf(out, "agrees within %s", ridge_format_percent(fabs(off)).s);
    } else if (is_other_width(ratio, &factor)) {
        ridge_buf_printf(out, "agrees, but each weight takes %s times its bytes in %s",
                         ridge_format_double(factor).s,
                         ridge_dtype_text(model->weight_dtype));
    } else {
        check->agrees = false;
        ridge_buf_printf(out, "differs: the checkpoint holds %s, %s %s than predicted",
                         ridge_format_bytes(check->total_bytes).s,
                         ridge_format_percent(fabs(off)).s, off > 0 ? "more" : "less");
    }
    ridge_buf_puts(out, ridge_buf_text(&extras));
}

/* An index counts integers, each of which may hold eight 4-bit weights. */
static void check_stated_params(const ridge_model *model, ridge_checkpoint *check,
                                ridge_buf *out)
{
    const double params = (double)ridge_model_params(model).total;
    const double stated = (double)check->total_params;
    if (stated <= 0 || model->quant_method == NULL || stated > 0.7 * params)
        return;
    ridge_buf_printf(out,
                     "; its count of %s is of packed integers, which hold %s weights",
                     ridge_format_count(stated).s, ridge_format_count(params).s);
    check->total_params = 0;
}

static ridge_status sum_file(ridge_ctx *cx, const ridge_model *model, const char *path,
                             ridge__tensor_sums *sums, ridge_buf *types)
{
    if (ridge_gguf_is_path(path))
        return ridge__gguf_sum(cx, path, sums, types);
    if (ends_with(path, ".safetensors"))
        return ridge__safetensors_read(cx, path, model, sums);
    ridge_str text;
    RIDGE_TRY(ridge_file_read(cx, path, INDEX_MOST_BYTES, &text));
    return ridge__weight_index_sum(cx, text, path, model, sums);
}

ridge_status ridge_checkpoint_check(ridge_ctx *cx, const ridge_model *model,
                                    const char *path, ridge_checkpoint *out)
{
    ridge__tensor_sums sums;
    ridge_buf types;
    ridge_buf_init(&types, ridge_ctx_arena(cx));
    RIDGE_TRY(sum_file(cx, model, path, &sums, &types));
    ridge_checkpoint check = {
        .path = ridge_str_dup(ridge_ctx_arena(cx), ridge_str_of(path)),
        .total_bytes = (double)sums.bytes,
        .tensors = sums.tensors,
        .total_params = sums.params,
        .predicted_bytes = ridge_model_weight_bytes(model)};
    ridge_buf words;
    ridge_buf_init(&words, ridge_ctx_arena(cx));
    write_verdict(model, &sums, &check, &words);
    const bool is_gguf = ridge_gguf_is_path(path);
    const bool is_index = !is_gguf && !ends_with(path, ".safetensors");
    if (is_gguf) {
        ridge_buf_printf(&words, "; by type: %s", ridge_buf_text(&types));
    } else if (is_index) {
        check_stated_params(model, &check, &words);
    } else if (!check.agrees && check.total_bytes < check.predicted_bytes) {
        ridge_buf_puts(&words, "; if this is one shard of several, give their index");
    }
    if (sums.documents > 1) {
        ridge_buf_printf(&words,
                         "; the file holds %d JSON documents, the first was read",
                         sums.documents);
    }
    if (check.path == NULL || words.is_short)
        return ridge_fail_nomem(cx);
    check.verdict = ridge_buf_text(&words);
    *out = check;
    return RIDGE_OK;
}
