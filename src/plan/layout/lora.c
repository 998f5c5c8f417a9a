/* Which products have adapters: sets by name, and lists of single ones, as the
 * libraries that train adapters take them. */
#include "ridge/plan_layout.h"

#include <string.h>

typedef struct target {
    const char *name;
    ridge_lora_targets products;
} target;

/* The first name of a set is the one that is written. */
static const target targets[] = {
#define LORA_ROW(name, text, what, products) {text, products},
    RIDGE_LORA_LIST(LORA_ROW)
#undef LORA_ROW
};

/* As PEFT, torchtune and Megatron call them. */
static const target others[] = {
    {"q_proj", RIDGE_LORA_Q},        {"k_proj", RIDGE_LORA_K},
    {"v_proj", RIDGE_LORA_V},        {"o_proj", RIDGE_LORA_O},
    {"output_proj", RIDGE_LORA_O},   {"gate_proj", RIDGE_LORA_GATE},
    {"up_proj", RIDGE_LORA_UP},      {"down_proj", RIDGE_LORA_DOWN},
    {"all-linear", RIDGE_LORA_EACH}, {"linear_qkv", RIDGE_LORA_QKV},
    {"linear_proj", RIDGE_LORA_O},   {"linear_fc1", RIDGE_LORA_GATE | RIDGE_LORA_UP},
    {"linear_fc2", RIDGE_LORA_DOWN},
};

static const char SEPARATORS[] = "+, ";

static const target *find(const target *of, size_t n, ridge_str name)
{
    for (size_t i = 0; i < n; i++) {
        if (ridge_str_is(name, of[i].name))
            return &of[i];
    }
    return NULL;
}

static ridge_status fail_name(ridge_ctx *cx, ridge_str name)
{
    const char *names[RIDGE_COUNT_OF(targets)];
    const char *text = ridge_str_dup(ridge_ctx_arena(cx), name);
    for (size_t i = 0; i < RIDGE_COUNT_OF(targets); i++)
        names[i] = targets[i].name;
    if (text == NULL)
        return ridge_fail_nomem(cx);
    return ridge_fail_name(cx, RIDGE_E_ARG, "targets of adapters", text, names,
                           RIDGE_COUNT_OF(targets));
}

ridge_status ridge_lora_parse(ridge_ctx *cx, const char *text, ridge_lora_targets *out)
{
    ridge_lora_targets all = 0;
    const char *at = text;
    do {
        const size_t n = strcspn(at, SEPARATORS);
        const ridge_str name = {at, n};
        const target *t = find(targets, RIDGE_COUNT_OF(targets), name);
        if (t == NULL)
            t = find(others, RIDGE_COUNT_OF(others), name);
        if (t == NULL)
            return fail_name(cx, name);
        all |= t->products;
        at += n;
        at += strspn(at, SEPARATORS);
    } while (*at != '\0');
    *out = all == RIDGE_LORA_EACH ? RIDGE_LORA_ALL : all;
    return RIDGE_OK;
}

ridge_lora_targets ridge_lora_products(ridge_lora_targets chosen)
{
    return chosen == RIDGE_LORA_ALL ? RIDGE_LORA_EACH : chosen;
}

const char *ridge_lora_text(ridge_ctx *cx, ridge_lora_targets chosen)
{
    ridge_lora_targets left = ridge_lora_products(chosen);
    ridge_buf text;
    ridge_buf_init(&text, ridge_ctx_arena(cx));
    for (size_t i = 0; i < RIDGE_COUNT_OF(targets); i++) {
        const ridge_lora_targets products = targets[i].products;
        if ((left & products) != products)
            continue;
        ridge_buf_printf(&text, "%s%s", text.n == 0 ? "" : "+", targets[i].name);
        left &= ~products;
    }
    return ridge_buf_text(&text);
}

int64_t ridge_lora_rank(const ridge_lora *lora)
{
    return lora->rank > 0 ? lora->rank : RIDGE_LORA_RANK;
}
