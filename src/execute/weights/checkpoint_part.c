/* Parts of tensors: sorted, grouped, and checked to cover each tensor once. */
#include "checkpoint_part.h"
#include "checkpoint_folder.h"

#include <stdlib.h>
#include <string.h>

const char *ridge__checkpoint_part_text(ridge_ctx *cx, const char *name, int64_t layer)
{
    const char *text = layer < 0
                           ? ridge_str_dup(ridge_ctx_scratch(cx), ridge_str_of(name))
                           : ridge_sprintf(ridge_ctx_scratch(cx), "%s of layer %lld",
                                           name, (long long)layer);
    return text == NULL ? "a tensor" : text;
}

/* ---- order ----------------------------------------------------------------------- */

static int compare_i64(int64_t a, int64_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_tensor(const ridge__part *part, const char *name, int64_t layer)
{
    const int by_name = strcmp(part->name, name);
    return by_name != 0 ? by_name : compare_i64(part->layer, layer);
}

static int by_tensor_and_start(const void *pa, const void *pb)
{
    const ridge__part *a = pa, *b = pb;
    int order = compare_tensor(a, b->name, b->layer);
    for (int i = 0; order == 0 && i < a->region.n_dims && i < b->region.n_dims; i++)
        order = compare_i64(a->region.start[i], b->region.start[i]);
    return order != 0 ? order : compare_i64(a->file, b->file);
}

ridge_status ridge__part_list_sort(ridge_ctx *cx, ridge__part_list *list)
{
    if (list->n > 0)
        qsort(list->parts, list->n, sizeof *list->parts, by_tensor_and_start);
    list->groups = ridge_new(ridge_ctx_arena(cx), ridge__part_group, list->n);
    if (list->groups == NULL)
        return ridge_fail_nomem(cx);
    list->n_groups = 0;
    for (size_t i = 0; i < list->n; i++) {
        const ridge__part *p = &list->parts[i];
        if (i == 0 || compare_tensor(p - 1, p->name, p->layer) != 0)
            list->groups[list->n_groups++].first = i;
        list->groups[list->n_groups - 1].n++;
    }
    return RIDGE_OK;
}

const ridge__part_group *ridge__part_list_find(const ridge__part_list *list,
                                               const char *name, int64_t layer)
{
    size_t low = 0, high = list->n_groups;
    while (low < high) {
        const size_t mid = low + (high - low) / 2;
        const ridge__part_group *g = &list->groups[mid];
        const int order = compare_tensor(&list->parts[g->first], name, layer);
        if (order == 0)
            return g;
        if (order < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return NULL;
}

/* ---- covering -------------------------------------------------------------------- */

static bool overlaps(const ridge_region *a, const ridge_region *b)
{
    for (int i = 0; i < a->n_dims; i++) {
        if (a->start[i] >= b->start[i] + b->count[i] ||
            b->start[i] >= a->start[i] + a->count[i])
            return false;
    }
    return true;
}

/* Parts are sorted by their first start, so that those behind one end soon. */
static const ridge__part *find_overlap(const ridge__part *parts, size_t n, size_t at)
{
    const ridge_region *a = &parts[at].region;
    for (size_t i = at + 1; i < n; i++) {
        const ridge_region *b = &parts[i].region;
        if (a->n_dims > 0 && b->start[0] >= a->start[0] + a->count[0])
            return NULL;
        if (overlaps(a, b))
            return &parts[i];
    }
    return NULL;
}

static bool is_alike(const ridge__part *a, const ridge__part *b)
{
    return a->stored.stored == b->stored.stored &&
           a->region.n_dims == b->region.n_dims &&
           memcmp(a->region.shape, b->region.shape,
                  (size_t)a->region.n_dims * sizeof a->region.shape[0]) == 0;
}

static ridge_status check_group(ridge_ctx *cx, const ridge__part *parts, size_t n,
                                const char *file)
{
    const char *text = ridge__checkpoint_part_text(cx, parts[0].name, parts[0].layer);
    const ridge_region whole =
        ridge_region_whole(parts[0].region.n_dims, parts[0].region.shape);
    const int64_t wanted = ridge_region_elements(&whole);
    int64_t have = 0;
    if (n > RIDGE__CHECKPOINT_PART_MAX) {
        return ridge_fail(cx, RIDGE_E_PARSE, "%s: %s is in %zu parts: at most %d", file,
                          text, n, RIDGE__CHECKPOINT_PART_MAX);
    }
    for (size_t i = 0; i < n; i++) {
        if (!is_alike(&parts[i], &parts[0])) {
            return ridge_fail(cx, RIDGE_E_PARSE,
                              "%s: the parts of %s differ in shape or format", file,
                              text);
        }
        if (find_overlap(parts, n, i) != NULL) {
            return ridge_fail(cx, RIDGE_E_PARSE, "%s: two parts of %s overlap", file,
                              text);
        }
        have += ridge_region_elements(&parts[i].region); /* apart: at most wanted */
    }
    if (have == wanted)
        return RIDGE_OK;
    return ridge_fail(cx, RIDGE_E_PARSE,
                      "%s: the parts of %s hold %lld of its %lld elements: a rank's "
                      "part is missing",
                      file, text, (long long)have, (long long)wanted);
}

ridge_status ridge__part_list_check(ridge_ctx *cx, const ridge__part_list *list,
                                    const char *file)
{
    for (size_t i = 0; i < list->n_groups; i++) {
        const ridge__part_group *g = &list->groups[i];
        ridge_arena *scratch = ridge_ctx_scratch(cx);
        const ridge_mark mark = ridge_arena_mark(scratch);
        const ridge_status st = check_group(cx, list->parts + g->first, g->n, file);
        ridge_arena_rewind(scratch, mark);
        RIDGE_TRY(st);
    }
    return RIDGE_OK;
}
