# RUN: %fsdpc compile -q --hf hub -s 'data.train=synthetic_tokens(97)' -s data.val=none -s data.length=4 -s train.batch=2 -s train.steps=1 -s train.schedule=constant -s train.eval_every=none -n 1 -o p && %fsdp-run -q --steps 0 --save hub/ p && md5sum hub/model.safetensors >sum; %fsdpc import hub -o hub/model.safetensors; echo $?; md5sum --quiet -c sum
# A model file does not replace the weights that it was compared with.
# NEEDS: build:device_cpu.so
==== hub/config.json
{"model_type": "llama", "hidden_size": 32, "intermediate_size": 48, "num_attention_heads": 4, "num_key_value_heads": 2, "num_hidden_layers": 1, "vocab_size": 97}
==== out
1
==== err
error[E0503]: `-o hub/model.safetensors` would replace hub/model.safetensors, which was read
  = help: name another file after -o

