#include "search_price.h"

#include "search_bound.h"
#include "search_target.h"

static void price_placements(search_desk *d, const candidate *c, train_terms *terms,
                             ridge_layout *l, ridge_train_price *price)
{
    const mesh_places *at = c->places;
    d->answer->tally.covered += at->n - 1; /* the first was counted with its remat */
    for (int i = 0; i < at->n; i++) {
        l->placement = at->index[i];
        if (!search_place_terms(d, c, i, l, terms)) {
            d->is_short = true;
            return;
        }
        search_learn_exchanges(d, terms, &at->groups[i], l, c->times);
        if (search_is_step_slow(d, terms, l, c, price->peak_memory_bytes))
            continue;
        if (!search_is_taken(d, l))
            continue;
        price->layout = *l;
        train_price_time(&d->tc, terms, l, price);
        d->answer->tally.priced++;
        layout_ranking_insert(&d->answer->ranking, price);
        layout_front_insert(&d->answer->front, price);
    }
}

double search_price_memory(search_desk *d, const candidate *c, train_terms *terms,
                           const memory_choice *choice, ridge_layout *l)
{
    ridge_train_price price = {.microbatches = c->microbatches,
                               .memory = choice->memory,
                               .host_bytes = choice->host_bytes,
                               .fullest_stage = choice->fullest_stage};
    l->remat = choice->remat;
    l->remat_ops = choice->remat_ops;
    l->remat_layers = choice->remat_layers;
    l->offload = choice->offload;
    price.peak_memory_bytes = ridge_memory_total_bytes(&price.memory);
    const double least_s = search_least_s(d, c, l);
    if (search_is_beaten(d, l, least_s, price.peak_memory_bytes))
        return least_s;
    if (c->places->n == 0) {
        d->answer->tally.refused[RIDGE_FIT_PLACEMENT]++;
        return least_s;
    }
    if (c->places->n > 1 &&
        search_is_placed_slow(d, c, terms, l, price.peak_memory_bytes)) {
        d->answer->tally.covered += c->places->n - 1;
        return least_s;
    }
    price_placements(d, c, terms, l, &price);
    return least_s;
}
