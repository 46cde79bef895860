# RUN: cp %root/machines/h100-80.machine m.machine; sums() { md5sum *.* hub/*; }; keep() { sums >%t/before; %fsdpc "$@"; echo "$?: $*"; sums | cmp - %t/before; }; keep compile net.fsd -o ./net.fsd; keep compile net.fsd -o base.fsd; keep compile net.fsd --deepspeed d.json -o d.json; keep compile net.fsd --accelerate a.yaml -o a.yaml; keep compile net.fsd --machine m.machine -o m.machine; keep compile --hf hub -o hub/config.json; keep import hub/config.json -o hub/config.json; keep import hub -o hub/config.json
# RUN: cd hub && %fsdpc import -q . -o llama.fsd && %fsdpc import -q . -o llama.fsd && %fsdpc compile -q --hf . -o llama.fsd && %fsdpc compile -q --hf . -o llama.fsd && echo the same output again
# Nothing that a command writes replaces a file that it read.
==== net.fsd
use "base.fsd"
model = Net
data  { train = synthetic_tokens(vocab = 8); length = 4 }
train { loss = cross_entropy(model(inputs), targets); batch = 8; steps = 3; optimizer = sgd(lr = 1e-3) }
==== base.fsd
module Net { fc : Embedding(8, 8); forward(x) = fc(x) }
==== d.json
{"train_batch_size": 8}
==== a.yaml
mixed_precision: "no"
==== hub/config.json
{"model_type": "llama", "hidden_size": 32, "intermediate_size": 48, "num_attention_heads": 4, "num_key_value_heads": 2, "num_hidden_layers": 1, "vocab_size": 97}
==== out
1: compile net.fsd -o ./net.fsd
1: compile net.fsd -o base.fsd
1: compile net.fsd --deepspeed d.json -o d.json
1: compile net.fsd --accelerate a.yaml -o a.yaml
1: compile net.fsd --machine m.machine -o m.machine
1: compile --hf hub -o hub/config.json
1: import hub/config.json -o hub/config.json
1: import hub -o hub/config.json
the same output again
==== err
error[E0503]: `-o ./net.fsd` would replace net.fsd, which was read
  = help: name another file after -o

error[E0503]: `-o base.fsd` would replace base.fsd, which was read
  = help: name another file after -o

error[E0503]: `-o d.json` would replace d.json, which was read
  = help: name another file after -o

error[E0503]: `-o a.yaml` would replace a.yaml, which was read
  = help: name another file after -o

error[E0503]: `-o m.machine` would replace m.machine, which was read
  = help: name another file after -o

error[E0503]: `-o hub/config.json` would replace hub/config.json, which was read
  = help: name another file after -o

error[E0503]: `-o hub/config.json` would replace hub/config.json, which was read
  = help: name another file after -o

error[E0503]: `-o hub/config.json` would replace hub/config.json, which was read
  = help: name another file after -o

