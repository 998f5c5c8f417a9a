/* Which quantities of a service can be explained, and the frame of their derivations.
 */
#include "reason.h"
#include "service_story.h"

#include "ridge/plan_service_reasons.h"

#include <string.h>

typedef struct explained {
    const char *name;
    void (*tell)(service_story *s, int depth);
} explained;

static const explained quantities[] = {
    {"ttft", service_story_ttft},     {"tpot", service_story_tpot},
    {"e2e", service_story_e2e},       {"throughput", service_story_throughput},
    {"usd", service_story_usd},       {"blocks", service_story_blocks},
    {"memory", service_story_memory}, {"batch", service_story_batch},
};

/* clang-format off */
#define PART_NAME(name, key) key,
static const char *const names[] = {"ttft", "tpot", "e2e", "throughput", "usd", "blocks",
                                    "memory", "batch",
                                    RIDGE_SERVING_PART_LIST(PART_NAME) NULL};
#undef PART_NAME
/* clang-format on */
_Static_assert(RIDGE_COUNT_OF(names) ==
                   RIDGE_COUNT_OF(quantities) + RIDGE_SERVING_PART_COUNT + 1,
               "one name per quantity");

const char *const *ridge_service_quantities(void)
{
    return names;
}

static const char *or_empty(const char *z)
{
    return z == NULL ? "" : z;
}

static ridge_status fail_quantity(ridge_ctx *cx, const char *quantity)
{
    const char *hint = ridge_suggestion(ridge_ctx_scratch(cx), quantity, names,
                                        RIDGE_COUNT_OF(names) - 1);
    return ridge_fail(cx, RIDGE_E_NOTFOUND,
                      "unknown quantity '%.40s'%s%s: try ttft, tpot, e2e, throughput, "
                      "usd, blocks, memory, batch or a part of an iteration",
                      quantity, hint == NULL || hint[0] == '\0' ? "" : ": ",
                      or_empty(hint));
}

ridge_status ridge_service_explain(ridge_ctx *cx, const ridge_service_request *request,
                                   const ridge_service_price *price,
                                   const char *quantity, ridge_explanation *out)
{
    service_story s = {.cx = cx, .request = request, .price = price, .out = out};
    *out = (ridge_explanation){0};
    for (size_t i = 0; i < RIDGE_COUNT_OF(quantities); i++) {
        if (strcmp(quantities[i].name, quantity) == 0) {
            quantities[i].tell(&s, 0);
            return RIDGE_OK;
        }
    }
    for (int i = 0; i < RIDGE_SERVING_PART_COUNT; i++) {
        if (strcmp(ridge_serving_part_text((ridge_serving_part)i), quantity) == 0) {
            service_story_part(&s, 0, i);
            return RIDGE_OK;
        }
    }
    return fail_quantity(cx, quantity);
}
