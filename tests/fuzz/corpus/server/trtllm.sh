replicas=2
cat > serve.yaml <<EOF
tensor_parallel_size: 8
enable_attention_dp: true
speculative_config:
  decoding_type: MTP
  num_nextn_predict_layers: 3
EOF
trtllm-serve deepseek-v3 --config serve.yaml &
