#include "hlo_attribute.h"

#include <string.h>

enum { CONFIG_DEPTH_MOST = 6 };

ridge_str ridge_hlo_attribute_of(const ridge_hlo_instruction *i, const char *key)
{
    for (int a = 0; a < i->n_attributes; a++) {
        if (ridge_str_is(i->attributes[a].key, key))
            return i->attributes[a].text;
    }
    return (ridge_str){NULL, 0};
}

bool hlo_text_has(ridge_str text, const char *z)
{
    const size_t n = strlen(z);
    for (size_t at = 0; at + n <= text.n; at++) {
        if (memcmp(text.p + at, z, n) == 0)
            return true;
    }
    return false;
}

/* Without the brackets around it, if there are any. */
static ridge_str unbraced(ridge_str text)
{
    text = ridge_str_trim(text);
    if (text.n >= 2 && ((text.p[0] == '{' && text.p[text.n - 1] == '}') ||
                        (text.p[0] == '[' && text.p[text.n - 1] == ']')))
        return ridge_str_trim((ridge_str){text.p + 1, text.n - 2});
    return text;
}

int hlo_ints_parse(ridge_str text, int64_t *out, int most)
{
    ridge_str rest = unbraced(text);
    int n = 0;
    while (rest.p && rest.n > 0) {
        ridge_str part = ridge_str_trim(ridge_str_cut(&rest, ','));
        /* "index=5" comments stand before every fifth */
        if (part.n > 2 && part.p[0] == '/' && part.p[1] == '*') {
            while (part.n > 0 && part.p[0] != ' ' &&
                   !(part.p[0] == '/' && part.p[-1] == '*'))
                part.p++, part.n--;
            part = part.n > 0 ? (ridge_str){part.p + 1, part.n - 1} : part;
        }
        if (n == most || !ridge_parse_i64(ridge_str_trim(part), &out[n]))
            return -1;
        n++;
    }
    return n;
}

int hlo_attribute_ints(const ridge_hlo_instruction *i, const char *key, int64_t *out,
                       int most)
{
    const ridge_str text = ridge_hlo_attribute_of(i, key);
    return text.p ? hlo_ints_parse(text, out, most) : 0;
}

int64_t hlo_attribute_int(const ridge_hlo_instruction *i, const char *key,
                          int64_t fallback)
{
    int64_t value;
    return hlo_attribute_ints(i, key, &value, 1) == 1 ? value : fallback;
}

/* ---- fields ---------------------------------------------------------------------- */

ridge_str hlo_field_of(ridge_str text, const char *key)
{
    const size_t n = strlen(key);
    for (size_t at = 0; at + n < text.n; at++) {
        if (text.p[at + n] != '=' || memcmp(text.p + at, key, n) != 0)
            continue;
        if (at > 0 && text.p[at - 1] != ' ' && text.p[at - 1] != '{' &&
            text.p[at - 1] != ',')
            continue;
        size_t from = at + n + 1;
        const bool is_quoted = from < text.n && text.p[from] == '"';
        from += is_quoted;
        size_t to = from;
        while (to < text.n && (is_quoted ? text.p[to] != '"'
                                         : text.p[to] != ' ' && text.p[to] != '}' &&
                                               text.p[to] != ','))
            to += is_quoted && text.p[to] == '\\' && to + 1 < text.n ? 2 : 1;
        return (ridge_str){text.p + from, (to < text.n ? to : text.n) - from};
    }
    return (ridge_str){NULL, 0};
}

ridge_str ridge_hlo_scope_of(const ridge_hlo_instruction *i)
{
    return hlo_field_of(ridge_hlo_attribute_of(i, "metadata"), "op_name");
}

