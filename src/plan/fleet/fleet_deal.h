/* Layers dealt out to unlike stages so that the slowest takes least. */
#ifndef RIDGE_PLAN_FLEET_DEAL_H
#define RIDGE_PLAN_FLEET_DEAL_H

#include "ridge/base.h"

/** Whether a stage with these layers of each kind fits its chip. */
typedef bool fleet_deal_fits(void *payload, int stage, const double *layers);

typedef struct fleet_deal {
    int n_layers;
    const int *kinds;  /* [n_layers] kind of each layer, in the model's order */
    const int *starts; /* [n_layers] the first of the like ones up to each layer */
    int n_kinds;
    int pp;                 /* 1 .. n_layers */
    const double **layer_s; /* [pp] of each stage, [n_kinds]: a layer; > 0 */
    const double *fixed_s;  /* [pp] what a stage takes beside layers; >= 0 */
    int *from;              /* of several kinds: room, see fleet_deal_scratch */
    /* NULL: everything fits. Fewer layers fit wherever more do. */
    fleet_deal_fits *fits;
    void *payload;
} fleet_deal;

/** Whole numbers that the scratch of a deal holds. */
size_t fleet_deal_scratch(int n_layers, int pp);

/**
 * Deal from behind, each stage as much as it can take within most_s, one layer at
 * least; less where an earlier stage could then not take any, for layers that suit it
 * worse. Where any deal of consecutive layers keeps within it, this one does.
 * @param layers  out: [pp][n_kinds]
 * @return false: there is none
 */
bool fleet_deal_within(const fleet_deal *deal, double most_s, double *layers);

/** The deal whose slowest stage takes least. @param most_s  out: that stage
 * @return false: nothing fits */
bool fleet_deal_best(const fleet_deal *deal, double *layers, double *most_s);

#endif
