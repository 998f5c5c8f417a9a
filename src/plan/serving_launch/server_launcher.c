/* The launchers of servers by name. */
#include "ridge/plan_launch_serving.h"

#include <string.h>

static const struct {
    const char *text, *engine, *what;
} launchers[] = {
#define LAUNCHER_ROW(name, text, engine, what) {text, engine, what},
    RIDGE_SERVING_LAUNCHER_LIST(LAUNCHER_ROW)
#undef LAUNCHER_ROW
};

const char *ridge_serving_launcher_text(ridge_serving_launcher launcher)
{
    return launchers[launcher].text;
}

const char *ridge_serving_launcher_what(ridge_serving_launcher launcher)
{
    return launchers[launcher].what;
}

const char *ridge_serving_launcher_engine(ridge_serving_launcher launcher)
{
    return launchers[launcher].engine;
}

ridge_status ridge_serving_launcher_parse(ridge_ctx *cx, const char *text,
                                          ridge_serving_launcher *out)
{
    const char *names[RIDGE_SERVING_LAUNCHER_COUNT];
    for (int i = 0; i < RIDGE_SERVING_LAUNCHER_COUNT; i++) {
        names[i] = launchers[i].text;
        if (strcmp(text, names[i]) == 0) {
            *out = (ridge_serving_launcher)i;
            return RIDGE_OK;
        }
    }
    return ridge_fail_name(cx, RIDGE_E_ARG, "serving engine", text, names,
                           RIDGE_SERVING_LAUNCHER_COUNT);
}
