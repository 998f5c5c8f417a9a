/* Rules by which drafts are kept, such that outputs are the model's own. */
#include "ridge/plan_speculation.h"

#include <math.h>

int64_t ridge_greedy_accepted(const int *drafted, const int *best, int64_t depth)
{
    int64_t n = 0;
    while (n < depth && drafted[n] == best[n])
        n++;
    return n;
}

double ridge_stochastic_acceptance(const double *p, const double *q, int tokens)
{
    double sum = 0;
    for (int i = 0; i < tokens; i++)
        sum += fmin(p[i], q[i]);
    return sum;
}

/* What refusing a candidate leaves of the model's chances. */
static void refuse(double *p, const double *q, int tokens)
{
    double whole = 0;
    for (int i = 0; i < tokens; i++)
        whole += fmax(0, p[i] - q[i]);
    for (int i = 0; i < tokens && whole > 0; i++)
        p[i] = fmax(0, p[i] - q[i]) / whole;
}

static void copy(const double *p, int tokens, double *out)
{
    for (int i = 0; i < tokens; i++)
        out[i] = p[i];
}

int ridge_stochastic_choice(const double *p, const double *q, int tokens,
                            const ridge_candidates *candidates, double *work, int *kept)
{
    copy(p, tokens, work);
    for (int k = 0; k < candidates->n; k++) {
        const int x = candidates->drafted[k];
        if (candidates->keep[k] * q[x] < work[x]) {
            *kept = k;
            return x;
        }
        refuse(work, q, tokens);
    }
    *kept = -1;
    double sum = 0;
    int last = 0;
    for (int i = 0; i < tokens; i++) {
        if (work[i] <= 0)
            continue;
        last = i;
        sum += work[i];
        if (candidates->draw < sum)
            return i;
    }
    return last;
}

void ridge_stochastic_ranks(const double *p, const double *q, int tokens, int ranks,
                            double *work, double *out)
{
    double open = 1;
    copy(p, tokens, work);
    for (int k = 0; k < ranks; k++) {
        out[k] = open * ridge_stochastic_acceptance(work, q, tokens);
        open -= out[k];
        refuse(work, q, tokens);
    }
}
