/* The pipeline in Megatron's options: virtual stages, and stages of unlike sizes.
 * @source megatron-lm-2025, megatron/training/arguments.py (validate_args) */
#include "launch_read.h"

#include "train_case.h"

#include <string.h>

static const int64_t MOST = 100000000;

/* Stages under way. */
typedef struct stage_list {
    int64_t *sizes; /* [most] */
    int64_t n, most;
} stage_list;

/* "*N" behind an item, 1 without. @return what follows, NULL: malformed */
static const char *read_times(const char *p, int64_t *times)
{
    *times = 1;
    if (*p != '*')
        return p;
    const size_t digits = strspn(p + 1, "0123456789");
    if (!ridge_parse_i64((ridge_str){p + 1, digits}, times) || *times > MOST)
        return NULL;
    return p + 1 + digits;
}

static bool add_item(stage_list *list, char item, int64_t times)
{
    if (item == '|') {
        if (list->n + times > list->most)
            return false;
        for (int64_t i = 0; i < times; i++)
            list->sizes[list->n++] = 0;
        return true;
    }
    if (strchr("tEmL, ", item) == NULL)
        return false;
    list->sizes[list->n - 1] += item == 't' ? times : 0;
    return true;
}

/* Items without parentheses, up to @p end. */
static bool read_items(stage_list *list, const char *p, const char *end)
{
    while (p < end) {
        const char item = *p;
        int64_t times;
        p = read_times(p + 1, &times);
        if (p == NULL || !add_item(list, item, times))
            return false;
    }
    return true;
}

/* Layers of each stage of "Et*3|(tt|)*2tL": letters, with t a layer, and groups of
 * them.
 * @return false: a form that is not read */
static bool read_stage_sizes(const char *text, stage_list *list)
{
    list->n = 1;
    list->sizes[0] = 0;
    for (const char *p = text; *p != '\0';) {
        const char *open = p + strcspn(p, "(");
        const char *close = open + strcspn(open, ")");
        int64_t times;
        if (!read_items(list, p, open))
            return false;
        if (*open == '\0')
            return true;
        p = *close == '\0' ? NULL : read_times(close + 1, &times);
        if (p == NULL)
            return false;
        for (int64_t i = 0; i < times; i++) {
            if (!read_items(list, open + 1, close))
                return false;
        }
    }
    return true;
}

/* Ends, with even stages between them. @return false: no such stages */
static bool set_stages(const stage_list *list, int64_t layers, ridge_knobs *k)
{
    bool is_even = true;
    for (int64_t i = 0; i < list->n; i++)
        is_even = is_even && list->sizes[i] == train_stage_size(layers, list->n, i);
    if (is_even || k->vpp > 1)
        return is_even;
    const stage_cut cut = {
        .pp = k->pp,
        .first_layers = list->sizes[0] == 0 ? RIDGE_STAGE_NONE : list->sizes[0],
        .last_layers = list->sizes[list->n - 1] == 0 ? RIDGE_STAGE_NONE
                                                     : list->sizes[list->n - 1]};
    for (int64_t i = 0; i < list->n; i++) {
        if (list->sizes[i] != train_stage_layers(layers, &cut, i))
            return false;
    }
    k->first_layers = cut.first_layers;
    k->last_layers = cut.last_layers;
    return true;
}

/* Stages as they are written out: those of pp x vpp, in the order of the model. */
static ridge_status read_stages(launch_sheet *s, int64_t layers, ridge_knobs *k)
{
    enum { STAGES_MOST = 4096 };
    const char *text = NULL;
    RIDGE_TRY(launch_sheet_text(s, LAUNCH_STAGES, &text));
    int64_t *sizes = ridge_new(ridge_ctx_scratch(s->cx), int64_t, STAGES_MOST);
    if (sizes == NULL)
        return ridge_fail_nomem(s->cx);
    stage_list list = {.sizes = sizes, .most = STAGES_MOST};
    if (!read_stage_sizes(text, &list)) {
        return launch_sheet_fail(s, RIDGE_E_PARSE, LAUNCH_STAGES,
                                 "'%.60s': expected letters E, t, m, L, '|' between "
                                 "stages, and groups (..)*N",
                                 text);
    }
    int64_t sum = 0;
    for (int64_t i = 0; i < list.n; i++)
        sum += sizes[i];
    if (list.n % k->pp != 0 || sum != layers) {
        return launch_sheet_fail(s, RIDGE_E_ARG, LAUNCH_STAGES,
                                 "%lld layers in %lld stages, of a model of %lld over "
                                 "pp=%lld",
                                 (long long)sum, (long long)list.n, (long long)layers,
                                 (long long)k->pp);
    }
    k->vpp = list.n / k->pp;
    launch_usual_knobs(k);
    if (!set_stages(&list, layers, k)) {
        launch_notes_add(s->cx, &s->launch->differing,
                         "%s:%d: %s %.80s; priced as even stages", s->file,
                         s->given[LAUNCH_STAGES]->line, s->given[LAUNCH_STAGES]->name,
                         text);
    }
    return RIDGE_OK;
}

