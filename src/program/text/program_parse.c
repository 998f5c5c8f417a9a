/*
 * The notation of programs. A line is one statement; # begins a comment; blanks and
 * empty lines are free.
 *
 *     program NAME PHASE                     once, first; PHASE train, prefill or
 * decode dims NAME=SIZE[~USED] …                sizes; USED: on average, the rest is
 * padding block NAME [xREPEAT] [layer=KIND] [backward] [of=BLOCK] [carry IN -> OUT]
 *       ROLE NAME[DIM,…] DTYPE [of TENSOR]   a declaration: input, weight, state,
 * cache, or a gradient that starts at zero [NAME:] RESULT[, RESULT] = CODE INPUT[,
 * INPUT] [ATTRIBUTE …]
 *
 * RESULT is a new tensor, NAME[DIM,…] DTYPE [of TENSOR], or the name of one that is
 * there and is written in place; "of TENSOR" makes it that tensor's gradient. +=
 * instead of = adds to what is there. CODE is an operation or an elementwise function
 * of ridge/program.h. Without NAME: an operation is called as its first result (behind
 * the last dot).
 *
 * Attributes: causal, chunked, window=N, context=TOKENS, rope, sinks, far, chosen
 * (attention); kind=linear|convolution|select|pool, flops=N (scan); k=N (route,
 * dispatch, combine); over=DIM (rotary); rule=muon|adafactor (update); scale=X;
 * collective=N axes=I,J from=DIM to=DIM; part=attention|mlp|router|experts|norm; head;
 * of=BLOCK.OPERATION, which this one derives from; backward or forward where the block
 * is not.
 *
 * There is no version number yet: words are only ever added, and unknown ones are
 * refused.
 */
#include "program_reader.h"

#include <string.h>

enum { LAYER_MOST = RIDGE_LAYER_KIND_MAX - 1 };

/* ---- head of the text ------------------------------------------------------------ */

static ridge_status read_title(ridge__reader *r)
{
    ridge_str name, phase;
    ridge_phase parsed;
    if (!ridge__reader_next_line(r) ||
        !ridge_str_is(ridge__reader_word(r), "program")) {
        return ridge__reader_fail(r, r->at,
                                  "a program begins with a line program NAME PHASE");
    }
    r->at += strlen("program");
    ridge__reader_skip(r);
    RIDGE_TRY(ridge__reader_value(r, "the program's name", &name));
    ridge__reader_skip(r);
    const size_t at = r->at;
    RIDGE_TRY(ridge__reader_value(r, "a phase (train, prefill, decode)", &phase));
    const char *text = ridge_str_dup(r->b.arena, phase);
    const char *title = ridge_str_dup(r->b.arena, name);
    if (text == NULL || title == NULL)
        return ridge_fail_nomem(r->cx);
    if (ridge_phase_parse(r->cx, text, &parsed) != RIDGE_OK)
        return ridge__reader_fail(r, at, "a phase is train, prefill or decode");
    ridge__builder_open(&r->b, r->cx, title, parsed);
    return ridge__reader_check(r, at);
}

/* "C=103~102.4" */
static ridge_status read_dim(ridge__reader *r)
{
    const char *name;
    ridge_str value;
    int64_t size;
    double used = 0;
    const size_t at = r->at;
    RIDGE_TRY(ridge__reader_name(r, "the name of a dim", false, &name));
    if (!ridge__reader_take(r, '='))
        return ridge__reader_fail(r, r->at, "=SIZE is wanted here, as in T=4096");
    const size_t value_at = r->at;
    RIDGE_TRY(ridge__reader_value(r, "a size", &value));
    ridge_str rest = value;
    const ridge_str whole = ridge_str_cut(&rest, '~');
    RIDGE_TRY(ridge__reader_count(r, whole, 1, INT64_MAX, &size));
    if (rest.p != NULL) {
        RIDGE_TRY(ridge__reader_real(r, rest, &used));
        if (!(used > 0) || used > (double)size) {
            return ridge__reader_fail(r, value_at,
                                      "what is in use of a dim is more than 0 and no "
                                      "more than its size");
        }
    }
    if (ridge_program_dim_find(&r->b.p, name) >= 0)
        return ridge__reader_fail(r, at, "dim '%.40s' is listed twice", name);
    ridge__builder_dim_named(&r->b, name, size, used);
    return ridge__reader_check(r, at);
}

