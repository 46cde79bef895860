# RUN: mkdir %t/bin && cp %build/fsdp-run %t/bin && cp %build/device_cpu.so %t/bin/device_real.so && cp %build/tests/modules/tardy.so %t/bin/device_cpu.so
# RUN: seq 3000 > t.txt; %fsdpc compile -q toy.fsd -o p -n 2 && TARDY="work 1 7 4" FSDP_TIMEOUT=3 %t/bin/fsdp-run --threads 1 --quiet --overlap off p && TARDY="work 1 6 4" FSDP_TIMEOUT=3 %t/bin/fsdp-run --threads 1 -q --overlap on p
# RUN: export TARDY="sleep 1 7 2" TARDY_SIGN=late FSDP_TIMEOUT=4; %t/bin/fsdp-run --threads 1 --quiet p & p=$!; until [ -e late ]; do sleep 0.1; done; kill -STOP $p; sleep 6; kill -CONT $p; wait $p
# Neither a kernel that takes longer than the time-out nor a run that was suspended for longer is an error.
# NEEDS: build:device_cpu.so sanitizer:none
==== toy.fsd
module Toy {
  emb : Embedding(128, 12)
  fc : Linear(12, 12)[3]
  out : Linear(12, 128)
  forward(x) {
    x = emb(x)
    for l in fc { x = relu(l(x)) }
    return out(x)
  }
}
model = Toy
data { train = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 24; steps = 3; optimizer = adamw(lr = 0.01); clip = 1.0 }
shard { unit = Linear }
