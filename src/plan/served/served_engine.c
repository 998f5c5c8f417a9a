/*
 * The engine that a measured row names, in words like "vllm 0.19.0", "vLLM (Nov 2024)",
 * "TensorRT-LLM v0.5", "TensorRT-LLM 0.14 / Triton": the engine of the catalogue whose
 * rules are of that version, else the family's own; one that the catalogue does not
 * know has rules and constants between those of others, which is said to be assumed.
 */
#include "served_run.h"

#include <string.h>

/* Versions that rows tell by a date or a word. */
typedef struct engine_word {
    const char *words;
    const char *engine;
} engine_word;

static const engine_word engine_words[] = {
    {"vLLM TPU", "vllm-tpu"},
    {"TensorRT-LLM 0.", "trtllm-v0"}, /* "trtllm 0.8" is Dynamo's version */
    {"TensorRT-LLM v0.", "trtllm-v0"},
    {"TensorRT LLM 0.", "trtllm-v0"},
    {"TensorRT LLM v0.", "trtllm-v0"},
    {"TRT-LLM 0.", "trtllm-v0"},
    {"TRT-LLM v0.", "trtllm-v0"},
};

/* Engines of releases before a month, which is counted from year 0. */
typedef struct engine_age {
    const char *family;
    int before;
    const char *engine;
} engine_age;

enum { JANUARY = 1, APRIL = 4, MONTHS = 12 };

