/* What a command changes of the model's configuration, and counts as people write them.
 */
#include "server_read.h"

#include <math.h>
#include <string.h>

static const char PREFIX[] = "hf-overrides";

/* Members that change no time: names, and how positions turn. */
static bool is_idle(const char *member)
{
    static const char *const idle[] = {"rope", "architectures", "model_type",
                                       "name", "torch_dtype",   "transformers_version"};
    for (size_t i = 0; i < RIDGE_COUNT_OF(idle); i++) {
        if (strncmp(member, idle[i], strlen(idle[i])) == 0)
            return true;
    }
    return false;
}

/* The member of the configuration that a setting overrides; NULL: none, "": all. */
static const char *member_of(const launch_setting *s)
{
    char name[sizeof PREFIX] = {0};
    const size_t n = sizeof PREFIX - 1;
    memcpy(name, s->name, strlen(s->name) < n ? strlen(s->name) : n);
    if (!launch_name_is(name, PREFIX))
        return NULL;
    return s->name[n] == '.' ? s->name + n + 1 : s->name[n] == '\0' ? "" : NULL;
}

static void note(server_reader *r, const launch_setting *s)
{
    launch_notes_add(r->cx, &r->launch->differing,
                     "%s:%d: %.80s %.60s: a model that differs from its configuration; "
                     "priced as configured",
                     r->sheet.file, s->line, s->name, s->value == NULL ? "" : s->value);
}

void server_read_overrides(server_reader *r, int64_t *longest)
{
    const launch_settings *all = &r->server->settings;
    for (int i = 0; i < all->n; i++) {
        const launch_setting *s = &all->all[i];
        const char *member = member_of(s);
        int64_t positions;
        if (member == NULL || is_idle(member))
            continue;
        const size_t n = s->value == NULL ? 0 : strlen(s->value);
        const bool is_object = n > 1 && s->value[0] == '{' && s->value[n - 1] == '}';
        if (member[0] == '\0' && is_object)
            continue; /* its members are settings of their own */
        if (strcmp(member, "max_position_embeddings") == 0 && s->value != NULL &&
            ridge_parse_i64(ridge_str_of(s->value), &positions) && positions > 0)
            *longest = positions;
        else
            note(r, s);
    }
}

bool server_human_count(const char *text, int64_t *out)
{
    static const char small[] = "kmgt";
    static const char large[] = "KMGT";
    const size_t n = strlen(text);
    if (n == 0)
        return false;
    const char *thousand = strchr(small, text[n - 1]);
    const char *binary = strchr(large, text[n - 1]);
    const bool has_suffix = thousand != NULL || binary != NULL;
    double v;
    if (!ridge_parse_double((ridge_str){text, has_suffix ? n - 1 : n}, &v))
        return false;
    if (thousand != NULL)
        v *= pow(1000, (double)(thousand - small + 1));
    if (binary != NULL)
        v *= pow(1024, (double)(binary - large + 1));
    if (!(v >= 1 && v < 1e15) || v != floor(v))
        return false;
    *out = (int64_t)v;
    return true;
}
