/* Names of what serving layouts and their prices are made of. */
#include "ridge/plan_serving.h"

int64_t ridge_serving_layout_chips(const ridge_serving_layout *l)
{
    return l->tp * l->attention_dp * l->pp;
}

const char *ridge_serving_part_text(ridge_serving_part part)
{
    static const char *const KEYS[] = {
#define PART_KEY(name, key) key,
        RIDGE_SERVING_PART_LIST(PART_KEY)
#undef PART_KEY
    };
    return KEYS[part];
}

const char *ridge_kv_cut_text(ridge_kv_cut cut)
{
    static const char *const TEXTS[] = {
#define CUT_TEXT(name, text, what) text,
        RIDGE_KV_CUT_LIST(CUT_TEXT)
#undef CUT_TEXT
    };
    return TEXTS[cut];
}

const char *ridge_kv_cut_what(ridge_kv_cut cut)
{
    static const char *const WHATS[] = {
#define CUT_WHAT(name, text, what) what,
        RIDGE_KV_CUT_LIST(CUT_WHAT)
#undef CUT_WHAT
    };
    return WHATS[cut];
}

const char *ridge_draft_kind_text(ridge_draft_kind kind)
{
    static const char *const TEXTS[] = {
#define DRAFT_TEXT(name, text, what) text,
        RIDGE_DRAFT_LIST(DRAFT_TEXT)
#undef DRAFT_TEXT
    };
    return TEXTS[kind];
}

const char *ridge_draft_kind_what(ridge_draft_kind kind)
{
    static const char *const WHATS[] = {
#define DRAFT_WHAT(name, text, what) what,
        RIDGE_DRAFT_LIST(DRAFT_WHAT)
#undef DRAFT_WHAT
    };
    return WHATS[kind];
}
