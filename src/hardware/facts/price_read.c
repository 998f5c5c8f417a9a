/*
 * Price lists of data/prices: {"provider", "aliases", "prices": [{"chip", "region",
 * "kind", "usd_per_chip_hour", "source", "date"}]}. kind is on-demand, spot,
 * reserved-1y or reserved-3y; region and aliases (other names of the provider) are
 * optional.
 */
#include "price_read.h"

#include <string.h>

#include "fact_read.h"

static const char *const members[] = {"provider", "aliases", "prices"};
static const char *const row_members[] = {
    "chip", "region", "kind", "usd_per_chip_hour", "source", "date", "note"};
static const char *const kind_texts[] = {"on-demand", "spot", "reserved-1y",
                                         "reserved-3y"};

static bool is_on_demand(const ridge_price *p)
{
    return strcmp(p->kind, kind_texts[0]) == 0;
}

/* Whether a stands before b; equal ones keep the order of the files. */
static bool is_before(const ridge_price *a, const ridge_price *b)
{
    if (is_on_demand(a) != is_on_demand(b))
        return is_on_demand(a);
    return a->usd_per_chip_hour < b->usd_per_chip_hour;
}

void ridge__price_insert(ridge_chip *chip, const ridge_price *price)
{
    size_t at = chip->n_prices;
    while (at > 0 && is_before(price, &chip->prices[at - 1]))
        at--;
    if (at == RIDGE_CHIP_PRICE_MAX)
        return;
    const size_t n = chip->n_prices < RIDGE_CHIP_PRICE_MAX ? chip->n_prices + 1
                                                           : RIDGE_CHIP_PRICE_MAX;
    memmove(&chip->prices[at + 1], &chip->prices[at],
            (n - at - 1) * sizeof chip->prices[0]);
    chip->prices[at] = *price;
    chip->n_prices = n;
}

void ridge__prices_attach(const price_list *list, size_t item, ridge_chip *chip)
{
    for (size_t i = 0; i < list->n; i++) {
        if (list->rows[i].chip == item)
            ridge__price_insert(chip, &list->rows[i].price);
    }
}

static ridge_status push_row(ridge_ctx *cx, price_list *list, const price_row *row)
{
    if (list->n == list->cap) {
        const size_t cap = list->cap == 0 ? 128 : 2 * list->cap;
        price_row *rows = ridge_new(ridge_ctx_arena(cx), price_row, cap);
        if (rows == NULL)
            return ridge_fail_nomem(cx);
        if (list->n > 0)
            memcpy(rows, list->rows, list->n * sizeof *rows);
        list->rows = rows;
        list->cap = cap;
    }
    list->rows[list->n++] = *row;
    return RIDGE_OK;
}

static ridge_status read_row(ridge_ctx *cx, ridge_node node, const name_index *chips,
                             price_row *out)
{
    if (ridge_json_kind_of(node) != RIDGE_JSON_OBJECT)
        return ridge_json_fail(cx, node, "a price is an object");
    RIDGE_TRY(ridge_json_only(cx, node, row_members, RIDGE_COUNT_OF(row_members)));
    const ridge_node chip_node = ridge_json_get(&node, "chip");
    ridge_price price = out->price;
    const char *name = NULL;
    size_t kind = 0;
    RIDGE_TRY(ridge_json_want_text(cx, chip_node, &name));
    RIDGE_TRY(ridge__choice_read(cx, ridge_json_get(&node, "kind"), kind_texts,
                                 RIDGE_COUNT_OF(kind_texts), &kind));
    price.kind = kind_texts[kind];
    RIDGE_TRY(ridge__text_read(cx, &node, "region", "", &price.region));
    RIDGE_TRY(ridge_json_want_double(cx, ridge_json_get(&node, "usd_per_chip_hour"),
                                     1e-6, 1e6, &price.usd_per_chip_hour));
    RIDGE_TRY(ridge__source_read(cx, &node, &price.source, &price.date));
    const name_entry *chip = ridge__index_find(chips, name);
    if (chip == NULL) {
        return ridge_json_fail(
            cx, chip_node, "unknown chip '%.40s': %s", name,
            ridge__index_suggest(cx, chips, NULL, name, "no chip is called that"));
    }
    *out = (price_row){chip->item, price};
    return RIDGE_OK;
}

ridge_status ridge__prices_read(ridge_ctx *cx, ridge_node root, const name_index *chips,
                                price_list *list)
{
    if (ridge_json_kind_of(root) != RIDGE_JSON_OBJECT)
        return ridge_json_fail(cx, root, "a price list is an object");
    RIDGE_TRY(ridge_json_only(cx, root, members, RIDGE_COUNT_OF(members)));
    const char *provider = NULL;
    const char *const *aliases = NULL;
    RIDGE_TRY(ridge__text_read(cx, &root, "provider", NULL, &provider));
    RIDGE_TRY(ridge__aliases_read(cx, ridge_json_get(&root, "aliases"), &aliases));
    const ridge_node prices = ridge_json_get(&root, "prices");
    if (ridge_json_kind_of(prices) != RIDGE_JSON_ARRAY)
        return ridge_json_fail(cx, prices, "an array of prices is wanted");
    for (size_t i = 0; i < ridge_json_size(prices); i++) {
        price_row row = {.price = {.provider = provider, .provider_aliases = aliases}};
        RIDGE_TRY(read_row(cx, ridge_json_at(&prices, i), chips, &row));
        RIDGE_TRY(push_row(cx, list, &row));
    }
    return RIDGE_OK;
}
