# RUN: mkdir hub p q; cp config.json hub; cp config.json p; cp config.json q; %fsdpc compile -q --hf config.json -s train.steps=1 -s data.length=8 -s train.schedule=constant -o plan && %fsdp-run -q --threads 1 --save hub --max-file 10kB plan && rm hub/config.json && cp config.json hub; %fsdpc import hub -o m.fsd; echo $?
# RUN: touch p/pytorch_model.bin p/x.pth; %fsdpc import p -o no.fsd; echo $?; %fsdpc compile --hf p -o no.bin; echo $?; %fsdpc import p/config.json -o m.fsd; echo $?
# RUN: mv hub/model-00002-of-*.safetensors q; %fsdpc import hub -o no.fsd; echo $?; mv q/model-00002* hub; sed 's|"model-00002|"../q/model-00002|' hub/*.index.json >x; cp hub/*.index.json y; cp x hub/model.safetensors.index.json; %fsdpc import hub -o no.fsd; echo $?; cp y hub/model.safetensors.index.json
# RUN: sed 's/"num_key_value_heads": 2/"num_key_value_heads": 4/' config.json >hub/config.json; %fsdpc import hub -o no.fsd 2>err; echo $?; head -3 err; sed 's/"llama"/"gpt_neox"/' config.json >hub/config.json; %fsdpc import hub -o no.fsd 2>err; echo $?; head -1 err; cp config.json hub; echo '{"weight_map": ' >hub/model.safetensors.index.json; %fsdpc import hub -o no.fsd; echo $?; ls no.fsd no.bin 2>/dev/null; true
# Import compares the tensors of the folder with the model; weights that are only pickled, shards that are missing or lie outside, and those of another family are refused.
==== config.json
{"model_type": "llama", "hidden_size": 32, "intermediate_size": 48, "num_attention_heads": 4, "num_key_value_heads": 2, "num_hidden_layers": 1, "vocab_size": 97}
==== out
0
1
1
0
3
3
3
error[E0340]: hub: not the weights of this model: 0 missing, 2 with another shape or type, 0 unexpected
  wrong shape: model.layers.0.self_attn.k_proj.weight is [16, 32], the model needs [32, 32]
  wrong shape: model.layers.0.self_attn.v_proj.weight is [16, 32], the model needs [32, 32]
1
error[E0341]: hub/config.json: num_key_value_heads: config.json has 2, the model has no such key
3
==== err
m.fsd: a model of family llama with 13,984 parameters; its weights: fsdp-run --load hub
error[E0342]: p has weights only in a format that is not read: pytorch_model.bin
  = help: save the weights as safetensors first: AutoModelForCausalLM.from_pretrained(FOLDER).save_pretrained(NEW); or name config.json alone

error[E0342]: p has weights only in a format that is not read: pytorch_model.bin
  = help: save the weights as safetensors first: AutoModelForCausalLM.from_pretrained(FOLDER).save_pretrained(NEW); or name config.json alone

m.fsd: a model of family llama with 13,984 parameters
error[E0340]: hub/model.safetensors.index.json: tensor model.layers.0.input_layernorm.weight, file model-00002-of-00007.safetensors: the file is missing
  = help: download the folder again

error[E0340]: hub/model.safetensors.index.json: tensor model.layers.0.input_layernorm.weight, file ../q/model-00002-of-00007.safetensors: not the name of a file next to the index
  = help: download the folder again

error[E0340]: hub/model.safetensors.index.json: not an index of safetensors files: unexpected token near end of file
  = help: download the folder again

