/* A derivation of a service's number being told. Layer-internal. */
#ifndef RIDGE_PLAN_SERVICE_STORY_H
#define RIDGE_PLAN_SERVICE_STORY_H

#include "ridge/plan.h"
#include "ridge/plan_service.h"

typedef struct service_story {
    ridge_ctx *cx;
    const ridge_service_request *request;
    const ridge_service_price *price;
    ridge_explanation *out;
} service_story;

/** Append a line; texts are copied. */
void service_story_add(service_story *s, int depth, const char *name,
                       const char *formula, const char *result, const char *values_fmt,
                       ...) RIDGE_PRINTF(6, 7);
/** The value of a fact of the chip or the engine, with its source and date. */
void service_story_fact(service_story *s, int depth, const char *key,
                        const char *shown);

/* One function a quantity; they add its lines from depth on. */
void service_story_ttft(service_story *s, int depth);
void service_story_tpot(service_story *s, int depth);
void service_story_e2e(service_story *s, int depth);
void service_story_throughput(service_story *s, int depth);
void service_story_usd(service_story *s, int depth);
void service_story_blocks(service_story *s, int depth);
void service_story_memory(service_story *s, int depth);
void service_story_batch(service_story *s, int depth);
/** A part of both kinds of iterations. */
void service_story_part(service_story *s, int depth, int part);

#endif
