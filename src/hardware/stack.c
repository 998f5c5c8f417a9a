/* What a stack makes of a chip, and which stack a source's runs used. */
#include "ridge/hardware_stack.h"

#include <string.h>

enum { VARIANTS_MOST = 4 }; /* of variants of variants */

/* "a100-40gb" is a variant of "a100". */
static bool is_variant(const char *chip, const char *of)
{
    const size_t n = strlen(of);
    return strncmp(chip, of, n) == 0 && (chip[n] == '\0' || chip[n] == '-');
}

double ridge_stack_factor_of(const ridge_stack_factors *factors, const ridge_chip *chip)
{
    double value = 1;
    size_t longest = 0;
    for (int i = 0; i < factors->n; i++) {
        const ridge_stack_factor *f = &factors->of[i];
        const size_t n = strlen(f->chip);
        if (n > longest && is_variant(chip->name, f->chip)) {
            longest = n;
            value = f->value;
        }
    }
    return value;
}

static bool has_text(const char *const *texts, const char *text)
{
    for (size_t i = 0; texts != NULL && texts[i] != NULL; i++) {
        if (strcmp(texts[i], text) == 0)
            return true;
    }
    return false;
}

static bool runs_on(const ridge_stack *stack, const ridge_chip *chip)
{
    return stack == NULL || stack->vendors == NULL || chip == NULL ||
           chip->vendor == NULL || has_text(stack->vendors, chip->vendor);
}

ridge_status ridge_stack_check(ridge_ctx *cx, const ridge_stack *stack,
                               const ridge_chip *chip)
{
    ridge_buf names;
    ridge_buf_init(&names, ridge_ctx_arena(cx));
    if (runs_on(stack, chip))
        return RIDGE_OK;
    for (size_t i = 0; stack->vendors[i] != NULL; i++)
        ridge_buf_printf(&names, "%s%s", i == 0 ? "" : " or ", stack->vendors[i]);
    return ridge_fail(
        cx, RIDGE_E_ARG,
        "stack %s runs on chips of %s, not on %s: name another --stack, or "
        "none",
        stack->name, ridge_buf_text(&names), chip->full_name);
}

/* ---- which stack a run used ------------------------------------------------------ */

static bool is_told_on(const ridge_stack *stack, const ridge_chip *chip)
{
    if (stack->told_on == NULL || chip == NULL)
        return true;
    for (size_t i = 0; stack->told_on[i] != NULL; i++) {
        if (is_variant(chip->name, stack->told_on[i]))
            return true;
    }
    return false;
}

const ridge_stack *ridge_stack_of_run(const ridge_catalog *catalog,
                                      const ridge_chip *chip, const char *title)
{
    const ridge_stack *found = NULL;
    size_t longest = 0;
    for (size_t i = 0; i < ridge_catalog_stack_count(catalog); i++) {
        const ridge_stack *s = ridge_catalog_stack(catalog, i);
        if (s == NULL || !runs_on(s, chip) || !is_told_on(s, chip))
            continue;
        for (size_t k = 0; s->runs[k] != NULL; k++) {
            const size_t n = strlen(s->runs[k]);
            if (n < longest || strstr(title, s->runs[k]) == NULL)
                continue;
            if (n == longest && found != NULL && strcmp(s->name, found->name) < 0)
                continue;
            longest = n;
            found = s;
        }
    }
    return found;
}

/* How closely a stack's list of where it is usual names a chip: 0, not at all. */
enum { USUAL_ON_VENDOR = 1, USUAL_ON_SHARDED = 2, USUAL_ON_CHIP = 4 };

static int how_usual(const ridge_stack *s, const ridge_chip *chip, bool is_sharded)
{
    int closeness = 0;
    for (size_t i = 0; s->usual_on != NULL && s->usual_on[i] != NULL; i++) {
        if (is_variant(chip->name, s->usual_on[i]))
            closeness = USUAL_ON_CHIP;
    }
    if (closeness == 0 && chip->vendor != NULL && has_text(s->usual_on, chip->vendor))
        closeness = USUAL_ON_VENDOR;
    if (closeness == 0 || (s->is_usual_sharded && !is_sharded))
        return 0;
    return closeness + (s->is_usual_sharded ? USUAL_ON_SHARDED : 0);
}

const ridge_stack *ridge_stack_usual(const ridge_catalog *catalog,
                                     const ridge_chip *chip, bool is_sharded)
{
    const ridge_stack *found = NULL;
    int closest = 0;
    for (size_t i = 0; i < ridge_catalog_stack_count(catalog); i++) {
        const ridge_stack *s = ridge_catalog_stack(catalog, i);
        const int closeness = s == NULL ? 0 : how_usual(s, chip, is_sharded);
        if (closeness > closest) {
            closest = closeness;
            found = s;
        }
    }
    return found;
}

/* What parts words of names, which sources write in their own ways: "GPT-OSS 120B",
 * "GPT OSS 120B", "Nemotron_3_Nano". */
static bool is_separator(char c)
{
    return c == '-' || c == '_' || c == ' ';
}

static bool starts_with_word(const char *text, const char *word)
{
    while (*word != '\0' && *text != '\0') {
        const bool is_alike =
            is_separator(*word) ? is_separator(*text) : *word == *text;
        if (!is_alike)
            return false;
        word++;
        text++;
    }
    return *word == '\0';
}

static bool has_word(const char *text, const char *word)
{
    for (; *text != '\0'; text++) {
        if (starts_with_word(text, word))
            return true;
    }
    return false;
}

static const ridge_stack *find_variant(const ridge_catalog *catalog,
                                       const ridge_stack *stack, const ridge_chip *chip,
                                       const char *text)
{
    const ridge_stack *found = stack;
    size_t longest = 0;
    for (size_t i = 0; i < ridge_catalog_stack_count(catalog); i++) {
        const ridge_stack *s = ridge_catalog_stack(catalog, i);
        if (s == NULL || s->variant_of == NULL ||
            strcmp(s->variant_of, stack->name) != 0 || !is_told_on(s, chip))
            continue;
        for (size_t k = 0; s->told_by[k] != NULL; k++) {
            const size_t n = strlen(s->told_by[k]);
            if (n > longest && has_word(text, s->told_by[k])) {
                longest = n;
                found = s;
            }
        }
    }
    return found;
}

const ridge_stack *ridge_stack_variant_of_run(const ridge_catalog *catalog,
                                              const ridge_stack *stack,
                                              const ridge_chip *chip, const char *text)
{
    for (int i = 0; i < VARIANTS_MOST; i++) {
        const ridge_stack *next = find_variant(catalog, stack, chip, text);
        if (next == stack)
            break;
        stack = next;
    }
    return stack;
}
