/* Names of formats, parts, kinds and keys. */
#include "ridge/profile.h"

#include <string.h>

typedef struct word_pair {
    const char *text, *what;
} word_pair;

static const word_pair formats[] = {
#define FORMAT_ROW(name, text, what) [RIDGE_TRACE_##name] = {text, what},
    RIDGE_TRACE_FORMAT_LIST(FORMAT_ROW)
#undef FORMAT_ROW
};

static const word_pair parts[] = {
#define PART_ROW(name, text, what) [RIDGE_PROFILE_PART_##name] = {text, what},
    RIDGE_PROFILE_PART_LIST(PART_ROW)
#undef PART_ROW
};
_Static_assert(RIDGE_COUNT_OF(parts) == RIDGE_PROFILE_PART_COUNT,
               "one row per enum value");

typedef struct class_row {
    const char *text;
    ridge_profile_part part;
} class_row;

static const class_row classes[] = {
#define CLASS_ROW(name, text, part)                                                    \
    [RIDGE_CLASS_##name] = {text, RIDGE_PROFILE_PART_##part},
    RIDGE_PROFILE_CLASS_LIST(CLASS_ROW)
#undef CLASS_ROW
};
_Static_assert(RIDGE_COUNT_OF(classes) == RIDGE_PROFILE_CLASS_COUNT,
               "one row per enum value");

static const char *const keys[] = {
    [RIDGE_KEY_CLASS] = "class",       [RIDGE_KEY_NAME] = "name",
    [RIDGE_KEY_CALL] = "call",         [RIDGE_KEY_MODULE] = "module",
    [RIDGE_KEY_CATEGORY] = "category", [RIDGE_KEY_SOURCE] = "source",
    [RIDGE_KEY_LAYER] = "layer",
};
_Static_assert(RIDGE_COUNT_OF(keys) == RIDGE_KEY_COUNT, "one row per enum value");

const char *ridge_trace_format_text(ridge_trace_format format)
{
    return formats[format].text;
}

const char *ridge_trace_format_what(ridge_trace_format format)
{
    return formats[format].what;
}

const char *ridge_profile_part_text(ridge_profile_part part)
{
    return parts[part].text;
}

const char *ridge_profile_part_what(ridge_profile_part part)
{
    return parts[part].what;
}

bool ridge_profile_part_is_network(ridge_profile_part part)
{
    return part >= RIDGE_PROFILE_PART_ALL_GATHER &&
           part <= RIDGE_PROFILE_PART_COLLECTIVE;
}

bool ridge_profile_part_is_compute(ridge_profile_part part)
{
    return part <= RIDGE_PROFILE_PART_COMPUTE;
}

const char *ridge_profile_class_text(ridge_profile_class class)
{
    return classes[class].text;
}

ridge_profile_part ridge_profile_class_part(ridge_profile_class class)
{
    return classes[class].part;
}

const char *ridge_profile_key_text(ridge_profile_key key)
{
    return keys[key];
}

ridge_status ridge_profile_key_parse(ridge_ctx *cx, const char *text,
                                     ridge_profile_key *out)
{
    for (int i = 0; i < RIDGE_KEY_COUNT; i++) {
        if (strcmp(keys[i], text) == 0) {
            *out = (ridge_profile_key)i;
            return RIDGE_OK;
        }
    }
    return ridge_fail(
        cx, RIDGE_E_NOTFOUND,
        "'%s' is no key of operations: use class, name, call, module, "
        "category, source or layer%s",
        text, ridge_suggestion(ridge_ctx_arena(cx), text, keys, RIDGE_KEY_COUNT));
}

const char *ridge_step_source_text(ridge_step_source source)
{
    switch (source) {
    case RIDGE_STEPS_ANNOTATED:
        return "annotations of the program";
    case RIDGE_STEPS_TRACK:
        return "the profiler's track of steps";
    case RIDGE_STEPS_MODULES:
        return "launches of the longest module";
    case RIDGE_STEPS_REPEATED:
        return "operations that repeat";
    case RIDGE_STEPS_WHOLE:
        return "none found: the whole trace";
    }
    return "";
}

/* ---- sums ------------------------------------------------------------------------ */

int64_t ridge_profile_compute_ns(const ridge_profile_times *times)
{
    return times->part_ns[RIDGE_PROFILE_PART_MATMUL] +
           times->part_ns[RIDGE_PROFILE_PART_ATTENTION] +
           times->part_ns[RIDGE_PROFILE_PART_COMPUTE];
}

int64_t ridge_profile_exposed_ns(const ridge_profile_times *times)
{
    int64_t sum = 0;
    for (int i = RIDGE_PROFILE_PART_ALL_GATHER; i <= RIDGE_PROFILE_PART_COLLECTIVE; i++)
        sum += times->part_ns[i];
    return sum;
}

int64_t ridge_profile_hidden_ns(const ridge_profile_times *times)
{
    int64_t sum = 0;
    for (int i = RIDGE_PROFILE_PART_ALL_GATHER; i <= RIDGE_PROFILE_PART_COLLECTIVE; i++)
        sum += times->hidden_ns[i];
    return sum;
}
