/* Every model of data/models: its count is the published one, its facts are complete,
 * its names are its own. */
#include "model_fixture.h"

#include "model_name.h"

#include <math.h>
#include <string.h>

enum { NAMES_MOST = 2048 };

static ridge_node read_entry(ridge_ctx *cx, const char *name)
{
    ridge_node root;
    const char *path =
        ridge_sprintf(ridge_ctx_arena(cx), "%s/models/%s.json", RIDGE_DATA_DIR, name);
    assert_ok(cx, ridge_json_read(cx, path, &root));
    return root;
}

static const ridge_library *open_library(ridge_ctx *cx)
{
    const ridge_library *library = NULL;
    assert_ok(cx, ridge_library_open(cx, NULL, &library));
    return library;
}

static double tolerance(const ridge_node *root)
{
    double rel = 0;
    ridge_json_double(ridge_json_get(root, "published_params_rel_tol"), &rel);
    return rel;
}

static int check_params(ridge_ctx *cx, const ridge_library *library, const char *name)
{
    const ridge_node root = read_entry(cx, name);
    const ridge_model *m = NULL;
    double published = 0;
    if (ridge_model_load(cx, library, name, &m) != RIDGE_OK) {
        print_error("%s: %s\n", name, ridge_ctx_message(cx));
        return 1;
    }
    if (!ridge_json_double(ridge_json_get(&root, "published_params"), &published))
        return 0;
    const double total = (double)ridge_model_params(m).total;
    if (fabs(total - published) <= tolerance(&root) * published)
        return 0;
    print_error("%s: counted %.0f, published %.0f, off by %.3g\n", name, total,
                published, total / published - 1);
    return 1;
}

static void counts_are_the_published_ones(void **state)
{
    const ridge_library *library = open_library(*state);
    int wrong = 0;
    for (size_t i = 0; i < ridge_library_count(library); i++)
        wrong += check_params(*state, library, ridge_library_name(library, i));
    assert_int_equal(wrong, 0);
    assert_true(ridge_library_count(library) >= 45);
}

static void facts_are_complete(void **state)
{
    const ridge_library *library = open_library(*state);
    for (size_t i = 0; i < ridge_library_count(library); i++) {
        const char *file = ridge_library_name(library, i), *name, *source, *date;
        const ridge_node root = read_entry(*state, file);
        assert_ok(*state,
                  ridge_json_want_text(*state, ridge_json_get(&root, "name"), &name));
        assert_ok(*state, ridge_json_want_text(*state, ridge_json_get(&root, "source"),
                                               &source));
        assert_ok(*state,
                  ridge_json_want_text(*state, ridge_json_get(&root, "date"), &date));
        assert_string_equal(name, file);
        assert_true(strlen(date) == 7 && date[4] == '-');
        assert_true(ridge_json_size(ridge_json_get(&root, "config")) > 0 ||
                    !ridge_json_is_absent(ridge_json_get(&root, "base")));
    }
}

static bool is_same_name(const char *a, const char *b)
{
    return ridge__model_name_equal(ridge__model_name_bare(ridge_str_of(a)),
                                   ridge__model_name_bare(ridge_str_of(b)));
}

typedef struct owned_name {
    const char *name;
    size_t owner;
} owned_name;

/* Append a model's name and aliases. @return how many names there are then */
static size_t add_names(ridge_ctx *cx, const char *name, size_t owner,
                        owned_name *names, size_t n)
{
    const ridge_node root = read_entry(cx, name);
    const ridge_node aliases = ridge_json_get(&root, "aliases");
    names[n++] = (owned_name){name, owner};
    for (size_t k = 0; k < ridge_json_size(aliases); k++) {
        assert_true(n < NAMES_MOST);
        names[n].owner = owner;
        assert_ok(
            cx, ridge_json_want_text(cx, ridge_json_at(&aliases, k), &names[n++].name));
    }
    return n;
}

static void no_two_models_share_a_name(void **state)
{
    const ridge_library *library = open_library(*state);
    owned_name names[NAMES_MOST];
    size_t n = 0;
    for (size_t i = 0; i < ridge_library_count(library); i++)
        n = add_names(*state, ridge_library_name(library, i), i, names, n);
    for (size_t i = 0; i < n; i++) {
        for (size_t k = i + 1; k < n; k++) {
            if (names[i].owner == names[k].owner ||
                !is_same_name(names[i].name, names[k].name))
                continue;
            print_error("%s and %s are one name\n", names[i].name, names[k].name);
            fail();
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_the_published_ones),
        cmocka_unit_test(facts_are_complete),
        cmocka_unit_test(no_two_models_share_a_name),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
