# RUN: %fsdpc compile -q m.fsd -o p -s 'data.train=synthetic_tokens(vocab = 9)' && %fsdp-run --threads 1 p 2>&1 | grep error; %fsdpc compile -q m.fsd -o p && for a in train=x val.x=y; do %fsdp-run --threads 1 --data $a p 2>&1 | grep error; done; true
# RUN: for s in 'x = 4' 'x = [], y = 0' 'x = [4.5], y = 4' 'samples = 0, x = 3' 'seed = 1' '3'; do %fsdpc dump --stage=model m.fsd -s "data.train=synthetic($s)" 2>&1 | grep -A1 '^error'; done; true
# RUN: %fsdpc dump --raw p | grep '^source'
# Ids that the model does not take, invalid shapes, and files for data that has none are errors.
# NEEDS: build:device_cpu.so
==== m.fsd
module Net {
  w : Embedding(8, 4)
  forward(ids) = linear(w(ids), w.weight)
}
model = Net
data { train = synthetic_tokens(8, samples = 32); val = synthetic_tokens(8, seed = 1); length = 4 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 2 }
==== out
error: data.train generates ids 0 to 8 in field inputs, but the model's range is 0 to 7
error: --data train=...: the plan's data files are: none
error: --data val.x=...: the plan's data files are: none
error[E0318]: data.val must give the same fields as data.train
 --> m.fsd:6:57
error[E0311]: `y` of `synthetic` must be at least 1, not 0
 --> -s:1:34
error[E0310]: each element of `x` of `synthetic` must be an integer, not a number
 --> -s:1:27
error[E0311]: `samples` of `synthetic` must be at least 1, not 0
 --> -s:1:32
error[E0312]: `synthetic` needs at least one field
 --> -s:1:12
error[E0312]: each argument of `synthetic` needs a name
 --> -s:1:22
source train = synthetic_tokens samples 32 seed 0 vocab 8
source val = synthetic_tokens samples 1024 seed 1 vocab 8
