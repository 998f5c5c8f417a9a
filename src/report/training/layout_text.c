/* The degrees of a layout in a cell of a table. */
#include "layout_text.h"

const char *ridge__layout_text(ridge_ctx *cx, const ridge_layout *l)
{
    const struct {
        const char *name;
        int64_t ways;
    } axes[] = {{"dp", l->dp}, {"fsdp", l->fsdp}, {"tp", l->tp},
                {"cp", l->cp}, {"pp", l->pp},     {"ep", l->ep}};
    ridge_buf text;
    ridge_buf_init(&text, ridge_ctx_arena(cx));
    for (size_t i = 0; i < RIDGE_COUNT_OF(axes); i++) {
        if (axes[i].ways > 1)
            ridge_buf_printf(&text, "%s%s %lld", text.n > 0 ? " " : "", axes[i].name,
                             (long long)axes[i].ways);
    }
    return text.n > 0 ? ridge_buf_text(&text) : "one chip";
}
