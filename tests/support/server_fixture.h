/* Deployments for tests: written for an engine and read back, or read from text. */
#ifndef RIDGE_TEST_SERVER_FIXTURE_H
#define RIDGE_TEST_SERVER_FIXTURE_H

#include "train_fixture.h"

#include "ridge/plan_launch_serving.h"

/** Read a text as a file of that name. @param slice  of the catalogue, or NULL */
ridge_status server_fixture_parse(ridge_ctx *cx, const char *slice, const char *file,
                                  const char *text, ridge_serving_launch *out);

bool server_fixture_has(const ridge_launch_notes *notes, const char *part);

/** A pool to be written: degrees, limits, formats; zero is the checkpoint's or one. */
typedef struct server_case {
    const char *model, *slice;
    ridge_service_role role;
    int64_t replicas;
    int64_t tp, pp, ep, attention_dp;
    ridge_kv_cut kv_cut;
    bool has_two_batches;
    int64_t redundant_experts;
    int64_t sequences, budget_tokens;
    double longest_tokens, prompt_tokens;
    const char *weight, *cache; /* NULL: as the checkpoint has them */
    ridge_draft_kind draft;
    int64_t depth, nodes;
} server_case;

/** One pool, or two of which the second decodes. */
ridge_deployment server_fixture_deployment(ridge_ctx *cx,
                                           ridge_serving_launcher launcher,
                                           const server_case *cases, int n);

/** Fail the test unless the deployment comes back as it was. */
void server_fixture_round_trip(ridge_ctx *cx, ridge_serving_launcher launcher,
                               const server_case *cases, int n,
                               ridge_serving_launch *back);

/** Fail the test unless each option that is written for a pool is in a list of
 *  tests/support/launch-names. */
void server_fixture_check_names(ridge_ctx *cx, ridge_serving_launcher launcher,
                                const server_case *c, const char *list);

#endif
