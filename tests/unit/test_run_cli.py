#!/usr/bin/env python3
"""ridge run from the outside: layouts, MPI, resuming, a killed run, traces, text.

    test_run_cli.py --ridge PROGRAM [--mpirun PATH]
"""
import argparse
import json
import os
import pathlib
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONFIG = str(ROOT / "examples/tiny-llama")
SIZES = ["--batch", "1024", "--seq", "64", "--rate", "3e-3", "--seed", "5", "--threads", "1"]
RIDGE = None
MPIRUN = None
ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
           OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_btl="self,vader,tcp",
           OMPI_MCA_btl_tcp_if_include="lo", OMPI_MCA_oob_tcp_if_include="lo")


SMALL = {"hidden_size": 32, "num_attention_heads": 4, "num_key_value_heads": 4,
         "num_hidden_layers": 4, "intermediate_size": 48, "vocab_size": 256,
         "tie_word_embeddings": False, "max_position_embeddings": 256}
RECURRENT = [
    dict(SMALL, model_type="qwen3_5_text", head_dim=8, linear_num_key_heads=2,
         linear_num_value_heads=4, linear_key_head_dim=8, linear_value_head_dim=8,
         linear_conv_kernel_dim=4, layer_types=["linear_attention", "full_attention"] * 2),
    dict(SMALL, model_type="nemotron_h", hybrid_override_pattern="M-*M", mamba_num_heads=4,
         mamba_head_dim=8, n_groups=2, ssm_state_size=8, conv_kernel=4, attention_head_dim=8),
    dict(SMALL, model_type="lfm2", full_attn_idxs=[1, 3], conv_L_cache=3,
         block_auto_adjust_ff_dim=False)]


def ridge(*args, prefix=(), env=None, timeout=100):
    env = env or ENV
    if prefix:  # Open MPI's own leaks
        env = dict(env, ASAN_OPTIONS="detect_leaks=0")
    return subprocess.run([*prefix, RIDGE, *args], capture_output=True, text=True,
                          timeout=timeout, env=env, cwd=ROOT)


