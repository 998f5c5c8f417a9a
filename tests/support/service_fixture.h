/* Services for tests: requests on slices of the catalogue. */
#ifndef RIDGE_TEST_SERVICE_FIXTURE_H
#define RIDGE_TEST_SERVICE_FIXTURE_H

#include "train_fixture.h"

#include "ridge/plan_service.h"

/** A request of 512 tokens in, 64 out, knobs closed; engine vllm-v1. */
ridge_service_request service_request(ridge_ctx *cx, const ridge_model *model,
                                      const char *slice);

/** The best deployment; fails the test if there is none. */
ridge_service_price service_best(ridge_ctx *cx, const ridge_service_request *request);

#endif
