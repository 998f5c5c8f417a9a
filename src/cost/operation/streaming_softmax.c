/* The state of a softmax that is taken over chunks of scores, as flash and ring
 * attention do: what makes their memory and messages constant in the length of the
 * context. */
#include "ridge/cost.h"

#include <math.h>

ridge_softmax_state ridge_softmax_combine(ridge_softmax_state a, ridge_softmax_state b)
{
    double most = fmax(a.maximum, b.maximum);
    if (isinf(most) && most < 0) /* both are empty */
        return (ridge_softmax_state){most, 0};
    return (ridge_softmax_state){most, a.denominator * exp(a.maximum - most) +
                                           b.denominator * exp(b.maximum - most)};
}
