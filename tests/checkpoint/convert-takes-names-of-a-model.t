# RUN: seq 300 > t.txt; %fsdpc compile -q plain.fsd -n 2 -o p; (cat plain.fsd; echo 'config hf { model_type = "toy" }'; echo 'names hf { "emb.weight" = "wte"; "out.weight" = "lm^T" }') > named.fsd; sed 's/D = 4/D = 8/' named.fsd > wide.fsd; %fsdpc compile -q named.fsd -o q; %fsdp-run -q --threads 1 --checkpoint ck --save w p
# RUN: %fsdpc convert ck named.fsd -o hf/ && %fsdpc convert ck q -o gf/ && %fsdp-run -q --load ck --steps 0 --save ef/ q && diff -r ef hf && diff -r hf gf && ls hf && %fsdpc convert -q hf/ named.fsd -n 3 -s train.batch=9 -o back && %fsdpc convert back plain.fsd -o v && cmp v w && echo same; %fsdpc convert ck wide.fsd -o x; %fsdpc convert ck q -n 3 -o x; %fsdpc convert ck -n 3 -o x
# A checkpoint's weights go out under the names of another plan or of a model file, and come back; settings of a model go
# with a model file alone.
# NEEDS: build:device_cpu.so
==== plain.fsd
config { D = 4 }
module Toy {
  emb : Embedding(128, D)
  out : Linear(D, 128)
  forward(x) = out(emb(x))
}
model = Toy
data { train = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 6; steps = 2; optimizer = adamw(lr = 0.1) }
==== out
config.json
model.safetensors
same
==== err
error[E0512]: the plan is for a different model
    emb.weight: f32[128, 4] in the checkpoint, f32[128, 8] in the plan

error[E0503]: settings of a model need a model file, and q is not a model file
  = help: a plan has its own settings

error[E0503]: settings of a model go with a model file
  = help: fsdpc convert CK model.fsd -o OUTPUT

==== exit 1