class Run(unittest.TestCase):
    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="ridge-run-"))
        self.text = self.dir / "text.txt"
        source = (ROOT / "README.md").read_text() + (ROOT / "docs/design/sharding.md").read_text()
        self.text.write_text(source)

    def tearDown(self):
        shutil.rmtree(self.dir, ignore_errors=True)

    def train(self, *args, **more):
        done = ridge("run", CONFIG, "--data", str(self.text), "--json", *SIZES, *args, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def losses(self, answer):
        return [step["loss"] for step in answer["steps"]]

    def assert_same(self, got, want):
        self.assertEqual(len(got), len(want))
        for a, b in zip(got, want):
            self.assertLess(abs(a - b), 1e-5 * b, f"{got} is not {want}")

    def test_layouts_agree_and_learn(self):
        one = self.train("--steps", "6", "microbatch=16")
        self.assertLess(self.losses(one)[-1], self.losses(one)[0] - 0.3)
        four = self.train("--steps", "6", "microbatch=4", "tp=2", "pp=2")
        self.assert_same(self.losses(four), self.losses(one))
        self.assertEqual(len(four["measured"]["peak_memory_bytes"]), 4)
        self.assertGreater(one["measured"]["peak_memory_bytes"][0],
                           one["measured"]["weight_bytes"][0])

    def test_a_full_disk_and_cut_checkpoints(self):
        ck = self.dir / "ck"
        self.train("--steps", "2", "--checkpoint", str(ck), "--checkpoint-every", "1")
        done = ridge("run", CONFIG, "--data", str(self.text), *SIZES, "--steps", "3",
                     "--checkpoint", str(ck), "--resume",
                     prefix=("bash", "-c", 'ulimit -f 100; exec "$@"', "limited"))
        self.assertEqual(done.returncode, 2)
        self.assertIn("is the disk full?", done.stderr)
        self.assertEqual(sorted(p.name for p in ck.iterdir()), ["step-000001", "step-000002"])
        for step, told in ((2, "going on from step 1 instead"),
                           (1, "no checkpoint there is whole")):
            os.truncate(ck / f"step-{step:06}" / "rank-00000.safetensors", 1000)
            done = ridge("run", CONFIG, "--data", str(self.text), *SIZES, "--steps", "2",
                         "--checkpoint", str(ck), "--checkpoint-every", "9",
                         "--resume", "--eval-every", "0")
            self.assertIn(told, done.stderr)
            self.assertEqual(done.returncode, 0 if step == 2 else 2)
            shutil.rmtree(ck / "step-000002", ignore_errors=True)

    def test_recurrent_models_on_layouts(self):
        for model in RECURRENT:
            config = self.dir / "config.json"
            config.write_text(json.dumps(model))
            texts = []
            for layout in ((), ("tp=2",), ("pp=2", "tp=2")):
                ck = self.dir / "-".join((model["model_type"], *layout))
                done = ridge("run", str(config), "--data", str(self.text), *SIZES, "--steps",
                             "4", "precision=fp32", "--checkpoint", str(ck), *layout)
                self.assertEqual(done.returncode, 0, done.stderr)
                done = ridge("run", str(config), "--generate", "--checkpoint", str(ck),
                             "--tokenizer", "bytes", "--prompt", "The sum", "--tokens", "12",
                             "precision=fp32", *layout)
                self.assertEqual(done.returncode, 0, done.stderr)
                texts.append(done.stdout)
            self.assertEqual(texts, texts[:1] * 3)

    def test_resumed_on_another_mesh(self):
        ck = str(self.dir / "ck")
        whole = self.train("--steps", "6", "microbatch=16")
        self.train("--steps", "6", "--checkpoint", str(self.dir / "all"),
                   "--checkpoint-every", "3", "fsdp=2", "zero=3", "microbatch=8")
        shutil.copytree(self.dir / "all/step-000003", pathlib.Path(ck) / "step-000003")
        rest = self.train("--steps", "6", "--checkpoint", ck, "--resume", "tp=2", "pp=2",
                          "microbatch=8")
        self.assertEqual(rest["steps"][0]["step"], 4)
        self.assert_same(self.losses(rest), self.losses(whole)[3:])

    def test_killed_run_leaves_a_whole_checkpoint(self):
        ck = self.dir / "ck"
        child = subprocess.Popen([RIDGE, "run", CONFIG, "--data", str(self.text), *SIZES,
                                  "--steps", "100000", "--checkpoint", str(ck),
                                  "--checkpoint-every", "1", "--keep", "3", "tp=2",
                                  "microbatch=16"], cwd=ROOT, env=ENV,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and len(list(ck.glob("step-*"))) < 2:
            time.sleep(0.05)
        child.send_signal(signal.SIGKILL)
        child.wait()
        steps = sorted(ck.glob("step-*"))
        self.assertGreaterEqual(len(steps), 1)
        last = int(steps[-1].name[len("step-"):])
        done = self.train("--steps", str(last + 2), "--checkpoint", str(ck), "--resume",
                          "microbatch=16")
        self.assertEqual(done["steps"][0]["step"], last + 1)

    def test_text_is_the_same_on_every_layout(self):
        ck = str(self.dir / "ck")
        self.train("--steps", "4", "--checkpoint", ck, "microbatch=16")
        texts = []
        for layout in ([], ["tp=2"], ["tp=4"], ["pp=2"], ["dp=2"], ["tp=2", "pp=2"]):
            done = ridge("run", CONFIG, "--generate", "--checkpoint", ck, "--prompt", "The ",
                         "--tokens", "24", "--json", "--threads", "1", *layout)
            self.assertEqual(done.returncode, 0, done.stderr)
            texts.append(json.loads(done.stdout)["tokens"])
        self.assertEqual(len(texts[0]), 24)
        for text in texts[1:]:
            self.assertEqual(text, texts[0])

    def test_trace_has_the_predicted_names(self):
        trace = self.dir / "trace.json"
        self.train("--steps", "2", "--trace", str(trace), "tp=2", "microbatch=16")
        events = json.loads(trace.read_text())["traceEvents"]
        names = {e["name"] for e in events if e["ph"] == "X"}
        predicted = self.dir / "predicted.json"
        done = ridge("train", CONFIG, "--on", "v5e:2x1", "--batch", "1024", "--seq", "64",
                     "tp=2", "dp=1", "fsdp=1", "cp=1", "microbatch=16", "sp=0", "remat=none",
                     "precision=fp32", "--operations", str(predicted))
        self.assertEqual(done.returncode, 0, done.stderr)
        wanted = {e["name"] for e in json.loads(predicted.read_text())["traceEvents"]
                  if e["ph"] == "X"}
        self.assertEqual({e["pid"] for e in events}, {0, 1})
        self.assertGreater(len(wanted), 40)
        # what the prediction fuses into its neighbour still runs by itself
        self.assertEqual(wanted - names, set())

    def test_plan_is_run_and_held_against_it(self):
        plan = self.dir / "plan.json"
        done = ridge("train", CONFIG, "--on", "h100:1x2", "--batch", "1024", "--seq", "64",
                     "dp=2", "fsdp=1", "tp=1", "cp=1", "pp=1", "microbatch=8", "remat=none",
                     "precision=fp32", "--plan", str(plan))
        self.assertEqual(done.returncode, 0, done.stderr)
        done = ridge("run", str(plan), "--data", str(self.text), "--json", "--steps", "2",
                     "--threads", "1")
        self.assertEqual(done.returncode, 0, done.stderr)
        answer = json.loads(done.stdout)
        self.assertEqual(answer["ranks"], 2)
        self.assertGreater(answer["predicted"]["peak_memory_bytes"], 0)
        ratio = max(answer["measured"]["peak_memory_bytes"]) / answer["predicted"]["peak_memory_bytes"]
        self.assertTrue(0.3 < ratio < 3, ratio)

    def test_bad_input_is_told(self):
        bad = [
            (["--data", str(self.dir / "none")], "no such file"),
            (["--data", str(self.text), "--seq", "9000000"], "shorter sequence"),
            (["--data", str(self.text), "pp=9"], "a layer for each stage"),
            (["--data", str(self.text), "--resume"], "--checkpoint"),
            (["--data", str(self.text), "--engine", "threds"], "threads"),
            (["--generate"], "weights"),
            (["--generate", "--checkpoint", str(self.dir)], "checkpoint"),
            (["--data", str(self.text), "precision=fp8"], "fp8"),
            (["--data", str(self.text), "microbatch=3", "cp=3", "--seq", "64"], "divide"),
        ]
        for args, word in bad:
            done = ridge("run", CONFIG, *args)
            self.assertEqual(done.returncode, 2, args)
            self.assertIn(word, done.stderr, args)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_published_weights_want_a_tokenizer(self):
        dim, hidden, layers, heads, words, length = 8, 16, 1, 2, 300, 16
        floats = words * dim + layers * (2 * dim + 4 * dim * dim + 3 * dim * hidden) + dim
        floats += length * (dim // heads)
        weights = self.dir / "words.bin"
        head = struct.pack("7i", dim, hidden, layers, heads, heads, words, length)
        weights.write_bytes(head + struct.pack("f", 0.5) * floats)
        done = ridge("run", str(weights), "--generate")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("has 300 words and no tokenizer beside it", done.stderr)
        done = ridge("run", str(weights), "--generate", "--tokenizer", "bytes", "--tokens", "2")
        self.assertEqual(done.returncode, 0, done.stderr)
        names = [b"<unk>", b"<s>", b"</s>"] + [b"<0x%02X>" % i for i in range(256)]
        names += [b"w%d" % i for i in range(words - len(names))]
        tokens = b"".join(struct.pack("fi", 0, len(n)) + n for n in names)
        (self.dir / "tok300.bin").write_bytes(struct.pack("i", 8) + tokens)
        done = ridge("run", str(weights), "--generate", "--tokens", "2")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_mpi_ranks_agree_with_threads(self):
        if not MPIRUN:
            self.skipTest("no mpirun, or built without MPI")
        want = self.train("--steps", "3", "microbatch=16")
        for ranks, layout in ((2, ["tp=2", "microbatch=16"]),
                              (4, ["fsdp=2", "zero=3", "pp=2", "microbatch=4"])):
            got = self.train("--steps", "3", *layout,
                             prefix=[MPIRUN, "-n", str(ranks)], timeout=110)
            self.assertEqual(got["engine"], "mpi")
            self.assert_same(self.losses(got), self.losses(want))
        done = ridge("run", CONFIG, "--data", str(self.text), *SIZES, "tp=4",
                     prefix=[MPIRUN, "-n", "2"])
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("4 ranks", done.stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--ridge", required=True)
    parser.add_argument("--mpirun")
    parsed, rest = parser.parse_known_args()
    RIDGE, MPIRUN = parsed.ridge, parsed.mpirun
    unittest.main(argv=[sys.argv[0], *rest])
