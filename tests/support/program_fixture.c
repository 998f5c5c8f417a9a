#include "program_fixture.h"

#include <string.h>

const ridge_program *fixture_lower(ridge_ctx *cx, const ridge_model *model,
                                   ridge_phase phase, int64_t sequences, int64_t tokens)
{
    const ridge_lowering how = {.phase = phase,
                                .sequences = sequences,
                                .query_tokens =
                                    phase == RIDGE_PHASE_DECODE ? 1 : tokens,
                                .context_tokens = tokens,
                                .weight = RIDGE_DTYPE_BF16,
                                .activation = RIDGE_DTYPE_BF16,
                                .cache = RIDGE_DTYPE_BF16};
    const ridge_program *program = NULL;
    assert_ok(cx, ridge_program_lower(cx, model, &how, &program));
    return program;
}

const ridge_program *fixture_parse(ridge_ctx *cx, const char *text)
{
    const ridge_program *program = NULL;
    assert_ok(cx, ridge_program_parse(cx, ridge_str_of(text), "text", &program));
    return program;
}

const char *fixture_text(ridge_ctx *cx, const ridge_program *program)
{
    ridge_buf out;
    ridge_buf_init(&out, ridge_ctx_arena(cx));
    ridge_program_write(program, &out);
    assert_false(out.is_short);
    return ridge_buf_text(&out);
}

void fixture_assert_holds(ridge_ctx *cx, const ridge_program *program, const char *part,
                          const char *file, int line)
{
    const char *text = fixture_text(cx, program);
    if (strstr(text, part) != NULL)
        return;
    print_error("no \"%s\" in:\n%s\n", part, text);
    _fail(file, line);
}

const ridge_operation *fixture_op(const ridge_program *program, const char *name)
{
    const char *dot = strchr(name, '.');
    assert_non_null(dot);
    for (int b = 0; b < program->n_blocks; b++) {
        const ridge_block *block = &program->blocks[b];
        if (strlen(block->name) != (size_t)(dot - name) ||
            strncmp(block->name, name, (size_t)(dot - name)) != 0)
            continue;
        for (int i = 0; i < block->n_ops; i++) {
            if (strcmp(program->ops[block->first_op + i].name, dot + 1) == 0)
                return &program->ops[block->first_op + i];
        }
    }
    print_error("no operation %s\n", name);
    fail();
    return NULL;
}

double fixture_bytes(const ridge_program *program, ridge_role role)
{
    double bytes = 0;
    for (int i = 0; i < program->n_tensors; i++) {
        const ridge_tensor *t = &program->tensors[i];
        if (t->role == role) {
            bytes += ridge_tensor_elements(program, t) * ridge_dtype_bytes(t->dtype) *
                     (double)program->blocks[t->block].repeat;
        }
    }
    return bytes;
}
