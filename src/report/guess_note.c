#include "guess_note.h"

const char *ridge__guess_note(ridge_ctx *cx, const ridge_model *model)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    for (int i = 0; i < model->n_notes; i++) {
        if (model->guesses >> i & 1u)
            ridge_buf_printf(&b, "%s%s",
                             b.n > 0 ? "; " : "Of the model: ", model->notes[i]);
    }
    if (b.n == 0)
        return NULL;
    ridge_buf_puts(&b, ".");
    return ridge_buf_text(&b);
}

void ridge__guess_note_add(ridge_ctx *cx, const ridge_model *model,
                           ridge_sections *sections)
{
    const char *note = ridge__guess_note(cx, model);
    if (note != NULL)
        ridge__section_note(sections, note);
}
