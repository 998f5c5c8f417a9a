/*
 * Files of data/scaling_laws: {"name", "full_name", "aliases", "source", "date",
 * "note"} and one of
 *
 *     "loss"     {floor, parameters_factor, parameters_exponent, tokens_factor,
 *                 tokens_exponent}
 *     "optimum"  {flops, parameters, parameters_exponent}
 *
 * An unknown member is an error.
 */
#include "ridge/base_embedded.h"
#include "ridge/model_scaling.h"

#include <string.h>

extern const ridge_embedded_set ridge_scaling_data;

enum { NAMES_MOST = 128 };

static const char *const members[] = {"name", "full_name", "aliases", "source",
                                      "date", "note",      "loss",    "optimum"};

typedef struct number_row {
    const char *key;
    double low, high;
    size_t offset; /* in ridge_scaling_law */
} number_row;

/* clang-format off */
static const number_row loss_rows[] = {
    {"floor", 0, 1e3, offsetof(ridge_scaling_law, floor)},
    {"parameters_factor", 1e-9, 1e12, offsetof(ridge_scaling_law, a)},
    {"parameters_exponent", 1e-3, 2, offsetof(ridge_scaling_law, alpha)},
    {"tokens_factor", 1e-9, 1e12, offsetof(ridge_scaling_law, b)},
    {"tokens_exponent", 1e-3, 2, offsetof(ridge_scaling_law, beta)},
};
static const number_row optimum_rows[] = {
    {"flops", 1, 1e40, offsetof(ridge_scaling_law, flops)},
    {"parameters", 1, 1e20, offsetof(ridge_scaling_law, params)},
    {"parameters_exponent", 1e-3, 0.999, offsetof(ridge_scaling_law, exponent)},
};
/* clang-format on */

static ridge_status read_rows(ridge_ctx *cx, ridge_node node, const number_row *rows,
                              size_t n, ridge_scaling_law *out)
{
    const char *known[RIDGE_COUNT_OF(loss_rows)];
    for (size_t i = 0; i < n; i++)
        known[i] = rows[i].key;
    RIDGE_TRY(ridge_json_only(cx, node, known, n));
    for (size_t i = 0; i < n; i++) {
        double v = 0;
        RIDGE_TRY(ridge_json_want_double(cx, ridge_json_get(&node, rows[i].key),
                                         rows[i].low, rows[i].high, &v));
        memcpy((char *)out + rows[i].offset, &v, sizeof v);
    }
    return RIDGE_OK;
}

static ridge_status read_text(ridge_ctx *cx, const ridge_node *root, const char *key,
                              const char *otherwise, const char **out)
{
    const ridge_node node = ridge_json_get(root, key);
    *out = otherwise;
    if (ridge_json_is_absent(node) && otherwise != NULL)
        return RIDGE_OK;
    return ridge_json_want_text(cx, node, out);
}

ridge_status ridge_scaling_law_from_json(ridge_ctx *cx, ridge_node root,
                                         ridge_scaling_law *out)
{
    ridge_scaling_law law = {0};
    RIDGE_TRY(ridge_json_only(cx, root, members, RIDGE_COUNT_OF(members)));
    RIDGE_TRY(read_text(cx, &root, "name", NULL, &law.name));
    RIDGE_TRY(read_text(cx, &root, "full_name", law.name, &law.full_name));
    RIDGE_TRY(read_text(cx, &root, "source", NULL, &law.source));
    RIDGE_TRY(read_text(cx, &root, "date", NULL, &law.date));
    RIDGE_TRY(read_text(cx, &root, "note", "", &law.note));
    const ridge_node loss = ridge_json_get(&root, "loss");
    const ridge_node optimum = ridge_json_get(&root, "optimum");
    law.has_loss = !ridge_json_is_absent(loss);
    if (law.has_loss != ridge_json_is_absent(optimum))
        return ridge_json_fail(cx, root,
                               "a law has \"loss\" or \"optimum\", one of them");
    if (law.has_loss) {
        RIDGE_TRY(read_rows(cx, loss, loss_rows, RIDGE_COUNT_OF(loss_rows), &law));
    } else {
        RIDGE_TRY(
            read_rows(cx, optimum, optimum_rows, RIDGE_COUNT_OF(optimum_rows), &law));
    }
    *out = law;
    return RIDGE_OK;
}

size_t ridge_scaling_law_count(void)
{
    return ridge_scaling_data.count;
}

static ridge_status parse_file(ridge_ctx *cx, size_t index, ridge_node *out)
{
    const ridge_embedded *file = &ridge_scaling_data.files[index];
    return ridge_json_parse(cx, (ridge_str){file->text, file->bytes}, file->path, out);
}

ridge_status ridge_scaling_law_at(ridge_ctx *cx, size_t index, ridge_scaling_law *out)
{
    ridge_node root;
    RIDGE_TRY(parse_file(cx, index, &root));
    return ridge_scaling_law_from_json(cx, root, out);
}

/* The names of a file, its own first. @return how many were added */
static size_t add_names(const ridge_node *root, const char **names, size_t room)
{
    const ridge_node aliases = ridge_json_get(root, "aliases");
    size_t n = 0;
    if (room > 0 && ridge_json_text(ridge_json_get(root, "name"), &names[0]))
        n++;
    for (size_t i = 0; i < ridge_json_size(aliases) && n < room; i++) {
        if (ridge_json_text(ridge_json_at(&aliases, i), &names[n]))
            n++;
    }
    return n;
}

static ridge_status read_path(ridge_ctx *cx, const char *path, ridge_scaling_law *out)
{
    ridge_node root;
    RIDGE_TRY(ridge_json_read(cx, path, &root));
    return ridge_scaling_law_from_json(cx, root, out);
}

ridge_status ridge_scaling_law_find(ridge_ctx *cx, const char *name,
                                    ridge_scaling_law *out)
{
    const char *names[NAMES_MOST];
    size_t n = 0;
    const size_t length = strlen(name);
    if (length > 5 && strcmp(name + length - 5, ".json") == 0)
        return read_path(cx, name, out);
    for (size_t i = 0; i < ridge_scaling_data.count; i++) {
        ridge_node root;
        RIDGE_TRY(parse_file(cx, i, &root));
        const size_t end = n + add_names(&root, names + n, NAMES_MOST - n);
        for (; n < end; n++) {
            if (strcmp(names[n], name) == 0)
                return ridge_scaling_law_from_json(cx, root, out);
        }
    }
    return ridge_fail_name(cx, RIDGE_E_NOTFOUND, "scaling law", name, names, n);
}
