# RUN: i=0; while IFS= read -r line; do echo "$line" >config.json; rm -f m.fsd; %fsdpc import config.json -o m.fsd; echo "$?: $line" | cut -c1-110; ls m.fsd 2>/dev/null || true; done <cases 2>&1
# RUN: base='"model_type": "llama", "hidden_size": 64, "intermediate_size": 96, "num_attention_heads": 4, "num_hidden_layers": 2, "vocab_size": 97'; while IFS= read -r line; do echo "{$base, $line}" >config.json; %fsdpc import config.json -o m.fsd; echo "$?: $line"; ls m.fsd 2>/dev/null && rm m.fsd || true; done <keys 2>&1
# RUN: %fsdpc import missing/ -o m.fsd; echo $?; %fsdpc import config.json; echo $?; %fsdpc compile --hf a b -o p; echo $?; %fsdpc import config.json -o no/m.fsd; echo $?
# Each mistake in a config.json is named with file, key and remedy, and nothing is written.
==== cases
{"model_type": "llama", "hidden_size": 
[1, 2]
{"model_type": "llama", "model_type": "llama"}
{"hidden_size": 64}
{"model_type": "lama"}
{"model_type": 7}
{"model_type": "llama"}
{"model_type": "own", "auto_map": {"AutoModel": "modeling.Own"}}
==== keys
"hidden_size": "64"
"rms_norm_eps": "small"
"rms_norm_eps": null
"attention_bias": 1
"num_key_value_heads": 2.0
"num_key_value_heads": 3
"num_key_value_heads": 99999999999999999999
"hidden_act": "mish"
"hidden_act": "a\"b"
"clip_qkv": 8
"clip_qkv": null
"is_encoder_decoder": false, "add_cross_attention": false
"is_encoder_decoder": true
"quantization_config": {"bits": 4}
"architectures": ["MixtralForCausalLM"]
"rope_scaling": 2
"rope_scaling": {"type": "longrope", "factor": 2.0}
"rope_scaling": {"type": "linear"}
"rope_scaling": {"type": "linear", "factor": "8"}
"rope_theta": -5.0
"rope_theta": 1e4, "rope_parameters": {"rope_theta": 5e5}
==== out
error[E0340]: config.json: line 2: unexpected token near end of file
  = help: download config.json again

3: {"model_type": "llama", "hidden_size": 
error[E0340]: config.json: line 1: not a JSON object
  = help: download config.json again

3: [1, 2]
error[E0340]: config.json: line 1: duplicate object key near '"model_type"'
  = help: download config.json again

3: {"model_type": "llama", "model_type": "llama"}
error[E0342]: config.json has no key `model_type`
  = help: supported: albert, bert, bloom, cohere, deepseek_v2, falcon, gemma, gemma2, gpt2, gpt_neox, gpt_oss, gptj, granite, llama, mistral, mixtral, modernbert, olmo, phi, phi3, qwen2, qwen3, stablelm, starcoder2, t5, vit

1: {"hidden_size": 64}
error[E0342]: config.json: model_type = "lama" is not supported
  = help: is it `llama`? supported: albert, bert, bloom, cohere, deepseek_v2, falcon, gemma, gemma2, gpt2, gpt_neox, gpt_oss, gptj, granite, llama, mistral, mixtral, modernbert, olmo, phi, phi3, qwen2, qwen3, stablelm, starcoder2, t5, vit

1: {"model_type": "lama"}
error[E0342]: config.json: model_type = 7 is not supported
  = help: supported: albert, bert, bloom, cohere, deepseek_v2, falcon, gemma, gemma2, gpt2, gpt_neox, gpt_oss, gptj, granite, llama, mistral, mixtral, modernbert, olmo, phi, phi3, qwen2, qwen3, stablelm, starcoder2, t5, vit

1: {"model_type": 7}
error[E0340]: config.json has no key `vocab_size`
  = help: the model needs a value there; download config.json again

error[E0340]: config.json has no key `hidden_size`
  = help: the model needs a value there; download config.json again

error[E0340]: config.json has no key `intermediate_size`
  = help: the model needs a value there; download config.json again

error[E0340]: config.json has no key `num_hidden_layers`
  = help: the model needs a value there; download config.json again

error[E0340]: config.json has no key `num_attention_heads`
  = help: the model needs a value there; download config.json again

3: {"model_type": "llama"}
error[E0342]: config.json: auto_map.AutoModel: the model is defined by Python code in its folder
  = help: fsdpc does not run code of a folder: write the model by hand, or use the version of the folder that Transformers loads without trust_remote_code

1: {"model_type": "own", "auto_map": {"AutoModel": "modeling.Own"}}
error[E0340]: config.json: line 1: duplicate object key near '"hidden_size"'
  = help: download config.json again

3: "hidden_size": "64"
error[E0340]: config.json: rms_norm_eps = "small": the key takes a number
  = help: download config.json again, or mend the key

3: "rms_norm_eps": "small"
error[E0340]: config.json: rms_norm_eps is null
  = help: the model needs a value there

3: "rms_norm_eps": null
error[E0340]: config.json: attention_bias = 1: the key takes true or false
  = help: download config.json again, or mend the key

3: "attention_bias": 1
error[E0340]: config.json: num_key_value_heads = 2.0: the key takes an integer
  = help: download config.json again, or mend the key

3: "num_key_value_heads": 2.0
error[E0206]: `H % KV == 0` does not hold: num_attention_heads must be a multiple of num_key_value_heads
  --> config.json as llama.fsd:19:11
   |
19 |   require H % KV == 0 "num_attention_heads must be a multiple of num_key_value_heads"
   |           ^^^^^^^^^^^

error[E0341]: config.json: the family `llama` does not support num_key_value_heads = 3
  = help: the errors above say why, in the model file that was made; download config.json again, or write the model by hand, beginning with the family's file in models/hf

1: "num_key_value_heads": 3
error[E0340]: config.json: line 1: too big integer near '99999999999999999999'
  = help: download config.json again

3: "num_key_value_heads": 99999999999999999999
error[E0206]: `(name == "silu" or name == "gelu" or name == "gelu_pytorch_tanh" or name == "relu" or name == "quick_gelu" or name == "relu2" or name == "tanh")` does not hold: the activation (hidden_act, activation_function) must be silu, gelu, gelu_pytorch_tanh, quick_gelu, relu, relu2 or tanh
  --> config.json as llama.fsd:35:3
   |
35 |   gate : Activation(act)
   |   ^^^^
note: for this Activation
  --> config.json as llama.fsd:35:3
   |
35 |   gate : Activation(act)
   |   ^^^^
note: in Activation
  --> std.fsd:21:11
   |
21 |     require (name == "silu" or name == "gelu" or name == "gelu_pytorch_tanh" or name == "relu" or
   |  ___________^
22 | | ...e == "relu2" or name == "tanh") "the activation (hidden_act, activation_function) must be silu, gelu, gelu_pytorch_tanh,...
   | |__________________________________^

error[E0341]: config.json: the family `llama` does not support hidden_act = "mish"
  = help: the errors above say why, in the model file that was made; download config.json again, or write the model by hand, beginning with the family's file in models/hf

1: "hidden_act": "mish"
error[E0340]: config.json: hidden_act = "a\"b": the key takes a plain word
  = help: download config.json again, or mend the key

3: "hidden_act": "a\"b"
error[E0341]: config.json: clip_qkv: config.json has 8, the model has no such key
  = help: fsdpc would compute another function; write the model by hand, beginning with the family's file in models/hf

1: "clip_qkv": 8
m.fsd: a model of family llama with 82,368 parameters
0: "clip_qkv": null
m.fsd
m.fsd: a model of family llama with 82,368 parameters
0: "is_encoder_decoder": false, "add_cross_attention": false
m.fsd
error[E0341]: config.json: is_encoder_decoder: config.json has true, the model has no such key
  = help: fsdpc would compute another function; write the model by hand, beginning with the family's file in models/hf

1: "is_encoder_decoder": true
error[E0341]: config.json: quantization_config.bits: config.json has 4, the model has no such key
  = help: fsdpc would compute another function; write the model by hand, beginning with the family's file in models/hf

1: "quantization_config": {"bits": 4}
error[E0341]: config.json: architectures: config.json has ["MixtralForCausalLM"], the model has ["LlamaForCausalLM"]
  = help: fsdpc would compute another function; write the model by hand, beginning with the family's file in models/hf

1: "architectures": ["MixtralForCausalLM"]
error[E0341]: config.json: rope_scaling: config.json has 2, the model has null
  = help: fsdpc would compute another function; write the model by hand, beginning with the family's file in models/hf

1: "rope_scaling": 2
error[E0206]: `scaling == none or scaling == "linear" or scaling == "llama3" or scaling == "yarn"` does not hold: rope_scaling.rope_type must be default, linear, llama3 or yarn
  --> config.json as llama.fsd:25:3
   |
25 |   turn : Rotary(theta, scaling, factor, low, high, original, fast, slow, truncate, grow)
   |   ^^^^
note: for this Rotary
  --> config.json as llama.fsd:25:3
   |
25 |   turn : Rotary(theta, scaling, factor, low, high, original, fast, slow, truncate, grow)
   |   ^^^^
note: in Rotary
  --> std.fsd:36:11
   |
36 |   require scaling == none or scaling == "linear" or scaling == "llama3" or scaling == "yarn" "rope_scaling.rope_type mus...
   |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

error[E0341]: config.json: the family `llama` does not support rope_scaling.type = "longrope"
  = help: the errors above say why, in the model file that was made; download config.json again, or write the model by hand, beginning with the family's file in models/hf

1: "rope_scaling": {"type": "longrope", "factor": 2.0}
error[E0206]: `scaling == none or factor != none` does not hold: rope_scaling.factor must be given unless rope_type is default
  --> config.json as llama.fsd:25:3
   |
25 |   turn : Rotary(theta, scaling, factor, low, high, original, fast, slow, truncate, grow)
   |   ^^^^
note: for this Rotary
  --> config.json as llama.fsd:25:3
   |
25 |   turn : Rotary(theta, scaling, factor, low, high, original, fast, slow, truncate, grow)
   |   ^^^^
note: in Rotary
  --> std.fsd:37:11
   |
37 |   require scaling == none or factor != none "rope_scaling.factor must be given unless rope_type is default"
   |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

error[E0341]: config.json: the family `llama` does not support rope_scaling.type = "linear"
  = help: the errors above say why, in the model file that was made; download config.json again, or write the model by hand, beginning with the family's file in models/hf

1: "rope_scaling": {"type": "linear"}
error[E0310]: `factor` of `rope` must be a number, not a string
  --> config.json as llama.fsd:27:9
   |
27 |     q = turn(q_proj(x) as [B, T, H, hd])
   |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
note: in Rotary.forward
  --> std.fsd:64:68
   |
64 |     if scaling == "linear" { return rope(x, base = theta, factor = factor, dims = dims, interleaved = interleaved) }
   |                                                                    ^^^^^^
note: in Attention.forward, called here
  --> config.json as llama.fsd:43:10
   |
43 |     x += self_attn(input_layernorm(x))
   |          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
note: in Block.forward, called here
  --> config.json as llama.fsd:55:31
   |
55 |     for block in layers { x = block(x) }
   |                               ^^^^^^^^

error[E0310]: `factor` of `rope` must be a number, not a string
  --> config.json as llama.fsd:28:9
   |
28 |     k = turn(k_proj(x) as [B, T, KV, hd])
   |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
note: in Rotary.forward
  --> std.fsd:64:68
   |
64 |     if scaling == "linear" { return rope(x, base = theta, factor = factor, dims = dims, interleaved = interleaved) }
   |                                                                    ^^^^^^
note: in Attention.forward, called here
  --> config.json as llama.fsd:43:10
   |
43 |     x += self_attn(input_layernorm(x))
   |          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
note: in Block.forward, called here
  --> config.json as llama.fsd:55:31
   |
55 |     for block in layers { x = block(x) }
   |                               ^^^^^^^^

error[E0341]: config.json: the family `llama` does not support rope_scaling.type = "linear"
  = help: the errors above say why, in the model file that was made; download config.json again, or write the model by hand, beginning with the family's file in models/hf

1: "rope_scaling": {"type": "linear", "factor": "8"}
error[E0311]: `base` of `rope` must be at least 1, not -5
  --> config.json as llama.fsd:27:9
   |
27 |     q = turn(q_proj(x) as [B, T, H, hd])
   |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
note: in Rotary.forward
  --> std.fsd:63:48
   |
63 |     if scaling == none { return rope(x, base = theta, dims = dims, interleaved = interleaved) }
   |                                                ^^^^^
note: in Attention.forward, called here
  --> config.json as llama.fsd:43:10
   |
43 |     x += self_attn(input_layernorm(x))
   |          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
note: in Block.forward, called here
  --> config.json as llama.fsd:55:31
   |
55 |     for block in layers { x = block(x) }
   |                               ^^^^^^^^

error[E0311]: `base` of `rope` must be at least 1, not -5
  --> config.json as llama.fsd:28:9
   |
28 |     k = turn(k_proj(x) as [B, T, KV, hd])
   |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
note: in Rotary.forward
  --> std.fsd:63:48
   |
63 |     if scaling == none { return rope(x, base = theta, dims = dims, interleaved = interleaved) }
   |                                                ^^^^^
note: in Attention.forward, called here
  --> config.json as llama.fsd:43:10
   |
43 |     x += self_attn(input_layernorm(x))
   |          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
note: in Block.forward, called here
  --> config.json as llama.fsd:55:31
   |
55 |     for block in layers { x = block(x) }
   |                               ^^^^^^^^

error[E0341]: config.json: the family `llama` does not support rope_theta = -5.0
  = help: the errors above say why, in the model file that was made; download config.json again, or write the model by hand, beginning with the family's file in models/hf

1: "rope_theta": -5.0
error[E0340]: config.json: rope_theta = 10000.0, but rope_parameters.rope_theta = 500000.0
  = help: both are the same setting; remove the one that is wrong

3: "rope_theta": 1e4, "rope_parameters": {"rope_theta": 5e5}
2
1
1
3
==== err
error: cannot read missing/: No such file or directory
help: name a Hugging Face folder or its config.json; `hf download NAME --local-dir DIR` makes a folder; an adapter has to be merged into its model first
error[E0504]: `fsdpc import` needs -o FILE for the model file
  = help: `-o -` writes the model file to standard output

error[E0503]: --hf takes the place of the model file, b
  = help: leave out one of them

error[E0340]: config.json: rope_theta = 10000.0, but rope_parameters.rope_theta = 500000.0
  = help: both are the same setting; remove the one that is wrong

