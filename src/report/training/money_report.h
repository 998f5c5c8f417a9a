/* The section of a report that sums up a whole training run. */
#ifndef RIDGE_MONEY_REPORT_H
#define RIDGE_MONEY_REPORT_H

#include "ridge/plan_money.h"

#include "section.h"

/** @param price  of the layout that runs; it fits */
void ridge__money_section_add(ridge_ctx *cx, const ridge_train_request *request,
                              const ridge_train_price *price,
                              const ridge_money_request *terms,
                              ridge_sections *sections);

#endif
