# RUN: ulimit -t 1; %fsdpc import config.json -o m.fsd && %fsdpc compile --hf config.json -n 512 -s train.batch=512 -o p.bin 2>&1 | sed -n 1p
# Importing the config of Llama 3.1 405B, and compiling it, takes less than a second of CPU time each.
# NEEDS: sanitizer:none
==== config.json
{"architectures": ["LlamaForCausalLM"], "attention_bias": false, "attention_dropout": 0.0, "bos_token_id": 128000, "eos_token_id": 128001,
 "hidden_act": "silu", "hidden_size": 16384, "initializer_range": 0.02, "intermediate_size": 53248, "max_position_embeddings": 131072,
 "mlp_bias": false, "model_type": "llama", "num_attention_heads": 128, "num_hidden_layers": 126, "num_key_value_heads": 8,
 "pretraining_tp": 1, "rms_norm_eps": 1e-05, "rope_scaling": {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
 "original_max_position_embeddings": 8192, "rope_type": "llama3"}, "rope_theta": 500000.0, "tie_word_embeddings": false,
 "torch_dtype": "bfloat16", "use_cache": true, "vocab_size": 128256}
==== out
llama.fsd: 405,853,388,800 parameters, 512 ranks, 127 units
==== err
m.fsd: a model of family llama with 405,853,388,800 parameters
