# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd -o p -n 2; mkdir d; touch d/old; chmod 600 d/old; ln -s d/old old; ln -s d/new new
# RUN: umask 027; for f in plain old new; do %fsdp-run --quiet --threads 1 --save $f p && cmp plain $f && stat -c '%N %a' $f $(readlink $f); done; ls d
# A link stays a link, and what it leads to is replaced or made; a file that is replaced keeps its mode.
# NEEDS: build:device_cpu.so
==== toy.fsd
module Toy {
  emb : Embedding(128, 4)
  out : Linear(4, 128)
  forward(x) = out(emb(x))
}
model = Toy
data { train = text("t.txt"); val = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 6; steps = 4; optimizer = sgd(lr = 0.1); eval_every = 2; eval_steps = 3 }
==== out
'plain' 640
'old' -> 'd/old' 777
'd/old' 600
'new' -> 'd/new' 777
'd/new' 640
new
old
