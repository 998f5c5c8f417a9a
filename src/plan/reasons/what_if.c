/* What if: an answer on changed hardware. */
#include "lever.h"

#include "ridge/plan_reasons.h"

#include <math.h>
#include <string.h>

static const double FACTOR_MOST = 1e6;

/* ---- words ----------------------------------------------------------------------- */

/* "2x", "x2", "0.5", "+10%" */
static bool read_factor(ridge_str text, double *out)
{
    double v;
    if (text.n > 0 && (text.p[0] == 'x' || text.p[0] == 'X')) {
        text.p++;
        text.n--;
    } else if (text.n > 0 && (text.p[text.n - 1] == 'x' || text.p[text.n - 1] == 'X')) {
        text.n--;
    } else if (text.n > 0 && text.p[text.n - 1] == '%') {
        text.n--;
        if (!ridge_parse_double(text, &v))
            return false;
        *out = 1 + v / 100;
        return *out > 0 && *out <= FACTOR_MOST;
    }
    if (!ridge_parse_double(text, &v) || !isfinite(v) || v <= 0 || v > FACTOR_MOST)
        return false;
    *out = v;
    return true;
}

static bool is_axis(const ridge_slice *slice, const char *name)
{
    ridge_slice copy = *slice;
    return name[0] != '\0' && lever_pull_axes(&copy, name, 1) > 0;
}

static ridge_status fail_lever(ridge_ctx *cx, const ridge_slice *slice,
                               const char *name)
{
    const char *names[LEVER_COUNT + RIDGE_AXIS_MAX];
    size_t n = 0;
    for (int i = 0; i < LEVER_COUNT; i++)
        names[n++] = levers[i].name;
    for (int i = 0; i < slice->n_axes; i++)
        names[n++] = slice->axes[i].name;
    return ridge_fail_name(cx, RIDGE_E_ARG, "change of --what-if", name, names, n);
}

static ridge_status read_change(ridge_ctx *cx, ridge_str text, const ridge_slice *slice,
                                ridge_change *out)
{
    ridge_str rest = text;
    ridge_str key = ridge_str_cut(&rest, '=');
    const char *name = ridge_str_dup(ridge_ctx_arena(cx), key);
    if (name == NULL)
        return ridge_fail_nomem(cx);
    if (lever_find(name) == NULL && !is_axis(slice, name))
        return fail_lever(cx, slice, name);
    if (!read_factor(rest, &out->factor)) {
        return ridge_fail(cx, RIDGE_E_ARG,
                          "what if '%.*s': expected a factor above 0, as in %s=2x or "
                          "%s=+10%%",
                          (int)text.n, text.p, name, name);
    }
    out->name = name;
    return RIDGE_OK;
}

ridge_status ridge_what_if_parse(ridge_ctx *cx, const char *text,
                                 const ridge_slice *slice, ridge_what_if *out)
{
    ridge_str rest = ridge_str_of(text);
    *out = (ridge_what_if){.n = 0};
    while (rest.n > 0) {
        ridge_str word = ridge_str_cut(&rest, ',');
        if (out->n == RIDGE_CHANGE_MAX)
            return ridge_fail(cx, RIDGE_E_ARG, "what if: at most %d changes",
                              RIDGE_CHANGE_MAX);
        RIDGE_TRY(read_change(cx, word, slice, &out->changes[out->n]));
        out->n++;
    }
    if (out->n == 0)
        return ridge_fail(cx, RIDGE_E_ARG, "what if: name a change, as in hbm=2x");
    return RIDGE_OK;
}

/* ---- answers --------------------------------------------------------------------- */

ridge_status ridge_slice_change(ridge_ctx *cx, const ridge_slice *slice,
                                const ridge_what_if *what, const ridge_slice **out)
{
    ridge_slice *changed = ridge_new(ridge_ctx_arena(cx), ridge_slice, 1);
    ridge_chip *chip = ridge_new(ridge_ctx_arena(cx), ridge_chip, 1);
    if (changed == NULL || chip == NULL)
        return ridge_fail_nomem(cx);
    *changed = *slice;
    *chip = *slice->chip;
    changed->chip = chip;
    for (int i = 0; i < what->n; i++) {
        const lever *l = lever_find(what->changes[i].name);
        if (l != NULL) {
            l->pull(chip, changed, what->changes[i].factor);
        } else {
            lever_pull_axes(changed, what->changes[i].name, what->changes[i].factor);
        }
    }
    if (memcmp(chip, slice->chip, sizeof *chip) == 0)
        changed->chip = slice->chip; /* whose layers' times may be known */
    *out = changed;
    return RIDGE_OK;
}

ridge_status ridge_train_what_if(ridge_ctx *cx, const ridge_train_request *request,
                                 const ridge_train_price *best,
                                 const ridge_what_if *what, ridge_what_if_answer *out)
{
    ridge_train_request changed = *request;
    ridge_train_result result;
    changed.top = 1;
    changed.front = 0;
    changed.progress = NULL;
    *out = (ridge_what_if_answer){.has_best = false};
    RIDGE_TRY(ridge_slice_change(cx, request->slice, what, &changed.slice));
    RIDGE_TRY(ridge_train_price_one(cx, &changed, &best->layout, &out->same));
    if (out->same.fit == RIDGE_FIT_OK) { /* only faster ones are looked for */
        out->has_best = true;
        out->best = out->same;
        changed.known_step_s = out->same.step_time_s;
    }
    RIDGE_TRY(ridge_train_search(cx, &changed, &result));
    out->has_best = out->has_best || result.n_layouts > 0;
    if (result.n_layouts > 0)
        out->best = result.layouts[0];
    return RIDGE_OK;
}
