/* Options as other tools call them, and what to write here instead. */
#include "args.h"

#include <string.h>

typedef struct foreign_word {
    const char *words; /* each between spaces */
    const char *verbs; /* the same; NULL: every verb */
    const char *here;
} foreign_word;

static const foreign_word foreign_words[] = {
    {" ttft ", " serve simulate ", "--slo ttft=500ms"},
    {" tpot itl ", " serve simulate ", "--slo tpot=30ms"},
    {" e2e latency ", " serve simulate ", "--slo e2e=20s"},
    {" isl input-len input-length prompt-len prompt-length random-input-len input ",
     " serve simulate ", "--prompt 1024"},
    {" osl output-len output-length random-output-len max-tokens ", " serve simulate ",
     "--output 256"},
    {" request-rate qps rps ", " serve simulate ", "--rate 4"},
    {" num-prompts num-requests ", " simulate ", "--count 10000"},
    {" max-concurrency clients users ", " simulate ", "--concurrency 64"},
    {" max-num-seqs batch-size batch ", " serve ", "the knob batch=64"},
    {" max-num-batched-tokens chunk chunked-prefill-size ", " serve ",
     "the knob budget=8192"},
    {" global-batch-size gbs batch-size ", " train ",
     "--batch 4Mi, in tokens of a step"},
    {" micro-batch-size mbs per-device-batch-size ", " train run ",
     "the knob microbatch=2, in sequences"},
    {" seq-length seq-len sequence-length max-seq-len max-seq-length context-length "
     "max-target-length ",
     " train model run ", "--seq 4096"},
    {" train-tokens total-tokens ", " train size ", "--tokens 15T"},
    {" days ", " train ", "--deadline 30d"},
    {" lr learning-rate ", " run ", "--rate 3e-4"},
    {" iters train-iters max-steps ", " run simulate ", "--steps 100"},
    {" dataset ", " run ", "--data FILE"},
    {" tp tensor-parallel-size tensor-model-parallel-size ",
     " train serve run simulate ", "the knob tp=8"},
    {" pp pipeline-parallel-size pipeline-model-parallel-size ",
     " train serve run simulate ", "the knob pp=4"},
    {" dp data-parallel-size ", " train serve run simulate ", "the knob dp=2"},
    {" ep expert-parallel-size expert-model-parallel-size ",
     " train serve run simulate ", "the knob ep=8"},
    {" cp context-parallel-size ", " train run ", "the knob cp=2"},
    {" fsdp ", " train run ", "the knob fsdp=64"},
    {" zero zero-stage ", " train run ", "the knob zero=3"},
    {" vpp virtual-pipeline-model-parallel-size ", " train run ", "the knob vpp=2"},
    {" remat recompute-granularity ", " train run ", "the knob remat=full"},
    {" microbatch schedule optimizer offload sp ", " train ", "a knob, without dashes"},
    {" quantization quant dtype ", " serve ", "the knobs weights=fp8 cache=fp8"},
    {" gpu gpus num-gpus nodes chips device devices hardware cluster slice topology "
     "accelerator tpu tpu-type system ",
     " train serve simulate roofline collective shard hlo profile run ",
     "--on h100:8x8, chip and shape"},
    {" model ", NULL, "the model without an option"},
};

/* A word of a list, '_' like '-'. */
static bool holds(const char *words, ridge_str word)
{
    for (const char *at = words + 1; *at != '\0';) {
        const size_t n = strcspn(at, " ");
        size_t same = 0;
        while (same < n && n == word.n &&
               (word.p[same] == '_' ? '-' : word.p[same]) == at[same])
            same++;
        if (n == word.n && same == n)
            return true;
        at += n + 1;
    }
    return false;
}

const char *cli_foreign_word(const cli_verb *verb, ridge_str option)
{
    for (size_t i = 0; i < RIDGE_COUNT_OF(foreign_words); i++) {
        const foreign_word *f = &foreign_words[i];
        if (holds(f->words, option) &&
            (f->verbs == NULL || holds(f->verbs, ridge_str_of(verb->name))))
            return f->here;
    }
    return NULL;
}

const char *cli_foreign_verb(ridge_str verb)
{
    static const foreign_word verbs[] = {
        {" plan search predict estimate cost ", NULL, "train or ridge serve"},
        {" pretrain finetune fine-tune sft training ", NULL, "train"},
        {" inference infer deploy serving decode generate ", NULL, "serve"},
        {" bench benchmark measure ", NULL, "calibrate"},
        {" trace analyse analyze ", NULL, "profile"},
        {" hardware gpus tpus devices ", NULL, "chips"},
        {" params memory flops models ", NULL, "model"},
        {" web gui server ", NULL, "ui"},
    };
    for (size_t i = 0; i < RIDGE_COUNT_OF(verbs); i++) {
        if (holds(verbs[i].words, verb))
            return verbs[i].here;
    }
    return NULL;
}