/* A stage without layers holds its end of the model alone. */
static int64_t end_layers(int64_t layers)
{
    return layers > 0 ? layers : RIDGE_STAGE_NONE;
}

/* Ends that make room for the embedding or the loss, as if these were layers. */
static ridge_status read_room(launch_sheet *s, int64_t layers, ridge_knobs *k)
{
    bool has_embedding = false;
    bool has_loss = false;
    RIDGE_TRY(launch_sheet_flag(s, LAUNCH_EMBEDDING_STAGE, &has_embedding));
    RIDGE_TRY(launch_sheet_flag(s, LAUNCH_LOSS_STAGE, &has_loss));
    if (!has_embedding && !has_loss)
        return RIDGE_OK;
    const int64_t total = layers + (has_embedding ? 1 : 0) + (has_loss ? 1 : 0);
    if (total % k->pp != 0) {
        return launch_sheet_fail(
            s, RIDGE_E_ARG, has_embedding ? LAUNCH_EMBEDDING_STAGE : LAUNCH_LOSS_STAGE,
            "%lld layers with embedding or loss do not divide over pp=%lld",
            (long long)total, (long long)k->pp);
    }
    const int64_t size = total / k->pp;
    const int64_t first = size - (has_embedding ? 1 : 0);
    const int64_t last = size - (has_loss ? 1 : 0);
    if (first == train_stage_size(layers, k->pp, 0) &&
        last == train_stage_size(layers, k->pp, k->pp - 1))
        return RIDGE_OK; /* as they are dealt out anyway */
    k->first_layers = end_layers(first);
    k->last_layers = end_layers(last);
    return RIDGE_OK;
}

/* Ends that are stated; the other stages share the rest evenly. */
static ridge_status read_ends(launch_sheet *s, int64_t layers, ridge_knobs *k)
{
    const bool has_first = launch_sheet_has(s, LAUNCH_FIRST_LAYERS);
    const bool has_last = launch_sheet_has(s, LAUNCH_LAST_LAYERS);
    int64_t first = 0;
    int64_t last = 0;
    if (!has_first && !has_last)
        return read_room(s, layers, k);
    RIDGE_TRY(launch_sheet_want(s, LAUNCH_FIRST_LAYERS, &first));
    RIDGE_TRY(launch_sheet_want(s, LAUNCH_LAST_LAYERS, &last));
    const int64_t others = k->pp - (has_first ? 1 : 0) - (has_last ? 1 : 0);
    const int64_t rest = layers - first - last;
    if (rest < 0 || (others == 0 ? rest > 0 : rest % others != 0)) {
        return launch_sheet_fail(
            s, RIDGE_E_ARG, has_first ? LAUNCH_FIRST_LAYERS : LAUNCH_LAST_LAYERS,
            "%lld of %lld layers are left for %lld stages, which do not share them "
            "evenly",
            (long long)rest, (long long)layers, (long long)others);
    }
    k->first_layers = end_layers(has_first ? first : rest / others);
    k->last_layers = end_layers(has_last ? last : rest / others);
    return RIDGE_OK;
}

static ridge_status read_virtual(launch_sheet *s, int64_t layers, ridge_knobs *k)
{
    int64_t size = 0;
    k->vpp = 1;
    if (launch_sheet_has(s, LAUNCH_VIRTUAL_STAGES) && k->pp > 1)
        return launch_sheet_i64(s, LAUNCH_VIRTUAL_STAGES, 1, MOST, &k->vpp);
    RIDGE_TRY(launch_sheet_want(s, LAUNCH_LAYERS_PER_VIRTUAL_STAGE, &size));
    if (size == 0 || k->pp == 1)
        return RIDGE_OK;
    if (layers % k->pp != 0 || layers / k->pp % size != 0) {
        return launch_sheet_fail(s, RIDGE_E_ARG, LAUNCH_LAYERS_PER_VIRTUAL_STAGE,
                                 "%lld layers over pp=%lld are no multiple of %lld",
                                 (long long)layers, (long long)k->pp, (long long)size);
    }
    k->vpp = layers / k->pp / size;
    return RIDGE_OK;
}

ridge_status launch_megatron_stages(launch_sheet *s, int64_t layers, ridge_knobs *k)
{
    if (launch_sheet_has(s, LAUNCH_STAGES) && k->pp > 1)
        return read_stages(s, layers, k);
    RIDGE_TRY(read_virtual(s, layers, k));
    launch_usual_knobs(k);
    return k->pp > 1 ? read_ends(s, layers, k) : RIDGE_OK;
}
