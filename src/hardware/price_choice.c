/*
 * Which of a chip's prices a text names, and what to say when it names none. Knows the
 * words of a choice: providers, regions, kinds; the list itself is price_read.c's.
 */
#include "ridge/hardware_site.h"

#include "name_index.h"

#include <string.h>

enum { WORD_MOST = 3, KNOWN_MOST = 4 * RIDGE_CHIP_PRICE_MAX };

static bool is_word(const char *known, const char *word)
{
    return ridge__name_compare(known, word) == 0;
}

static bool has_word(const ridge_price *price, const char *word)
{
    for (size_t i = 0; price->provider_aliases[i] != NULL; i++) {
        if (is_word(price->provider_aliases[i], word))
            return true;
    }
    return is_word(price->provider, word) || is_word(price->kind, word) ||
           (price->region[0] != '\0' && is_word(price->region, word));
}

/* All words that the prices of a chip answer to; some stand there twice. */
static size_t known_words(const ridge_chip *chip, const char **out)
{
    size_t n = 0;
    for (size_t i = 0; i < chip->n_prices; i++) {
        const ridge_price *p = &chip->prices[i];
        const char *words[] = {p->provider, p->provider_aliases[0], p->kind, p->region};
        for (size_t k = 0; k < RIDGE_COUNT_OF(words); k++) {
            if (words[k] != NULL && words[k][0] != '\0')
                out[n++] = words[k];
        }
    }
    return n;
}

static bool is_in(const char *const *words, size_t n, const char *word)
{
    for (size_t i = 0; i < n; i++) {
        if (is_word(words[i], word))
            return true;
    }
    return false;
}

/* The word itself is not known: the nearest, or all there are. */
static ridge_status fail_word(ridge_ctx *cx, const ridge_chip *chip, const char *word)
{
    const char *words[KNOWN_MOST];
    const char *distinct[KNOWN_MOST];
    const size_t n = known_words(chip, words);
    size_t m = 0;
    ridge_buf all;
    ridge_buf_init(&all, ridge_ctx_scratch(cx));
    for (size_t i = 0; i < n; i++) {
        if (is_in(distinct, m, words[i]))
            continue;
        ridge_buf_printf(&all, "%s%s", m == 0 ? "" : ", ", words[i]);
        distinct[m++] = words[i];
    }
    const char *hint = ridge_suggestion(ridge_ctx_scratch(cx), word, distinct, m);
    if (hint[0] != '\0') {
        return ridge_fail(cx, RIDGE_E_NOTFOUND, "no price of %s is called '%.40s': %s",
                          chip->name, word, hint);
    }
    return ridge_fail(cx, RIDGE_E_NOTFOUND,
                      "no price of %s is called '%.40s': it has %s; or give dollars a "
                      "chip-hour",
                      chip->name, word, ridge_buf_text(&all));
}

/* Each word is known, but not together: what has the first of them. */
static ridge_status fail_words(ridge_ctx *cx, const ridge_chip *chip, const char *text,
                               const char *first)
{
    ridge_buf have;
    ridge_buf_init(&have, ridge_ctx_scratch(cx));
    size_t n = 0;
    for (size_t i = 0; i < chip->n_prices; i++) {
        const ridge_price *p = &chip->prices[i];
        if (!has_word(p, first))
            continue;
        ridge_buf_printf(&have, "%s%s%s%s:%s", n++ == 0 ? "" : ", ", p->provider,
                         p->region[0] == '\0' ? "" : ":", p->region, p->kind);
    }
    return ridge_fail(cx, RIDGE_E_NOTFOUND,
                      "no price of %s is '%.80s': choose among %s", chip->name, text,
                      ridge_buf_text(&have));
}

/* Splits "a:b:c". @return how many words; 0: too many or an empty one */
static int split_words(ridge_ctx *cx, const char *text, const char *words[WORD_MOST])
{
    ridge_str rest = ridge_str_of(text);
    int n = 0;
    while (rest.p != NULL) {
        const ridge_str part = ridge_str_trim(ridge_str_cut(&rest, ':'));
        if (n == WORD_MOST || part.n == 0)
            return 0;
        words[n] = ridge_str_dup(ridge_ctx_scratch(cx), part);
        if (words[n] == NULL)
            return 0;
        n++;
    }
    return n;
}

static ridge_status choose_own(ridge_ctx *cx, double usd, ridge_price *out)
{
    static const char *const no_aliases[] = {NULL};
    if (!(usd > 0 && usd <= 1e6)) {
        return ridge_fail(
            cx, RIDGE_E_ARG,
            "a price of %g dollars a chip-hour: expected above 0, at most "
            "1e6",
            usd);
    }
    *out = (ridge_price){.usd_per_chip_hour = usd,
                         .provider = "own",
                         .provider_aliases = no_aliases,
                         .region = "",
                         .kind = "given",
                         .source = "",
                         .date = ""};
    return RIDGE_OK;
}

static ridge_status choose_words(ridge_ctx *cx, const ridge_chip *chip,
                                 const char *text, ridge_price *out)
{
    const char *words[WORD_MOST];
    const char *known[KNOWN_MOST];
    const size_t n_known = known_words(chip, known);
    const int n = split_words(cx, text, words);
    if (n == 0) {
        return ridge_fail(cx, RIDGE_E_ARG,
                          "'%.80s' names no price: write 2.5, aws, spot or "
                          "google:us-east5:reserved-1y",
                          text);
    }
    for (size_t i = 0; i < chip->n_prices; i++) {
        bool has_all = true;
        for (int k = 0; k < n; k++)
            has_all = has_all && has_word(&chip->prices[i], words[k]);
        if (has_all) {
            *out = chip->prices[i];
            return RIDGE_OK;
        }
    }
    for (int k = 0; k < n; k++) {
        if (!is_in(known, n_known, words[k]))
            return fail_word(cx, chip, words[k]);
    }
    return fail_words(cx, chip, text, words[0]);
}

ridge_status ridge_price_choose(ridge_ctx *cx, const ridge_chip *chip, const char *text,
                                ridge_price *out)
{
    double usd = 0;
    ridge_str s = ridge_str_trim(ridge_str_of(text));
    if (s.n > 0 && s.p[0] == '$')
        s = (ridge_str){s.p + 1, s.n - 1};
    if (ridge_parse_double(s, &usd))
        return choose_own(cx, usd, out);
    if (chip->n_prices == 0) {
        return ridge_fail(cx, RIDGE_E_NOTFOUND,
                          "no price of %s is published: give dollars a chip-hour",
                          chip->name);
    }
    if (s.n == 0) {
        *out = chip->prices[0];
        return RIDGE_OK;
    }
    return choose_words(cx, chip, text, out);
}

const char *ridge_price_text(ridge_ctx *cx, const ridge_price *price)
{
    const bool has_region = price->region[0] != '\0';
    const bool has_date = price->date[0] != '\0';
    return ridge_sprintf(ridge_ctx_arena(cx), "%s%s%s %s%s%s", price->provider,
                         has_region ? " " : "", price->region, price->kind,
                         has_date ? ", " : "", price->date);
}
