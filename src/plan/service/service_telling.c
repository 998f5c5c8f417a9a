/* A derivation of a service's number being told: its lines, and the facts it quotes. */
#include "reason.h"
#include "service_story.h"

#include <string.h>

void service_story_add(service_story *s, int depth, const char *name,
                       const char *formula, const char *result, const char *values_fmt,
                       ...)
{
    va_list values;
    va_start(values, values_fmt);
    reason_add(s->cx, s->out, depth, name, formula, result, values_fmt, values);
    va_end(values);
}

static const ridge_fact *find_fact(const ridge_fact *facts, size_t n, const char *key)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(facts[i].key, key) == 0)
            return &facts[i];
    }
    return NULL;
}

void service_story_fact(service_story *s, int depth, const char *key, const char *shown)
{
    const ridge_chip *chip = s->request->slice->chip;
    const ridge_engine *e = s->request->engine;
    const ridge_fact *f = find_fact(chip->facts, chip->n_facts, key);
    const bool is_chip = f != NULL;
    if (f == NULL)
        f = find_fact(e->facts, e->n_facts, key);
    if (f == NULL) {
        service_story_add(s, depth, key, "as the data says", shown, "%s", chip->name);
        return;
    }
    service_story_add(s, depth, key,
                      is_chip ? "fact of the chip" : "fact of the engine", shown,
                      "%s, %s %s", is_chip ? chip->name : e->name, f->source, f->date);
}