/* In order of age. vLLM's V1 is the default from 0.8 of March 2025 on. */
static const engine_age ages[] = {
    {"vllm", 2024 * MONTHS + JANUARY, "vllm-2023"},
    {"vllm", 2025 * MONTHS + APRIL, "vllm-v0"},
    {"llama.cpp", 2024 * MONTHS + JANUARY, "llama-cpp-2023"},
    {"llama.cpp", 2025 * MONTHS + JANUARY, "llama-cpp-2024"},
};

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool begins(const char *text, const char *word)
{
    while (*word != '\0' && lower(*text) == lower(*word)) {
        text++;
        word++;
    }
    return *word == '\0';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The first number with a point in a text, as 1000 major + minor: "0.19.0": 19; -1:
 * none */
static int version_in(const char *text)
{
    for (const char *p = text; *p != '\0'; p++) {
        int64_t major, minor;
        if (!is_digit(*p) || (p > text && (is_digit(p[-1]) || p[-1] == '.')))
            continue;
        size_t n = 0;
        while (is_digit(p[n]))
            n++;
        if (p[n] != '.' || !is_digit(p[n + 1]))
            continue;
        size_t m = 0;
        while (is_digit(p[n + 1 + m]))
            m++;
        if (ridge_parse_i64((ridge_str){p, n}, &major) &&
            ridge_parse_i64((ridge_str){p + n + 1, m}, &minor) && major < 1000 &&
            minor < 1000)
            return (int)(1000 * major + minor);
    }
    return -1;
}

/* "0.9 to 0.13", "0.14 and later", "0.5" */
static bool has_version(const ridge_engine *engine, int version)
{
    const int first = version_in(engine->version);
    const char *to = strstr(engine->version, " to ");
    if (first < 0 || version < first)
        return false;
    if (to != NULL)
        return version <= version_in(to + strlen(" to "));
    return strstr(engine->version, "and later") != NULL || version == first;
}

/* An engine of the family whose rules are of the version: "vllm-v0" of "vllm". */
static const ridge_engine *find_version(const ridge_catalog *catalog,
                                        const ridge_engine *family, ridge_str name,
                                        int version)
{
    if (version < 0 || has_version(family, version))
        return family;
    for (size_t i = 0; i < ridge_catalog_engine_count(catalog); i++) {
        const ridge_engine *e = ridge_catalog_engine(catalog, i);
        if (e == NULL || strlen(e->name) <= name.n || e->name[name.n] != '-' ||
            strstr(e->name, "tpu") != NULL)
            continue;
        size_t same = 0;
        while (same < name.n && lower(name.p[same]) == e->name[same])
            same++;
        if (same == name.n && has_version(e, version))
            return e;
    }
    return family;
}

/* "vLLM (Nov 2024)": its month, counted from year 0; 0: none */
static int month_in(const char *text)
{
    static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                         "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    const char *at = strchr(text, '(');
    int64_t year;
    for (int i = 0; at != NULL && i < MONTHS; i++) {
        if (!begins(at + 1, months[i]) || at[4] != ' ' || strlen(at + 5) < 4)
            continue;
        return ridge_parse_i64((ridge_str){at + 5, 4}, &year) && year < 10000
                   ? (int)year * MONTHS + i + 1
                   : 0;
    }
    return 0;
}

/* The engine of a release that is told by its month; NULL: the family's own. */
static const char *aged_engine(const char *text)
{
    const int month = month_in(text);
    for (size_t i = 0; month > 0 && i < RIDGE_COUNT_OF(ages); i++) {
        if (begins(text, ages[i].family) && month < ages[i].before)
            return ages[i].engine;
    }
    return NULL;
}

static bool find_word(ridge_ctx *cx, const ridge_catalog *catalog, const char *text,
                      const ridge_engine **out)
{
    const char *aged = aged_engine(text);
    for (size_t i = 0; i < RIDGE_COUNT_OF(engine_words); i++) {
        if (begins(text, engine_words[i].words))
            return ridge_engine_find(cx, catalog, engine_words[i].engine, out) ==
                   RIDGE_OK;
    }
    return aged != NULL && ridge_engine_find(cx, catalog, aged, out) == RIDGE_OK;
}

/* The engine that the longest beginning of a text names; NULL: none. */
static ridge_status find_from(ridge_ctx *cx, const ridge_catalog *catalog,
                              const char *framework, ridge_str name,
                              const ridge_engine **out)
{
    *out = NULL;
    while (name.n > 0) {
        const ridge_engine *family;
        const char *text = ridge_str_dup(ridge_ctx_arena(cx), name);
        if (text == NULL)
            return ridge_fail_nomem(cx);
        if (ridge_engine_find(cx, catalog, text, &family) == RIDGE_OK) {
            *out = find_version(catalog, family, name, version_in(framework));
            return RIDGE_OK;
        }
        while (name.n > 0 && name.p[name.n - 1] != ' ')
            name.n--;
        name = ridge_str_trim(name);
    }
    return RIDGE_OK;
}

/* What is given to an engine that nothing is known of. */
static const char OTHER[] = "other";

/* @param out  NULL: the catalogue has none of its words */
static ridge_status find_words(ridge_ctx *cx, const ridge_catalog *catalog,
                               const served_run *run, ridge_str name,
                               const ridge_engine **out)
{
    *out = NULL;
    if (find_word(cx, catalog, run->framework, out))
        return RIDGE_OK;
    for (ridge_str rest = name; rest.n > 0;) { /* "Dynamo + SGLang" */
        RIDGE_TRY(find_from(cx, catalog, run->framework, rest, out));
        if (*out != NULL)
            return RIDGE_OK;
        ridge_str_cut(&rest, ' ');
    }
    return RIDGE_OK;
}

ridge_status served_engine_find(ridge_ctx *cx, const ridge_catalog *catalog,
                                const served_run *run, served_gaps *gaps,
                                const ridge_engine **out)
{
    ridge_str name = ridge_str_trim(ridge_str_of(run->framework));
    if (name.n == 0)
        return ridge_fail(cx, RIDGE_E_ARG, "the engine is not named");
    RIDGE_TRY(find_words(cx, catalog, run, name, out));
    if (*out == NULL)
        RIDGE_TRY(ridge_engine_find(cx, catalog, OTHER, out));
    if (strcmp((*out)->name, OTHER) == 0)
        served_assume(gaps, "rules of an engine that is not known");
    return RIDGE_OK;
}
