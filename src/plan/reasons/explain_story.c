/* A derivation being told: its lines, and the facts that it quotes. */
#include "explain_story.h"
#include "reason.h"

#include <string.h>

void story_add(story *s, int depth, const char *name, const char *formula,
               const char *result, const char *values_fmt, ...)
{
    va_list values;
    va_start(values, values_fmt);
    reason_add(s->cx, s->out, depth, name, formula, result, values_fmt, values);
    va_end(values);
}

void story_fact(story *s, int depth, const char *key, const char *shown)
{
    const ridge_chip *chip = s->tc->chip;
    for (size_t i = 0; i < chip->n_facts; i++) {
        const ridge_fact *f = &chip->facts[i];
        if (strcmp(f->key, key) == 0) {
            story_add(s, depth, key, "fact of the chip", shown, "%s, %s %s", chip->name,
                      f->source, f->date);
            return;
        }
    }
    story_add(s, depth, key, "fact of the chip", shown, "%s", chip->name);
}
