/*
 * Rules as people write them: arrays with their subscripts.
 *
 *     rules  array { ["," | ";"] array }
 *     array  name "[" dim [ over ] { "," dim [ over ] } "]"
 *
 * A name is a tensor of the program, or a role: weight, input, ... A dim without axes
 * stays whole.
 */
#include "subscript.h"

#include <string.h>

typedef struct reader {
    ridge_cursor s;
    const ridge_program *program;
    const ridge_mesh *mesh;
    int n, room;
    ridge_rule *rules;
} reader;

static ridge_rule *next_rule(reader *r)
{
    if (r->n == r->room) {
        const int room = r->room ? 2 * r->room : 16;
        ridge_rule *rules =
            ridge_new(ridge_ctx_arena(r->s.cx), ridge_rule, (size_t)room);
        if (!rules)
            return NULL;
        if (r->n > 0)
            memcpy(rules, r->rules, (size_t)r->n * sizeof *rules);
        r->rules = rules;
        r->room = room;
    }
    return &r->rules[r->n++];
}

/* The name in front of "[", with dots. */
static ridge_str read_name(ridge_cursor *s)
{
    ridge__cursor_peek(s);
    const size_t from = s->at;
    while (s->text[s->at] && !strchr("[]{}(),;@ \t\n", s->text[s->at]))
        s->at++;
    return (ridge_str){s->text + from, s->at - from};
}

static bool find_role(const char *name, ridge_role *out)
{
    for (int role = RIDGE_ROLE_INPUT; role <= RIDGE_ROLE_CACHE; role++) {
        if (strcmp(ridge_role_text((ridge_role)role), name) == 0) {
            *out = (ridge_role)role;
            return true;
        }
    }
    return false;
}

static bool has_dim(const reader *r, const ridge_rule *like, const char *dim)
{
    const int at = ridge_program_dim_find(r->program, dim);
    if (at < 0 || !like->tensor)
        return at >= 0;
    const ridge_tensor *t =
        &r->program->tensors[ridge_program_tensor_find(r->program, like->tensor)];
    for (int d = 0; d < t->n_dims; d++) {
        if (t->dims[d] == at)
            return true;
    }
    return false;
}

static ridge_status read_dim(reader *r, const ridge_rule *like, ridge_subscripts *use)
{
    ridge__cursor_peek(&r->s);
    const size_t at = r->s.at;
    ridge_str word = ridge__cursor_word(&r->s);
    ridge_dim_axes axes = {0};
    const char *whole = ridge_str_dup(ridge_ctx_arena(r->s.cx), word);
    if (!whole)
        return ridge_fail_nomem(r->s.cx);
    RIDGE_TRY(ridge__subscript_read(use, at, &word, has_dim(r, like, whole), &axes));
    const char *dim = ridge_str_dup(ridge_ctx_arena(r->s.cx), word);
    if (!dim)
        return ridge_fail_nomem(r->s.cx);
    if (!has_dim(r, like, dim)) {
        return ridge__cursor_fail(&r->s, RIDGE_E_ARG, at, "%.40s has no dim '%.40s'",
                                  like->tensor ? like->tensor : "the program", dim);
    }
    ridge_rule *rule = next_rule(r);
    if (!rule)
        return ridge_fail_nomem(r->s.cx);
    *rule = *like;
    rule->dim = dim;
    rule->n_axes = axes.n;
    for (int i = 0; i < axes.n; i++)
        rule->axes[i] = r->mesh->axes[axes.axes[i]].name;
    return RIDGE_OK;
}

static ridge_status read_array(reader *r)
{
    ridge__cursor_peek(&r->s);
    const size_t at = r->s.at;
    const ridge_str word = read_name(&r->s);
    const char *name = ridge_str_dup(ridge_ctx_arena(r->s.cx), word);
    ridge_rule like = {.tensor = NULL};
    if (!name)
        return ridge_fail_nomem(r->s.cx);
    if (ridge_program_tensor_find(r->program, name) >= 0) {
        like.tensor = name;
    } else if (!find_role(name, &like.role)) {
        return ridge__cursor_fail(&r->s, RIDGE_E_ARG, at,
                                  "'%.40s' is no tensor of the program and no role "
                                  "such as weight",
                                  name);
    }
    if (!ridge__cursor_take(&r->s, '[')) {
        return ridge__cursor_fail(&r->s, RIDGE_E_PARSE, r->s.at,
                                  "expected '[' and dims, as in w[D,F@x]");
    }
    ridge_subscripts use = {.s = &r->s, .mesh = r->mesh, .array = name};
    do {
        RIDGE_TRY(read_dim(r, &like, &use));
    } while (ridge__cursor_take(&r->s, ','));
    if (ridge__cursor_take(&r->s, ']'))
        return RIDGE_OK;
    return ridge__cursor_fail(&r->s, RIDGE_E_PARSE, r->s.at,
                              "expected ',' and another dim, or ']'");
}

ridge_status ridge_rules_parse(ridge_ctx *cx, const char *text,
                               const ridge_program *program, const ridge_mesh *mesh,
                               ridge_expr_fault *fault, ridge_rules *out)
{
    reader r = {.s = {cx, "rules", text, 0, fault}, .program = program, .mesh = mesh};
    *fault = (ridge_expr_fault){0};
    while (!ridge__cursor_at_end(&r.s)) {
        RIDGE_TRY(read_array(&r));
        if (ridge__cursor_peek(&r.s) == ',' || ridge__cursor_peek(&r.s) == ';')
            r.s.at++;
    }
    *out = (ridge_rules){.n = r.n, .rules = r.rules};
    return RIDGE_OK;
}
