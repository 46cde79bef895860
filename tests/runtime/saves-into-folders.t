# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd -o p -n 2; run="%fsdp-run -q --threads 1 --steps 0"; mkdir old sub; echo mine > old/tokenizer.json; ln -s old link
# RUN: run="%fsdp-run -q --threads 1 --steps 0"; for f in new/ sub/new/ "link --max-file 2KB" old; do $run --save $f p; ls ${f%% *}; done; $run --save new p; ls new; cat new/config.json old/tokenizer.json
# RUN: for a in "--load new --save new/" "--load new/model.safetensors --save ./new" "--save new/ --log new/config.json" "--save t.txt/" "--save no/new/" "--save f --max-file 2KB" "--save f/ --max-file 2" "--save g --save-dtype f8" "--max-file 2GB"; do %fsdp-run -q --steps 0 $a p; echo "$a: $?"; done; ls
# A save fills the folder that it names: other files stay, files of an earlier save go. A folder that
# cannot be written, or whose files the run reads, is refused before the first step.
# NEEDS: build:device_cpu.so
==== toy.fsd
config { D = 8; half = D / 16; eps = 1e-5 }
config hf { model_type = "toy"; sizes = [D, 2 * D]; tied = true; bias = none; eps = eps; half = half; one = 1.0
  rope { type = "llama3"; factor = D }
  "odd key" = (a = 1, b = "x") }
module Toy {
  emb : Embedding(128, D)
  out : Linear(D, 128)
  forward(x) = out(emb(x))
}
model = Toy
data { train = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 6; steps = 4; optimizer = sgd(lr = 0.1) }
==== out
config.json
model.safetensors
config.json
model.safetensors
config.json
model-00001-of-00002.safetensors
model-00002-of-00002.safetensors
model.safetensors.index.json
tokenizer.json
config.json
model.safetensors
tokenizer.json
config.json
model.safetensors
{
  "model_type": "toy",
  "sizes": [8, 16],
  "tied": true,
  "bias": null,
  "eps": 1e-05,
  "half": 0.5,
  "one": 1.0,
  "rope": {
    "type": "llama3",
    "factor": 8
  },
  "odd key": {"a": 1, "b": "x"},
  "torch_dtype": "float32"
}
mine
--load new --save new/: 1
--load new/model.safetensors --save ./new: 1
--save new/ --log new/config.json: 1
--save t.txt/: 2
--save no/new/: 2
--save f --max-file 2KB: 1
--save f/ --max-file 2: 1
--save g --save-dtype f8: 1
--max-file 2GB: 1
link
new
old
p
sub
t.txt
toy.fsd
==== err
error: --save new would overwrite the weights to load of this run (new/model.safetensors)
error: --save ./new would overwrite the weights to load of this run (new/model.safetensors)
error: --save new and --log new/config.json are the same file
error: cannot write t.txt: it is not a folder
error: cannot write no/new: there is no folder no/
error: --max-file needs a folder to save to: --save f/
error: --max-file 2: must be a size, such as 500MB, 5GB or 2GiB
help: fsdp-run --help lists the options
error: unknown --save-dtype `f8`: use f32, bf16 or f16
help: fsdp-run --help lists the options
error: --max-file needs --save FOLDER/, or checkpoints of --checkpoint-form full
