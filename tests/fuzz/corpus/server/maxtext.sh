python -m MaxText.maxengine_server base.yml model_name=llama2-7b ici_tensor_parallelism=8 per_device_batch_size=3 quantize_kvcache=true