bool ridge_hlo_source_of(const ridge_hlo_module *module, const ridge_hlo_instruction *i,
                         ridge_str *file, int *line)
{
    const ridge_str metadata = ridge_hlo_attribute_of(i, "metadata");
    const ridge_str name = hlo_field_of(metadata, "source_file");
    int64_t number;
    if (name.p && name.n > 0 &&
        ridge_parse_i64(hlo_field_of(metadata, "source_line"), &number)) {
        *file = name;
        *line = (int)(number & INT32_MAX);
        return true;
    }
    if (!ridge_parse_i64(hlo_field_of(metadata, "stack_frame_id"), &number) ||
        number < 1 || number > module->n_frames || !module->frames[number - 1].file.p)
        return false;
    *file = module->frames[number - 1].file;
    *line = module->frames[number - 1].line;
    return true;
}

ridge_str hlo_target_of(const ridge_hlo_instruction *i)
{
    ridge_str text = ridge_hlo_attribute_of(i, "custom_call_target");
    if (text.n >= 2 && text.p[0] == '"')
        text = (ridge_str){text.p + 1, text.n - 2};
    return text;
}

bool hlo_typed_int(ridge_str text, const char *key, int64_t *out)
{
    const size_t n = strlen(key);
    for (size_t at = 0; at + n + 3 < text.n; at++) {
        if (memcmp(text.p + at, key, n) != 0 || memcmp(text.p + at + n, " = ", 3) != 0)
            continue;
        if (at > 0 && text.p[at - 1] != ' ' && text.p[at - 1] != '{' &&
            text.p[at - 1] != '<')
            continue;
        const size_t from = at + n + 3;
        size_t to = from + (text.p[from] == '-');
        while (to < text.n && text.p[to] >= '0' && text.p[to] <= '9')
            to++;
        return ridge_parse_i64((ridge_str){text.p + from, to - from}, out);
    }
    return false;
}

/* ---- windows and convolutions ---------------------------------------------------- */

/* Numbers joined by x; a pad is two joined by _. @return how many; -1: malformed */
static int window_list(ridge_str text, int64_t *low, int64_t *high)
{
    int n = 0;
    while (text.p) {
        ridge_str part = ridge_str_cut(&text, 'x');
        const ridge_str first = ridge_str_cut(&part, '_');
        if (n == RIDGE_HLO_RANK_MAX || !ridge_parse_i64(first, &low[n]))
            return -1;
        high[n] = low[n];
        if (part.p && !ridge_parse_i64(part, &high[n]))
            return -1;
        n++;
    }
    return n;
}

static bool window_field(ridge_str text, const char *key, hlo_window *w)
{
    int64_t low[RIDGE_HLO_RANK_MAX], high[RIDGE_HLO_RANK_MAX];
    const ridge_str value = hlo_field_of(text, key);
    if (value.p == NULL)
        return true;
    const int n = window_list(value, low, high);
    if (strcmp(key, "size") == 0)
        w->n = n;
    if (n < 0 || n != w->n)
        return false;
    for (int i = 0; i < n; i++) {
        hlo_window_dim *d = &w->dims[i];
        if (strcmp(key, "size") == 0)
            d->size = low[i];
        else if (strcmp(key, "stride") == 0)
            d->stride = low[i];
        else if (strcmp(key, "lhs_dilate") == 0)
            d->lhs_dilation = low[i];
        else if (strcmp(key, "rhs_dilate") == 0)
            d->rhs_dilation = low[i];
        else
            d->pad_low = low[i], d->pad_high = high[i];
        if (low[i] < 1 && strcmp(key, "pad") != 0)
            return false;
    }
    return true;
}

bool hlo_window_parse(ridge_str text, hlo_window *out)
{
    static const char *const keys[] = {"size", "stride", "pad", "lhs_dilate",
                                       "rhs_dilate"};
    *out = (hlo_window){.n = 0};
    for (int i = 0; i < RIDGE_HLO_RANK_MAX; i++)
        out->dims[i] = (hlo_window_dim){1, 1, 0, 0, 1, 1};
    for (size_t k = 0; k < RIDGE_COUNT_OF(keys); k++) {
        if (!window_field(text, keys[k], out))
            return false;
    }
    return true;
}

