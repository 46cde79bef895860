# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd -o p -n 2; go() { %fsdp-run -q --threads 1 --transport tcp -n 2 "$@"; echo "exit $?"; }; go --save -new --log --hosts=x p; go --load -new --tokens 3 --generate -n5 p | wc -l; ls
# Options for the process that starts the ranks are left out of their command lines, but not values that look like those.
# NEEDS: build:device_cpu.so
==== toy.fsd
module Toy {
  emb : Embedding(256, 4)
  out : Linear(4, 256)
  forward(x) = out(emb(x))
}
model = Toy
data { train = text("t.txt"); val = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 6; steps = 4; optimizer = sgd(lr = 0.1) }
==== out
exit 0
2
--hosts=x
-new
p
t.txt
toy.fsd
