/*
 * What the name of a checkpoint says of its formats: "Llama-3.3-70B-Instruct-FP8-KV",
 * "Meta-Llama-3.1-70B-Instruct-AWQ-INT4", "...-quantized.w4a16" are models that the
 * catalogue has under another name, in a format that the row may not repeat.
 */
#include "served_run.h"

#include <string.h>

/* An end of names, in lower case with every separator a dash. */
typedef struct name_tail {
    const char *tail;
    const char *dtype, *cache; /* as rows write them; "": it does not say */
} name_tail;

/* Longer ones first; they are taken off one after another. */
static const name_tail tails[] = {
    {"quantized-w8a8-fp8", "fp8", ""},
    {"quantized-w4a16", "w4a16", ""},
    {"quantized-w8a16", "w8a16", ""},
    {"quantized-w8a8", "w8a8", ""},
    {"fp8-kv", "fp8", "fp8"},
    {"fp8-dynamic", "fp8", ""},
    {"mxfp4-preview", "mxfp4", ""},
    {"fp4-v2", "nvfp4", ""},
    {"awq-int4", "awq", ""},
    {"awq-4bit", "awq", ""},
    {"int4-awq", "awq", ""},
    {"gptq-int8", "gptq-int8", ""},
    {"gptq-int4", "gptq", ""},
    {"gptq-4bit", "gptq", ""},
    {"bnb-4bit", "nf4", ""},
    {"nvfp4", "nvfp4", ""},
    {"mxfp4", "mxfp4", ""},
    {"w4a16", "w4a16", ""},
    {"w8a16", "w8a16", ""},
    {"w8a8", "w8a8", ""},
    {"gptq", "gptq", ""},
    {"int4", "int4", ""},
    {"int8", "int8", ""},
    {"gguf", "", ""},
    {"fp8", "fp8", ""},
    {"fp4", "nvfp4", ""},
    {"awq", "awq", ""},
};

static char plain(char c)
{
    const bool is_separator = c == '_' || c == '.' || c == ' ';
    return is_separator ? '-' : c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Whether a name has an end behind a separator, and something before it. */
static bool has_tail(ridge_str name, const char *tail)
{
    const size_t n = strlen(tail);
    if (name.n < n + 2 || plain(name.p[name.n - n - 1]) != '-')
        return false;
    for (size_t i = 0; i < n; i++) {
        if (plain(name.p[name.n - n + i]) != tail[i])
            return false;
    }
    return true;
}

static const name_tail *tail_of(ridge_str name)
{
    for (size_t i = 0; i < RIDGE_COUNT_OF(tails); i++) {
        if (has_tail(name, tails[i].tail))
            return &tails[i];
    }
    return NULL;
}

ridge_str served_name_bare(const char *name)
{
    ridge_str rest = ridge_str_of(name);
    const name_tail *tail;
    while ((tail = tail_of(rest)) != NULL)
        rest.n -= strlen(tail->tail) + 1;
    return rest;
}

void served_name_complete(served_run *run)
{
    ridge_str rest = ridge_str_of(run->model);
    const name_tail *tail;
    while ((tail = tail_of(rest)) != NULL) {
        if (run->dtype[0] == '\0')
            run->dtype = tail->dtype;
        if (run->cache_dtype[0] == '\0')
            run->cache_dtype = tail->cache;
        rest.n -= strlen(tail->tail) + 1;
    }
}
