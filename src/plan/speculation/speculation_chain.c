/* Chains of drafts: tokens of an iteration from acceptance, and back. */
#include "ridge/plan_speculation.h"

double ridge_chain_tokens(const double *accept, int64_t depth)
{
    double tokens = 1;
    double reach = 1;
    for (int64_t i = 0; i < depth; i++) {
        reach *= accept[i];
        tokens += reach;
    }
    return tokens;
}

void ridge_chain_chances(const double *accept, int64_t depth, double *out)
{
    double reach = 1;
    for (int64_t i = 0; i < depth; i++) {
        out[i] = reach * (1 - accept[i]);
        reach *= accept[i];
    }
    out[depth] = reach;
}

static double even_tokens(double a, int64_t depth)
{
    double tokens = 1;
    for (int64_t i = 0; i < depth; i++)
        tokens = 1 + a * tokens;
    return tokens;
}

double ridge_chain_acceptance(double tokens, int64_t depth)
{
    double low = 0;
    double high = 1;
    for (int i = 0; i < 60; i++) {
        const double a = (low + high) / 2;
        if (even_tokens(a, depth) < tokens) {
            low = a;
        } else {
            high = a;
        }
    }
    return (low + high) / 2;
}

void ridge_acceptance_extend(const double *known, int n, double *out)
{
    for (int i = 0; i < RIDGE_DRAFT_DEPTH_MAX; i++)
        out[i] = known[i < n ? i : n - 1];
}
