/*
 * Pieces of advice being gathered. Layer-internal.
 */
#ifndef RIDGE_PROFILE_ADVICE_LIST_H
#define RIDGE_PROFILE_ADVICE_LIST_H

#include "ridge/profile.h"

enum { ADVICE_MAX = 32 };

typedef struct advice_list {
    ridge_ctx *cx;
    const ridge_profile *p;
    double steps; /* at least 1 */
    int n;
    ridge_profile_advice items[ADVICE_MAX];
} advice_list;

/** A piece worth less than a two hundredth of a step is left out.
 * @param worth_s  of all steps together */
RIDGE_PRINTF(5, 6)
void advice_add(advice_list *list, const char *key, const char *title, double worth_s,
                const char *evidence, ...);

/** What collectives and ranks give reason for. */
void advice_network(advice_list *list);
/** What the host and its launches do. */
void advice_host(advice_list *list);
/** What operations on the device do. */
void advice_compute(advice_list *list);

/** Seconds a step, as text. */
ridge_text advice_step_text(const advice_list *list, double all_s);

#endif
