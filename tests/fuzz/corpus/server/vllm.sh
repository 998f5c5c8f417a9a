vllm serve llama-3-8b -tp 2 --speculative-config '{"method": "eagle3", "num_speculative_tokens": 3}' --kv-cache-dtype fp8