static ridge_status read_dims(ridge__reader *r)
{
    while (!ridge__reader_is_end(r))
        RIDGE_TRY(read_dim(r));
    return RIDGE_OK;
}

/* ---- blocks ---------------------------------------------------------------------- */

/* A block whose lines are being read: what it carries out is not known before its end.
 */
typedef struct open_block {
    bool is_open;
    size_t carry_at, line, line_start; /* place of the carried tensor's name */
    const char *carry_out;             /* or NULL */
} open_block;

static ridge_status read_block_reference(ridge__reader *r, int *out)
{
    const char *name;
    const size_t at = r->at;
    RIDGE_TRY(ridge__reader_name(r, "the name of a block", false, &name));
    for (int i = 0; i < r->b.p.n_blocks; i++) {
        if (strcmp(r->b.p.blocks[i].name, name) == 0) {
            *out = i;
            return RIDGE_OK;
        }
    }
    return ridge__reader_fail(r, at, "no block '%.40s' stands before this one", name);
}

static ridge_status read_carry(ridge__reader *r, ridge_block *block, open_block *open)
{
    const char *in;
    ridge__reader_skip(r);
    const size_t at = r->at;
    RIDGE_TRY(ridge__reader_name(r, "the tensor carried in", true, &in));
    block->carry_in = ridge__builder_tensor_find(&r->b, in);
    if (block->carry_in < 0) {
        return ridge__reader_fail(r, at, "no tensor '%.60s' stands before this block",
                                  in);
    }
    if (!ridge__reader_take(r, '-') || !ridge__reader_take(r, '>')) {
        return ridge__reader_fail(r, r->at,
                                  "-> is wanted here, as in carry x -> x_out");
    }
    ridge__reader_skip(r);
    open->carry_at = r->at;
    open->line = r->line;
    open->line_start = r->line_start;
    return ridge__reader_name(r, "the tensor carried out", true, &open->carry_out);
}

static ridge_status read_block_count(ridge__reader *r, size_t skip, int64_t least,
                                     int64_t most, int64_t *out)
{
    ridge_str value;
    r->at += skip;
    RIDGE_TRY(ridge__reader_value(r, "a whole number", &value));
    return ridge__reader_count(r, value, least, most, out);
}

static ridge_status read_block_word(ridge__reader *r, ridge_block *block,
                                    open_block *open)
{
    enum { REPEAT_MOST = 1000000 };
    const size_t at = r->at;
    const ridge_str word = ridge__reader_word(r);
    int64_t layer;
    if (word.n > 1 && word.p[0] == 'x' && word.p[1] >= '0' && word.p[1] <= '9')
        return read_block_count(r, 1, 1, REPEAT_MOST, &block->repeat);
    r->at += word.n;
    if (ridge_str_is(word, "layer") && ridge__reader_take(r, '=')) {
        RIDGE_TRY(read_block_count(r, 0, 0, LAYER_MOST, &layer));
        block->layer = (int)layer;
        return RIDGE_OK;
    }
    if (ridge_str_is(word, "of") && ridge__reader_take(r, '='))
        return read_block_reference(r, &block->forward_of);
    if (ridge_str_is(word, "carry"))
        return read_carry(r, block, open);
    if (ridge_str_is(word, "backward")) {
        block->is_backward = true;
        return RIDGE_OK;
    }
    return ridge__reader_fail(
        r, at,
        "after a block's name come xREPEAT, layer=KIND, backward, "
        "of=BLOCK, carry IN -> OUT");
}

