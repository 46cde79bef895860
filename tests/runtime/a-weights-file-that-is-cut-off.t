# RUN: mkdir %t/bin && cp %build/fsdp-run %t/bin && cp %build/device_cpu.so %t/bin/device_real.so && cp %build/tests/modules/tardy.so %t/bin/device_cpu.so
# RUN: seq 3000 > t.txt; %fsdpc compile -q toy.fsd -o p && %t/bin/fsdp-run --quiet --save w p && %t/bin/fsdp-run --quiet --load w p
# RUN: TARDY="cut w" %t/bin/fsdp-run --quiet --threads 2 --load w p
# A weights file that loses a byte between its opening and its reading is a corrupt input, not a zero.
# NEEDS: build:device_cpu.so
==== toy.fsd
module Toy {
  emb : Embedding(128, 12)
  out : Linear(12, 128)
  forward(x) = out(emb(x))
}
model = Toy
data { train = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 24; steps = 3; optimizer = sgd(lr = 0.1) }
==== err
error: w: truncated to 12471 bytes while in use; it had 12472 bytes when the run began
==== exit 3
