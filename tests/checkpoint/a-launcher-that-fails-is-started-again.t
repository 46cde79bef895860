# RUN: mkdir bin && cp mpirun bin && chmod +x bin/mpirun; seq 3000 > t.txt; %fsdpc compile -q toy.fsd -o p -n 2
# RUN: %fsdp-run -q --threads 1 --log whole.log --save whole p
# RUN: REAL=$(which mpirun) PATH=$PWD/bin:$PATH %fsdp-run -q --threads 1 --transport mpi --restarts 5 --checkpoint ck --checkpoint-every 10 --log log --save w p 2>&1 | sed "s/after [0-9]* steps/in the middle/; s/ and .*//"; wc -l < count; cmp w whole
# mpirun that ends with a code of its own, while ranks train or as it starts them again, costs no run.
# NEEDS: tool:mpirun build:transport_mpi.so build:device_cpu.so sanitizer:none
# TIME: 120
==== mpirun
#!/bin/bash
echo >> count
case $(wc -l < count) in
1)  "$REAL" "$@" &
    until grep -q '"step":[1-9]' log 2> /dev/null || ! kill -0 $!; do sleep 0.05; done
    printf '\1\0\0\0' 1<> "$FSDP_RUN_PROGRESS" # as a rank does that says why
    exit 9 ;;
2)  exit 1 ;;
*)  exec "$REAL" "$@" ;;
esac
==== toy.fsd
module Toy {
  emb : Embedding(128, 12); out : Linear(12, 128)
  forward(x) = out(emb(x))
}
model = Toy
data { train = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 24; steps = 400; optimizer = adamw(lr = 0.01) }
shard { unit = Linear }
==== out
restart 1 of 5: the run failed in the middle
error: mpirun ended the run with exit code 1: a host or its ranks are gone,
help: check that the hosts answer, then start the run again
restart 2 of 5: the run failed before its first step
3
