/* The list of a rank's passes while it is written down. */
#include "pipeline_write.h"

void ridge__rank_act(ridge__rank_order *o, ridge_pass pass, int chunk, int microbatch)
{
    if (microbatch < o->pipeline->microbatches) {
        o->actions[o->n++] =
            (ridge_action){.pass = pass, .chunk = chunk, .microbatch = microbatch};
    }
}
