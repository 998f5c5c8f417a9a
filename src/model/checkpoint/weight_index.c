/*
 * The index of a sharded checkpoint, as Hugging Face's libraries write it:
 *
 *     metadata.total_size        bytes of all tensors
 *     metadata.total_parameters  elements of all tensors; newer files only
 *     weight_map                 tensor name -> file of the shard
 */
#include "weight_index.h"

enum { DOCUMENT_MOST = 16 };

/* Where the JSON object at the start of @p text ends: behind its closing brace, or at
 * the text's end when it has none. */
static size_t document_end(ridge_str text)
{
    size_t depth = 0;
    bool is_in_string = false;
    for (size_t i = 0; i < text.n; i++) {
        const char c = text.p[i];
        if (is_in_string && c == '\\') {
            i++;
        } else if (c == '"') {
            is_in_string = !is_in_string;
        } else if (!is_in_string && c == '{') {
            depth++;
        } else if (!is_in_string && c == '}' && depth > 0 && --depth == 0) {
            return i + 1;
        }
    }
    return text.n;
}

/* How many objects follow each other in @p text; 1 where it begins with none, which is
 * for the parser to judge. */
static int count_documents(ridge_str text)
{
    int n = 0;
    while (n < DOCUMENT_MOST && text.n > 0 && text.p[0] == '{') {
        const size_t end = document_end(text);
        text = ridge_str_trim((ridge_str){text.p + end, text.n - end});
        n++;
    }
    return n > 0 ? n : 1;
}

ridge_status ridge__weight_index_sum(ridge_ctx *cx, ridge_str text, const char *file,
                                     const ridge_model *model, ridge__tensor_sums *out)
{
    text = ridge_str_trim(ridge_str_without_mark(text));
    ridge__tensor_sums sums = {.documents = count_documents(text)};
    if (sums.documents > 1)
        text.n = document_end(text);
    ridge_node root;
    RIDGE_TRY(ridge_json_parse(cx, text, file, &root));
    const ridge_node metadata = ridge_json_get(&root, "metadata");
    const ridge_node size = ridge_json_get(&metadata, "total_size");
    if (ridge_json_is_absent(size))
        return ridge_json_fail(cx, root, "no metadata.total_size: is this an index?");
    RIDGE_TRY(ridge_json_want_i64(cx, size, 1, INT64_MAX, &sums.bytes));
    const ridge_node params = ridge_json_get(&metadata, "total_parameters");
    if (!ridge_json_is_absent(params))
        RIDGE_TRY(ridge_json_want_i64(cx, params, 0, INT64_MAX, &sums.params));
    const ridge_node map = ridge_json_get(&root, "weight_map");
    if (ridge_json_kind_of(map) == RIDGE_JSON_OBJECT)
        sums.tensors = (int64_t)ridge_json_size(map);
    ridge_node tensor = ridge_json_member(&map, 0);
    for (; tensor.key != NULL; tensor = ridge_json_member_after(&map, tensor)) {
        ridge__tensor_mark(&sums.marks, tensor.key,
                           model == NULL ? 0 : model->layer_count);
    }
    *out = sums;
    return RIDGE_OK;
}
