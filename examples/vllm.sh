#!/bin/sh
# A server of four GPUs for `ridge serve --from examples/vllm.sh --on h100:4`.
vllm serve meta-llama/Llama-3.3-70B-Instruct \
  --tensor-parallel-size 4 \
  --quantization fp8 --kv-cache-dtype fp8 \
  --max-model-len 16384 --max-num-seqs 256 --max-num-batched-tokens 4096 \
  --enable-prefix-caching --port 8000
