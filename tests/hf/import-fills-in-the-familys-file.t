# RUN: %fsdpc import config.json -o m.fsd && sed -n '1,/^}/p' m.fsd && %fsdpc compile -q m.fsd -o p && %fsdpc compile -q --hf config.json -o q && for f in p q; do %fsdpc dump --format=json $f | sed 's/"model":"[^"]*"//; s/"fingerprint":"[^"]*"//' >$f.json; done; cmp p.json q.json; %fsdpc dump --hf config.json -s L=1 | sed -n '1s/fingerprint [0-9a-f]*/fingerprint N/p'
# The names of `config` have the values of config.json, in either schema of rope; --hf is import and compile.
==== config.json
{"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 64, "intermediate_size": 96, "num_attention_heads": 4,
 "num_key_value_heads": null, "num_hidden_layers": 2, "vocab_size": 97, "hidden_act": "swish", "rms_norm_eps": 1e-5, "tie_word_embeddings": true,
 "rope_parameters": {"rope_type": "llama3", "rope_theta": 500000, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
 "original_max_position_embeddings": 8192}, "torch_dtype": "bfloat16", "attention_dropout": 0.1, "_name_or_path": "x", "transformers_version": "5.0"}
==== out
# Imported from a config.json of model_type "llama"
config {
  L     = 2       "transformer blocks"
  D     = 64      "model width"
  H     = 4       "query heads"
  KV    = H       "key/value heads, shared by H / KV query heads each"
  hd    = D // H  "head width"
  F     = 96      "width of the MLP"
  vocab = 97
  seq   = 2048    "tokens per sequence"
  eps   = 1e-05
  act   = "silu"
  tied  = true    "the output head is the embedding"
  attention_bias = false
  mlp_bias       = false
  theta = 500000.0 "base of rotary positions"
  scaling = "llama3"; factor = 8.0; low = 1.0; high = 4.0; original = 8192  "rope_scaling"
  fast = none; slow = none; truncate = none; grow = none  "of YaRN"
  require H % KV == 0 "num_attention_heads must be a multiple of num_key_value_heads"
}
p.json q.json differ: char 14, line 2
llama.fsd, compiled by fsdpc 0.1.0, fingerprint N
==== err
m.fsd: a model of family llama with 76,160 parameters
