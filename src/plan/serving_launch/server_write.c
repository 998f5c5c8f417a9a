/* A deployment to the text of its engine: pools in turn, under the notes of all. */
#include "server_draft.h"

typedef struct writer {
    ridge_status (*write)(server_draft *); /* one pool */
    void (*put_front)(server_draft *);     /* what hands requests to two pools on */
} writer;

static const writer writers[RIDGE_SERVING_LAUNCHER_COUNT] = {
    [RIDGE_SERVING_LAUNCHER_VLLM] = {server_vllm_write, server_vllm_put_front},
    [RIDGE_SERVING_LAUNCHER_VLLM_YAML] = {server_vllm_write, NULL},
    [RIDGE_SERVING_LAUNCHER_VLLM_TPU] = {server_vllm_write, server_vllm_put_front},
    [RIDGE_SERVING_LAUNCHER_SGLANG] = {server_sglang_write, server_sglang_put_front},
    [RIDGE_SERVING_LAUNCHER_TRTLLM] = {server_trtllm_write, server_trtllm_put_front},
    [RIDGE_SERVING_LAUNCHER_TGI] = {server_tgi_write, NULL},
    [RIDGE_SERVING_LAUNCHER_LMDEPLOY] = {server_lmdeploy_write, NULL},
    [RIDGE_SERVING_LAUNCHER_JETSTREAM] = {server_maxtext_write, NULL},
    [RIDGE_SERVING_LAUNCHER_MAXTEXT] = {server_maxtext_write, NULL},
};

static void put_heading(const ridge_deployment *d, ridge_launch_text *out)
{
    ridge_buf *b = &out->text;
    ridge_buf_printf(b, "# %s on %s, planned by ridge " RIDGE_VERSION ".\n",
                     d->model_name, d->slice == NULL ? "its chips" : d->slice->text);
    for (int i = 0; i < out->notes.n; i++)
        ridge_buf_printf(b, "# %s\n", out->notes.text[i]);
}

static void note_router(const ridge_deployment *d, server_draft *draft)
{
    if (d->choice.n_pools == 1 && d->choice.pools[0].servers > 1)
        launch_draft_note(&draft->sheet, "a router that is yours to add spreads "
                                         "requests over the servers");
}

ridge_status ridge_serving_launch_write(ridge_ctx *cx, ridge_serving_launcher launcher,
                                        const ridge_deployment *deployment,
                                        ridge_launch_text *out)
{
    ridge_launch_text body = {0};
    server_draft draft = {.sheet = {.cx = cx, .out = &body}};
    const writer *w = &writers[launcher];
    ridge_buf_init(&body.text, ridge_ctx_arena(cx));
    if (deployment->choice.n_pools > 1 && w->put_front == NULL) {
        return ridge_fail(cx, RIDGE_E_ARG,
                          "%s writes one server: plan without disaggregated pools",
                          ridge_serving_launcher_text(launcher));
    }
    for (int i = 0; i < deployment->choice.n_pools; i++) {
        RIDGE_TRY(server_draft_open(&draft, launcher, deployment, i));
        ridge_buf_puts(&body.text, i > 0 ? "\n" : "");
        RIDGE_TRY(w->write(&draft));
    }
    note_router(deployment, &draft);
    if (deployment->choice.n_pools > 1)
        w->put_front(&draft);
    ridge_buf_init(&out->text, ridge_ctx_arena(cx));
    out->notes = body.notes;
    put_heading(deployment, out);
    ridge_buf_add(&out->text, (ridge_str){ridge_buf_text(&body.text), body.text.n});
    return out->text.is_short || body.text.is_short ? ridge_fail_nomem(cx) : RIDGE_OK;
}
