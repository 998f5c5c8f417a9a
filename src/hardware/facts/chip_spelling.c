#include "chip_spelling.h"
#include "catalog.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

/* Words that name no chip: makers, brands, sockets, memories, racks. */
static const char *const beside[] = {
    "nvidia",  "amd",       "intel",      "google",      "aws",      "habana",
    "tesla",   "geforce",   "instinct",   "cloud",       "gpu",      "tpu",
    "sxm",     "sxm2",      "sxm3",       "sxm4",        "sxm5",     "sxm6",
    "oam",     "hbm",       "hbm2",       "hbm2e",       "hbm3",     "hbm3e",
    "gddr6",   "gddr6x",    "gddr7",      "tensor",      "core",     "server",
    "edition", "blackwell", "generation", "accelerator", "graphics", "nvl72",
    "nvl36",   "trillium",  "ironwood",   "hgx",         "dgx"};

/* Memory as it is advertised is within this of what a chip's file says: GB for GiB, and
 * what the driver keeps. */
static const double MEMORY_SLACK = 0.09;

enum { SPELLED_MOST = 96 };

/** What is left of a text. */
typedef struct spelling {
    char name[SPELLED_MOST]; /* its words, joined by dashes */
    double memory_bytes;     /* 0: not stated */
} spelling;

static bool is_beside(const char *word)
{
    for (size_t i = 0; i < RIDGE_COUNT_OF(beside); i++) {
        if (strcmp(word, beside[i]) == 0)
            return true;
    }
    return false;
}

/* "80gb", "80gib", "80g" */
static bool read_memory(const char *word, double *bytes)
{
    size_t digits = 0;
    while (isdigit((unsigned char)word[digits]))
        digits++;
    double gb;
    const bool is_memory =
        digits > 0 && digits < 5 &&
        (strcmp(word + digits, "gb") == 0 || strcmp(word + digits, "gib") == 0 ||
         strcmp(word + digits, "g") == 0) &&
        ridge_parse_double((ridge_str){word, digits}, &gb);
    if (is_memory)
        *bytes = gb * 1e9;
    return is_memory;
}

static void add_word(const char *word, spelling *s)
{
    const size_t n = strlen(s->name), m = strlen(word);
    if (m == 0 || is_beside(word) || read_memory(word, &s->memory_bytes) ||
        n + 1 + m >= sizeof s->name)
        return;
    if (n > 0)
        s->name[n] = '-';
    memcpy(s->name + n + (n > 0), word, m + 1);
}

static spelling read_spelling(const char *text)
{
    spelling s = {{0}, 0};
    char word[SPELLED_MOST] = {0};
    size_t n = 0;
    for (;; text++) {
        if (*text != '\0' && strchr(" -_/(),", *text) == NULL) {
            if (n + 1 < sizeof word)
                word[n++] = (char)tolower((unsigned char)*text);
            continue;
        }
        word[n] = '\0';
        add_word(word, &s);
        n = 0;
        if (*text == '\0')
            return s;
    }
}

static bool has_memory(const ridge_chip *chip, double bytes)
{
    return bytes <= 0 || fabs(chip->hbm_bytes / bytes - 1) <= MEMORY_SLACK;
}

ridge_status ridge__chip_of_spelling(ridge_ctx *cx, const ridge_catalog *catalog,
                                     const char *text, const ridge_chip **out)
{
    const spelling s = read_spelling(text);
    const ridge_chip *chip = NULL;
    *out = NULL;
    if (s.name[0] == '\0')
        return RIDGE_OK;
    RIDGE_TRY(ridge__chip_lookup(cx, catalog, s.name, &chip));
    if (chip != NULL && !has_memory(chip, s.memory_bytes)) { /* its other size */
        const char *sized = ridge_sprintf(ridge_ctx_arena(cx), "%s-%.0fgb", s.name,
                                          s.memory_bytes / 1e9);
        if (sized == NULL)
            return ridge_fail_nomem(cx);
        chip = NULL;
        RIDGE_TRY(ridge__chip_lookup(cx, catalog, sized, &chip));
    }
    *out = chip;
    return RIDGE_OK;
}
