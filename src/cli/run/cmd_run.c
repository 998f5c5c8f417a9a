/*
 * ridge run: a plan executed, to train a model or to continue a text.
 */
#include "run_plan.h"

static int run_run(cli_run *run)
{
    run_plan p;
    if (cli_run_plan(run, &p) != RIDGE_OK)
        return cli_fail(run);
    return cli_option_text(run, "generate") ? cli_run_generation(run, &p)
                                            : cli_run_training(run, &p);
}

static const cli_option options[] = {
    {"data", "FILE", "text to train on: a file, a folder, or token ids (.bin)"},
    {"tokenizer", "FILE",
     "tokenizer.json, a llama2.c tokenizer.bin (beside the weights), or bytes"},
    {"documents", "ID",
     "attention stays inside of documents, which end with this token (eos: the "
     "tokenizer's)"},
    {"steps", "N", "optimizer steps in all (100)"},
    {"batch", "TOKENS", "tokens of a step (the plan's; else one microbatch)"},
    {"seq", "T", "tokens of a sequence (the plan's; else 256)"},
    {"rate", "R", "peak learning rate (3e-4)"},
    {"rate-schedule", "KIND", "constant, cosine (default) or linear"},
    {"rate-least", "PART", "last rate as a part of the peak (0.1)"},
    {"warmup", "N", "steps in which the rate rises (0)"},
    {"decay", "W", "weight decay of matrices (0.1)"},
    {"clip", "NORM", "largest norm of all gradients; 0: any (1)"},
    {"seed", "N", "of new weights, of the batches, of sampling (1)"},
    {"eval-every", "N",
     "steps between evaluations on the last tenth of the data (0: none)"},
    {"eval-sequences", "N", "sequences of an evaluation (64)"},
    {"checkpoint", "DIR", "write checkpoints there; with --generate: read the newest"},
    {"checkpoint-every", "N",
     "steps between checkpoints; the last step writes one (100)"},
    {"keep", "N", "checkpoints that stay (0: all)"},
    {"resume", NULL, "go on from the newest checkpoint, on any layout"},
    {"weights", "PATH", "begin with safetensors of Hugging Face, or a llama2.c file"},
    {"trace", "FILE", "write the last step of every rank as a trace for Perfetto"},
    {"log-every", "N", "steps between lines (10)"},
    {"generate", NULL, "continue a prompt instead of training"},
    {"prompt", "TEXT", "to continue (nothing: the token that begins texts)"},
    {"tokens", "N", "most new tokens (256)"},
    {"temperature", "X", "0: the likeliest token (0)"},
    {"top-k", "K", "sample from the K likeliest tokens (0: all)"},
    {"top-p", "P", "sample from the tokens that make up P (1)"},
    {"on", "SLICE",
     "a calibrated machine (the plan's): fp32 or bf16, and how, as is quickest there"},
    {"engine", "NAME", "threads (default), mpi (default under mpirun), cuda"},
    {"threads", "N", "that compute for each rank (processors / ranks)"},
    {"timeout", "S", "seconds that a rank waits for another (60)"},
    {"schedule", "NAME",
     "of a pipeline: gpipe, 1f1b, interleaved, zb-h1, zb-h2, zb-v, "
     "dualpipe"},
    {"context-exchange", "HOW", "of cp: ring (default) or all-to-all"},
    {NULL, NULL, NULL}};

const cli_verb cli_verb_run = {
    .name = "run",
    .is_live = true,
    .summary = "a plan executed: training or generation, on threads, MPI ranks or GPUs",
    .synopsis = "PLAN|MODEL [KNOB=VALUE ...]",
    .detail =
        "PLAN is a file written by `ridge train ... --plan FILE`. With a MODEL (a "
        "name,\n"
        "a config.json or its folder, a llama2.c checkpoint) knobs say the layout: "
        "dp=\n"
        "fsdp= zero=0..3 tp= sp=0|1 cp= pp= vpp= first_layers= last_layers= ep=\n"
        "microbatch= remat= remat_layers= schedule= precision= optimizer=adamw|\n"
        "adamw-bf16|adamw-8bit|adafactor|muon|momentum|sgd; what is left out is 1, or "
        "off.\n"
        "Beside a plan, knobs change it. offload= is refused: ranks compute in the "
        "host's\n"
        "own memory.\n"
        "\n"
        "Each rank is a thread of this process, or a process of mpirun:\n"
        "  mpirun -n 8 ridge run plan.json --data text.txt\n"
        "Every layout gives the same losses, weights and text, to float tolerance, and "
        "a\n"
        "checkpoint goes on on any other layout.\n"
        "\n"
        "The report holds step time and memory against the plan's prediction.",
    .example = "ridge run examples/tiny-llama --data README.md --steps 20 tp=2",
    .options = options,
    .min_args = 1,
    .max_args = 1,
    .takes_knobs = true,
    .run = run_run,
};
