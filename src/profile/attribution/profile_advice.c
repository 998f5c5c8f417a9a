/* What to do: each piece with its evidence and what it is worth. */
#include "profile_builder.h"

ridge_status profile_advice_set(ridge_ctx *cx, ridge_profile *profile)
{
    profile->advice = ridge_new(ridge_ctx_arena(cx), ridge_profile_advice, 1);
    return profile->advice == NULL ? ridge_fail_nomem(cx) : RIDGE_OK;
}
