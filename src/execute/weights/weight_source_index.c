/* The tensors of a source by name, and which family of models they are of. */
#include "weight_source.h"

#include "ridge/model_gguf.h"

#include "safetensors_file.h"

#include <string.h>

/* Whose names they are, and what stands before the embedding's: "model.", "",
 * "language_model.model.". */
static ridge_status find_family(ridge_ctx *cx, ridge_weight_source *s)
{
    s->family = ridge__weight_family_usual();
    s->prefix = "model.";
    for (size_t i = 0; i < s->n; i++) {
        const char *name = s->tensors[i].name;
        const ridge__weight_family *f = ridge__weight_family_of(name);
        if (f == NULL)
            continue;
        const size_t before = strlen(name) - strlen(f->embedding);
        s->family = f;
        s->prefix = ridge_str_dup(ridge_ctx_arena(cx), (ridge_str){name, before});
        break;
    }
    return s->prefix == NULL ? ridge_fail_nomem(cx) : RIDGE_OK;
}

ridge_status ridge__weight_source_index(ridge_ctx *cx, ridge_weight_source *s)
{
    RIDGE_TRY(ridge__token_table_open(cx, s->n, &s->names));
    s->is_read = ridge_new(ridge_ctx_arena(cx), bool, s->n + 1);
    if (s->is_read == NULL)
        return ridge_fail_nomem(cx);
    s->bytes = 0.0;
    for (size_t i = 0; i < s->n; i++) {
        const ridge__stored_tensor *t = &s->tensors[i];
        const int32_t first =
            ridge__token_table_add(&s->names, ridge_str_of(t->name), (int32_t)i);
        s->bytes += (double)t->bytes;
        if (first != (int32_t)i) {
            return ridge_fail(cx, RIDGE_E_PARSE,
                              "%s: the weight %s stands in %s too: take one of them "
                              "away",
                              t->file, t->name, s->tensors[first].file);
        }
    }
    return find_family(cx, s);
}
