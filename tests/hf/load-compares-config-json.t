# RUN: %fsdpc import -q config.json -o m.fsd && %fsdpc compile -q m.fsd -s train.steps=1 -s data.length=8 -s train.schedule=constant -o p && %fsdp-run -q --threads 1 --save hub/ p && cat hub/config.json && %fsdp-run -q --threads 1 --load hub p && echo same
# RUN: try() { sed "$1" hub/config.json >c && cp c hub2/config.json && %fsdp-run -q --threads 1 $2 --load hub2 p; echo "$? $1 $2"; }; cp -r hub hub2; try 's/500000.0/10000/'; try 's/500000.0/10000/' '--accept rope_theta'; try '/rope_theta/d'; try 's/"silu"/"swish"/'; try 's/"silu"/"gelu"/'; try '/"hidden_act"/d'; try 's/"rms_norm_eps"/"clip_qkv": 8, "rms_norm_eps"/'; try 's/"num_attention_heads": 4/"num_attention_heads": 8/;s/"head_dim": 8/"head_dim": 4/' '--accept head_dim'; try 's/"rms_norm_eps"/"use_cache": 1, "bos_token_id": 7, "other": null, "rms_norm_eps"/'; try 's/null/{"rope_type": "linear", "factor": 2.0}/'; try 's/null/{"rope_type": "default"}/'; try 's/{/[/' 2>&1; try 's/"rope_theta": 500000.0/"rope_parameters": {"rope_theta": 5e5, "rope_type": "default"}/'
# RUN: cp hub/config.json hub2; %fsdp-run --threads 1 --load hub2 --accept rope_theta p 2>&1 | grep -c accepted; sed 's/500000.0/10000/' hub/config.json >hub2/config.json; %fsdp-run -q --threads 1 --load hub2 --accept vocab_size,rope_theta --log log p; grep -o '"accepted":"[^"]*"' log; %fsdp-run -q --threads 1 --load hub2/model.safetensors p; echo $?; %fsdp-run --accept rope_theta p; echo $?
# RUN: cp hub/config.json hub2; echo '{"model": {"vocab": {"a": 0, "b": 95}}, "added_tokens": [{"id": 96, "content": "x"}]}' >hub2/tokenizer.json; %fsdp-run -q --threads 1 --load hub2 --save out/ p; echo $?; ls out; sed -i 's/96/97/' hub2/tokenizer.json; %fsdp-run -q --threads 1 --load hub2 p; echo $?; %fsdp-run -q --threads 1 --load hub2 --accept tokenizer.json p; echo $?; echo '{"max_length": 3}' >hub2/generation_config.json; echo x >hub2/own.txt; sed -i 's/^{/{"eos_token_id": [7, 8], "attention_dropout": 0.1, "id2label": {"0": "no"}, "_name_or_path": "x",/' hub2/config.json; %fsdp-run -q --threads 1 --load hub2 --accept tokenizer.json --save out --max-file 20kB p; echo $?; ls out; cat out/generation_config.json; tail -n 6 out/config.json; cmp out/tokenizer.json hub2/tokenizer.json
# RUN: echo x >hub2/tokenizer.json; %fsdp-run --threads 1 --load hub2 --accept rope_theta p 2>&1 | grep note
# --load refuses a folder whose config.json computes something else than the plan, naming both values (exit code 3); --accept accepts a difference by name and logs it. --save copies what belongs to the tokenizer.
==== config.json
{"model_type": "llama", "hidden_size": 32, "intermediate_size": 48, "num_attention_heads": 4, "num_key_value_heads": 2, "num_hidden_layers": 1, "vocab_size": 97,
 "rope_theta": 5e5, "rms_norm_eps": 1e-5}
==== out
{
  "model_type": "llama",
  "architectures": ["LlamaForCausalLM"],
  "vocab_size": 97,
  "hidden_size": 32,
  "intermediate_size": 48,
  "num_hidden_layers": 1,
  "num_attention_heads": 4,
  "num_key_value_heads": 2,
  "head_dim": 8,
  "hidden_act": "silu",
  "max_position_embeddings": 2048,
  "rms_norm_eps": 1e-05,
  "attention_bias": false,
  "mlp_bias": false,
  "tie_word_embeddings": false,
  "rope_theta": 500000.0,
  "rope_scaling": null,
  "torch_dtype": "float32"
}
same
3 s/500000.0/10000/ 
0 s/500000.0/10000/ --accept rope_theta
3 /rope_theta/d 
0 s/"silu"/"swish"/ 
3 s/"silu"/"gelu"/ 
0 /"hidden_act"/d 
3 s/"rms_norm_eps"/"clip_qkv": 8, "rms_norm_eps"/ 
3 s/"num_attention_heads": 4/"num_attention_heads": 8/;s/"head_dim": 8/"head_dim": 4/ --accept head_dim
0 s/"rms_norm_eps"/"use_cache": 1, "bos_token_id": 7, "other": null, "rms_norm_eps"/ 
3 s/null/{"rope_type": "linear", "factor": 2.0}/ 
0 s/null/{"rope_type": "default"}/ 
error: hub2/config.json: line 2: ']' expected near ':'
help: download config.json again
3 s/{/[/ 
0 s/"rope_theta": 500000.0/"rope_parameters": {"rope_theta": 5e5, "rope_type": "default"}/ 
0
"accepted":"rope_theta: config.json has 10000, the model has 500000.0\n"
0
1
0
config.json
model.safetensors
tokenizer.json
3
0
0
config.json
generation_config.json
model-00001-of-00003.safetensors
model-00002-of-00003.safetensors
model-00003-of-00003.safetensors
model.safetensors.index.json
tokenizer.json
{"max_length": 3}
  "rope_scaling": null,
  "torch_dtype": "float32",
  "eos_token_id": [7, 8],
  "attention_dropout": 0.1,
  "id2label": {"0": "no"}
}
note: hub2/tokenizer.json was not compared with the vocabulary: line 1: '[' or '{' expected near 'x'
==== err
error: hub2/config.json describes another model than the plan:
  rope_theta: config.json has 10000, the model has 500000.0
help: `fsdpc compile --hf hub2` compiles the model of the folder; `--accept KEY` accepts one of these differences
error: hub2/config.json describes another model than the plan:
  rope_theta: config.json has 10000.0, the model has 500000.0
help: `fsdpc compile --hf hub2` compiles the model of the folder; `--accept KEY` accepts one of these differences
error: hub2/config.json describes another model than the plan:
  hidden_act: config.json has "gelu", the model has "silu"
help: `fsdpc compile --hf hub2` compiles the model of the folder; `--accept KEY` accepts one of these differences
error: hub2/config.json describes another model than the plan:
  clip_qkv: config.json has 8, the model has no such key
help: `fsdpc compile --hf hub2` compiles the model of the folder; `--accept KEY` accepts one of these differences
error: hub2/config.json describes another model than the plan:
  num_attention_heads: config.json has 8, the model has 4
help: `fsdpc compile --hf hub2` compiles the model of the folder; `--accept KEY` accepts one of these differences
error: hub2/config.json describes another model than the plan:
  rope_scaling.rope_type: config.json has "linear", the model has no such key
  rope_scaling.factor: config.json has 2.0, the model has no such key
help: `fsdpc compile --hf hub2` compiles the model of the folder; `--accept KEY` accepts one of these differences
error: --accept needs --load FOLDER
help: fsdp-run --help lists the options
error: hub2/tokenizer.json has ids up to 97, and the model's vocabulary has 97 ids
help: tokenizer and model do not belong together; `--accept tokenizer.json` accepts it