static ridge_status read_block(ridge__reader *r, open_block *open)
{
    ridge_block block = {
        .repeat = 1, .carry_in = -1, .carry_out = -1, .layer = -1, .forward_of = -1};
    ridge__reader_skip(r);
    const size_t at = r->at;
    *open = (open_block){.is_open = true};
    RIDGE_TRY(ridge__reader_name(r, "the block's name", false, &block.name));
    for (int i = 0; i < r->b.p.n_blocks; i++) {
        if (strcmp(r->b.p.blocks[i].name, block.name) == 0)
            return ridge__reader_fail(r, at, "two blocks are called '%.40s'",
                                      block.name);
    }
    while (!ridge__reader_is_end(r))
        RIDGE_TRY(read_block_word(r, &block, open));
    if (block.repeat > 1 && block.forward_of >= 0 &&
        r->b.p.blocks[block.forward_of].repeat != block.repeat) {
        return ridge__reader_fail(r, at,
                                  "a block repeats as often as the one that it "
                                  "goes along with");
    }
    ridge__builder_block(&r->b, &block);
    return ridge__reader_check(r, at);
}

static bool are_carried_alike(const ridge_program *p, int a, int b)
{
    const ridge_tensor *x = &p->tensors[a], *y = &p->tensors[b];
    return x->n_dims == y->n_dims &&
           memcmp(x->dims, y->dims, (size_t)x->n_dims * sizeof *x->dims) == 0;
}

static ridge_status close_block(ridge__reader *r, open_block *open)
{
    if (!open->is_open || open->carry_out == NULL)
        return RIDGE_OK;
    const int b = r->b.p.n_blocks - 1;
    const int out = ridge__builder_tensor_find(&r->b, open->carry_out);
    r->line = open->line;
    r->line_start = open->line_start;
    if (out < 0 || r->b.p.tensors[out].block != b) {
        return ridge__reader_fail(r, open->carry_at,
                                  "the block makes no tensor '%.60s' to carry out",
                                  open->carry_out);
    }
    if (!are_carried_alike(&r->b.p, r->b.p.blocks[b].carry_in, out)) {
        return ridge__reader_fail(r, open->carry_at,
                                  "what is carried out has other dims than what is "
                                  "carried in");
    }
    r->b.p.blocks[b].carry_out = out;
    return RIDGE_OK;
}

/* ---- the whole ------------------------------------------------------------------- */

/* The place of a line, kept while an earlier one is looked at again. */
typedef struct line_place {
    size_t at, line, line_start;
} line_place;

static ridge_status close_and_return(ridge__reader *r, open_block *open)
{
    const line_place here = {r->at, r->line, r->line_start};
    RIDGE_TRY(close_block(r, open));
    r->at = here.at;
    r->line = here.line;
    r->line_start = here.line_start;
    return RIDGE_OK;
}

static ridge_status read_line(ridge__reader *r, open_block *open)
{
    const ridge_str word = ridge__reader_word(r);
    if (ridge_str_is(word, "block")) {
        RIDGE_TRY(close_and_return(r, open));
        r->at += word.n;
        return read_block(r, open);
    }
    if (ridge_str_is(word, "dims") && !open->is_open) {
        r->at += word.n;
        return read_dims(r);
    }
    if (!open->is_open) {
        return ridge__reader_fail(r, r->at,
                                  "a line dims NAME=SIZE … or block NAME is wanted "
                                  "here");
    }
    return ridge__reader_statement(r);
}

ridge_status ridge_program_parse(ridge_ctx *cx, ridge_str text, const char *file,
                                 const ridge_program **out)
{
    ridge__reader r = {.cx = cx, .file = file, .text = text};
    open_block open = {.is_open = false};
    r.b.arena = ridge_ctx_arena(cx);
    RIDGE_TRY(read_title(&r));
    do {
        while (!ridge__reader_is_end(&r))
            RIDGE_TRY(read_line(&r, &open));
    } while (ridge__reader_next_line(&r));
    RIDGE_TRY(close_block(&r, &open));
    return ridge__builder_finish(&r.b, out);
}
