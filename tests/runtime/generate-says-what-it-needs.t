# RUN: seq 900 > t.txt; for m in toy ids mse; do %fsdpc compile -q $m.fsd -o $m; done; %fsdp-run -q --save w toy; head -c 1000 /dev/zero | tr '\0' x > m
# RUN: for a in "x" "x --load w --save v" "x --load w --steps 1" "x --load w --eval-only" "x --load w --log -" "x --load w --tokens 0" "x --load w --temperature -1" "x --load w --temperature hot" "x --load none" "é --load w"; do %fsdp-run -q --generate $a toy; echo "$a: $?"; done 2>&1 | grep -v ^help
# RUN: for a in "--tokens 3" "--seed 3"; do %fsdp-run -q $a toy; done 2>&1 | grep -v ^help; for a in "1 x" "128" "," "-1"; do %fsdp-run -q --generate "$a" --load w ids; done; %fsdp-run -q --generate "1" --load w mse
# Mistakes with --generate are said before anything runs.
# NEEDS: build:device_cpu.so
==== toy.fsd
module Toy {
  emb : Embedding(128, 8)
  out : Linear(8, 128)
  forward(x) = out(emb(x))
}
model = Toy
data { train = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 12; steps = 2; optimizer = adamw(lr = 0.1) }
==== ids.fsd
use "toy.fsd"
data { train = synthetic_tokens(128) }
==== mse.fsd
module Net {
  fc : Linear(3, 2)
  forward(x) = fc(x)
}
model = Net
data { train = synthetic(x = [3], y = [2]) }
train { loss = mse(model(x), y); batch = 12; steps = 2; optimizer = adamw(lr = 0.1) }
==== out
error: --generate needs weights: --load FILE
x: 1
error: --generate does not train, so it excludes --save
x --load w --save v: 1
error: --generate does not train, so it excludes --steps
x --load w --steps 1: 1
error: --eval-only and --generate exclude each other
x --load w --eval-only: 1
error: --log - and --generate both write to standard output
x --load w --log -: 1
error: --tokens 0: must be a whole number of at least 1
x --load w --tokens 0: 1
error: --temperature -1: must be a number of at least 0
x --load w --temperature -1: 1
error: --temperature hot: must be a number of at least 0
x --load w --temperature hot: 1
error: cannot open none: No such file or directory
x --load none: 2
error: --generate: token 195 is out of range: the model's ids are 0 to 127
é --load w: 1
error: --tokens needs --generate or --prompts
error: --seed needs --generate or --prompts
==== err
error: --generate: the model reads token ids: give them as numbers, such as --generate "464 3290", or give text and --tokenizer FILE
error: --generate: token 128 is out of range: the model's ids are 0 to 127
error: --generate: the prompt must have at least one token
error: --generate: the model reads token ids: give them as numbers, such as --generate "464 3290", or give text and --tokenizer FILE
error: --generate: the model does not read rows of tokens (data.train = text or tokens)
==== exit 1