/* One of the three words of dim_labels: two letters and the digits of spatial dims.
 * @return spatial dims; -1: malformed */
static int label_word(ridge_str word, const char *letters, int *first, int *second,
                      int *spatial)
{
    int n = 0;
    *first = *second = -1;
    for (size_t i = 0; i < word.n; i++) {
        const char ch = word.p[i];
        if (ch == letters[0])
            *first = (int)i;
        else if (ch == letters[1])
            *second = (int)i;
        else if (ch >= '0' && ch <= '9' && n < RIDGE_HLO_RANK_MAX)
            spatial[(size_t)(ch - '0') < word.n ? ch - '0' : 0] = (int)i, n++;
        else if (ch != '?')
            return -1;
    }
    return *first < 0 || *second < 0 ? -1 : n;
}

bool hlo_conv_dims_parse(ridge_str text, int rank, hlo_conv_dims *out)
{
    ridge_str rest = text;
    *out = (hlo_conv_dims){.n = 0};
    const ridge_str lhs = ridge_str_cut(&rest, '_');
    const ridge_str rhs = ridge_str_cut(&rest, '-');
    if (rest.p == NULL || rest.n < 1 || rest.p[0] != '>')
        return false;
    const ridge_str output = {rest.p + 1, rest.n - 1};
    out->n =
        label_word(lhs, "bf", &out->lhs_batch, &out->lhs_feature, out->lhs_spatial);
    return out->n >= 0 &&
           label_word(rhs, "io", &out->rhs_in, &out->rhs_out, out->rhs_spatial) ==
               out->n &&
           label_word(output, "bf", &out->out_batch, &out->out_feature,
                      out->out_spatial) == out->n &&
           out->n + 2 == rank && lhs.n == (size_t)rank && rhs.n == (size_t)rank &&
           output.n == (size_t)rank;
}

/* ---- backend_config -------------------------------------------------------------- */

/* Without the backslashes of a quoted text. */
static ridge_str unescaped(ridge_ctx *cx, ridge_str text)
{
    char *out = ridge_new(ridge_ctx_arena(cx), char, text.n + 1);
    size_t n = 0;
    for (size_t i = 0; out && i < text.n; i++) {
        if (text.p[i] == '\\' && i + 1 < text.n)
            i++;
        out[n++] = text.p[i];
    }
    return (ridge_str){out, n};
}

ridge_node hlo_config_of(ridge_ctx *cx, const ridge_hlo_instruction *i)
{
    ridge_str text = ridge_hlo_attribute_of(i, "backend_config");
    ridge_node node = {.value = NULL};
    if (text.n >= 2 && text.p[0] == '"')
        text = unescaped(cx, (ridge_str){text.p + 1, text.n - 2});
    if (text.p == NULL || text.n < 2 || text.p[0] != '{')
        return node;
    if (ridge_json_parse(cx, text, "backend_config", &node) != RIDGE_OK) {
        ridge_ctx_clear(cx); /* not JSON: other backends write other things */
        node.value = NULL;
    }
    return node;
}

ridge_json_kind hlo_config_find(const ridge_node *node, const char *key, int depth,
                                ridge_node *out)
{
    if (ridge_json_kind_of(*node) != RIDGE_JSON_OBJECT || depth > CONFIG_DEPTH_MOST)
        return RIDGE_JSON_NULL;
    *out = ridge_json_get(node, key);
    if (!ridge_json_is_absent(*out))
        return ridge_json_kind_of(*out);
    for (ridge_node m = ridge_json_member(node, 0); m.key;
         m = ridge_json_member_after(node, m)) {
        const ridge_json_kind kind = hlo_config_find(&m, key, depth + 1, out);
        if (kind != RIDGE_JSON_NULL)
            return kind;
    }
    return RIDGE_JSON_NULL;
}
