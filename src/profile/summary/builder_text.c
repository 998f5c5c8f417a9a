/* The texts of a profile, kept in its own memory. */
#include "profile_builder.h"

const char *builder_text(profile_builder *b, const char *text)
{
    const uint32_t n = name_table_put(&b->texts, ridge_str_of(text));
    return n == NAME_NONE ? "" : name_table_get(&b->texts, n).p;
}
