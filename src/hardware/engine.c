/* What an engine makes of a chip, and what it says of its cache. */
#include "ridge/hardware_engine.h"

#include <math.h>
#include <string.h>

/* "a100-40gb" is a variant of "a100". */
static bool is_of(const char *chip, const char *const *names)
{
    for (size_t i = 0; names[i] != NULL; i++) {
        const size_t n = strlen(names[i]);
        if (strncmp(chip, names[i], n) == 0 && (chip[n] == '\0' || chip[n] == '-'))
            return true;
    }
    return false;
}

ridge_engine_room ridge_engine_room_on(const ridge_engine *engine,
                                       const ridge_chip *chip)
{
    for (int i = 0; i < engine->n_limits; i++) {
        const ridge_engine_limit *limit = &engine->limits[i];
        if (chip->hbm_bytes < limit->below_bytes || is_of(chip->name, limit->chips))
            return (ridge_engine_room){limit->budget_tokens, limit->sequences};
    }
    return (ridge_engine_room){engine->budget_tokens, engine->sequences};
}

double ridge_graph_padded(const ridge_graph_sizes *sizes, double sequences)
{
    for (int i = 0; i < sizes->n; i++) {
        if (sizes->of[i] >= sequences)
            return sizes->of[i];
    }
    return sequences;
}

typedef struct cache_value {
    const char *name;
    double value;
    int decimals;
} cache_value;

static void write_value(const cache_value *v, bool has_commas, ridge_buf *out)
{
    if (v->decimals > 0)
        ridge_buf_printf(out, "%.*f", v->decimals, v->value);
    else if (has_commas)
        ridge_buf_puts(out, ridge_format_exact((int64_t)v->value).s);
    else
        ridge_buf_printf(out, "%.0f", v->value);
}

/* @return bytes of the placeholder, 0: it is none */
static size_t write_place(const char *at, const cache_value *values, size_t n,
                          ridge_buf *out)
{
    const char *end = strchr(at, '}');
    if (*at != '{' || end == NULL)
        return 0;
    const bool has_commas = end[-1] == ',';
    const ridge_str name = {at + 1, (size_t)(end - at) - 1 - (has_commas ? 1 : 0)};
    for (size_t i = 0; i < n; i++) {
        if (ridge_str_is(name, values[i].name)) {
            write_value(&values[i], has_commas, out);
            return (size_t)(end - at) + 1;
        }
    }
    return 0;
}

void ridge_engine_cache_write(const ridge_engine *engine, int64_t blocks,
                              int64_t block_tokens, int64_t longest, ridge_buf *out)
{
    const double tokens = (double)blocks * (double)block_tokens;
    const double own = (double)ridge_ceil_div(longest, block_tokens);
    const cache_value values[] = {{"blocks", (double)blocks, 0},
                                  {"tokens", tokens, 0},
                                  {"longest", (double)longest, 0},
                                  {"seqblocks", own, 0},
                                  {"blocktokens", (double)block_tokens, 0},
                                  {"concurrency", (double)blocks / own, 2},
                                  {"seqs", floor((double)blocks / own), 0}};
    for (const char *at = engine->cache_line; *at != '\0';) {
        const size_t n = write_place(at, values, RIDGE_COUNT_OF(values), out);
        if (n == 0)
            ridge_buf_pad(out, *at, 1);
        at += n > 0 ? n : 1;
    }
}
