/* The paged cache of a rank: what is free, what is found again, what goes first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "page_cache.h"

enum { PAGE = 16 };

static ridge_request prompt_of(const uint64_t *hashes, int n)
{
    return (ridge_request){.prompt_tokens = n * PAGE + 1,
                           .output_tokens = 1,
                           .hash_tokens = PAGE,
                           .n_hashes = n,
                           .hashes = hashes};
}

static void open_pages(ridge_ctx *cx, page_cache *p, int64_t blocks, bool keeps_order)
{
    ridge__pages_open(cx, blocks, PAGE, p);
    p->is_on = true;
    p->keeps_order = keeps_order;
    assert_int_equal(ridge__pages_prepare(p, PAGE), RIDGE_OK);
}

/* Blocks for a prompt, named, then given back, its last piece first. */
static void pass_through(page_cache *p, const ridge_request *r, int64_t pieces)
{
    ridge__pages_take(p, pieces);
    for (int64_t i = 0; i < pieces; i++)
        assert_true(ridge__pages_name(p, ridge__pages_hash(p, r, i)));
    for (int64_t i = pieces - 1; i >= 0; i--)
        ridge__pages_release(p, ridge__pages_hash(p, r, i));
}

static void what_was_given_back_is_found_again(void **state)
{
    ridge_ctx *cx = ridge_ctx_open();
    const uint64_t a[] = {1, 2, 3}, b[] = {1, 2, 9};
    const ridge_request first = prompt_of(a, 3), second = prompt_of(b, 3);
    page_cache p;
    (void)state;
    open_pages(cx, &p, 10, true);
    pass_through(&p, &first, 3);
    assert_int_equal(p.free, 10);
    const page_match m = ridge__pages_match(&p, &second, 3);
    assert_int_equal(m.pieces, 2);
    assert_int_equal(m.idle_pieces, 2);
    assert_true(ridge__pages_hold(&p, ridge__pages_hash(&p, &second, 0)));
    assert_int_equal(p.free, 9);
    assert_int_equal(ridge__pages_match(&p, &second, 3).idle_pieces, 1);
    assert_true(ridge__pages_hold(&p, ridge__pages_hash(&p, &second, 0)));
    assert_int_equal(p.free, 9);
    ridge_ctx_close(cx);
}

static void the_oldest_piece_goes_first(void **state)
{
    ridge_ctx *cx = ridge_ctx_open();
    const uint64_t a[] = {1, 2, 3}, b[] = {4, 5, 6};
    const ridge_request first = prompt_of(a, 3), second = prompt_of(b, 3);
    page_cache p;
    (void)state;
    open_pages(cx, &p, 8, true);
    pass_through(&p, &first, 3);
    pass_through(&p, &second, 3);
    ridge__pages_take(&p, 3); /* two that were never used, and the end of the first */
    assert_int_equal(ridge__pages_match(&p, &first, 3).pieces, 2);
    assert_int_equal(ridge__pages_match(&p, &second, 3).pieces, 3);
    ridge__pages_take(&p, 3);
    assert_int_equal(ridge__pages_match(&p, &first, 3).pieces, 0);
    assert_int_equal(ridge__pages_match(&p, &second, 3).pieces, 2);
    assert_int_equal(p.free, 2);
    ridge_ctx_close(cx);
}

/* vLLM takes blocks in the order in which they were freed; others keep what is cached
 * as long as anything else is free. */
static void freed_blocks_wait_behind_cached_ones_where_order_is_kept(void **state)
{
    const uint64_t a[] = {1, 2};
    const ridge_request r = prompt_of(a, 2);
    (void)state;
    for (int keeps = 0; keeps < 2; keeps++) {
        ridge_ctx *cx = ridge_ctx_open();
        page_cache p;
        open_pages(cx, &p, 4, keeps == 1);
        ridge__pages_take(&p, 2);
        pass_through(&p, &r, 2);
        ridge__pages_give(&p, 2);
        ridge__pages_take(&p, 2);
        assert_int_equal(ridge__pages_match(&p, &r, 2).pieces, keeps == 1 ? 0 : 2);
        ridge_ctx_close(cx);
    }
}

static void a_second_tier_keeps_what_the_first_lets_go(void **state)
{
    ridge_ctx *cx = ridge_ctx_open();
    const uint64_t a[] = {1, 2, 3};
    const ridge_request r = prompt_of(a, 3);
    page_cache p;
    (void)state;
    open_pages(cx, &p, 3, true);
    p.host_pieces = 2;
    pass_through(&p, &r, 3);
    ridge__pages_take(&p,
                      3); /* all three go, the third first: it leaves the host too */
    assert_int_equal(p.free, 0);
    ridge__pages_give(&p, 3);
    const page_match m = ridge__pages_match(&p, &r, 3);
    assert_int_equal(m.pieces, 0);
    assert_int_equal(m.host_pieces, 2);
    assert_true(ridge__pages_hold(&p, ridge__pages_hash(&p, &r, 0)));
    assert_int_equal(p.free, 2);
    assert_int_equal(ridge__pages_match(&p, &r, 3).pieces, 1);
    assert_false(ridge__pages_hold(&p, ridge__pages_hash(&p, &r, 2)));
    ridge_ctx_close(cx);
}

static void a_piece_may_be_several_blocks(void **state)
{
    ridge_ctx *cx = ridge_ctx_open();
    const uint64_t a[] = {7, 8};
    ridge_request r = prompt_of(a, 2);
    page_cache p;
    (void)state;
    r.hash_tokens = 512;
    r.prompt_tokens = 1100;
    ridge__pages_open(cx, 100, PAGE, &p);
    p.is_on = true;
    assert_int_equal(ridge__pages_prepare(&p, 512), RIDGE_OK);
    assert_int_equal(p.piece_blocks, 32);
    ridge__pages_take(&p, 69);
    assert_true(ridge__pages_name(&p, ridge__pages_hash(&p, &r, 0)));
    assert_false(ridge__pages_name(&p, ridge__pages_hash(&p, &r, 0)));
    ridge__pages_release(&p, ridge__pages_hash(&p, &r, 0));
    assert_int_equal(p.free, 31 + 32);
    ridge_ctx_close(cx);
}

/* Thousands of names in and out: the table finds each that is there, and no other. */
static void names_are_found_while_others_come_and_go(void **state)
{
    enum { NAMES = 3000 };
    ridge_ctx *cx = ridge_ctx_open();
    page_cache p;
    (void)state;
    open_pages(cx, &p, 200, true);
    for (uint64_t i = 1; i <= NAMES; i++) {
        const ridge_request r = prompt_of(&i, 1);
        pass_through(&p, &r, 1);
        const uint64_t old = i > 200 ? i - 200 : 1, gone = i > 201 ? i - 201 : 0;
        const ridge_request kept = prompt_of(&old, 1), lost = prompt_of(&gone, 1);
        assert_int_equal(ridge__pages_match(&p, &kept, 1).pieces, i > 200 ? 0 : 1);
        assert_int_equal(ridge__pages_match(&p, &lost, 1).pieces, 0);
        assert_int_equal(ridge__pages_match(&p, &r, 1).pieces, 1);
        assert_int_equal(p.free, 200);
    }
    ridge_ctx_close(cx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_given_back_is_found_again),
        cmocka_unit_test(the_oldest_piece_goes_first),
        cmocka_unit_test(freed_blocks_wait_behind_cached_ones_where_order_is_kept),
        cmocka_unit_test(a_second_tier_keeps_what_the_first_lets_go),
        cmocka_unit_test(a_piece_may_be_several_blocks),
        cmocka_unit_test(names_are_found_while_others_come_and_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
