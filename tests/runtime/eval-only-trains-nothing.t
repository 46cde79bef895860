# RUN: export FSDP_CPU_ISA=plain FSDP_CPU_MATMUL=plain; seq 900 > t.txt; %fsdpc compile -q toy.fsd -o p -n 2 && %fsdp-run -q --threads 1 --save w --log log p && tail -2 log | sed -n '1s/,"time":[0-9.]*//p'
# RUN: export FSDP_CPU_ISA=plain FSDP_CPU_MATMUL=plain; for n in 1 2 4; do %fsdpc compile -q toy.fsd -o p$n -n $n -s data.train='text("none.txt")' -s train.eval_every=none -s train.eval_steps=3 2> /dev/null; %fsdp-run --threads 1 --eval-only --load w --log log$n p$n 2>&1 | grep -v "arena\|device\|rank"; tail -2 log$n | grep -v second | sed 's/,"time":[0-9.]*//'; done
# RUN: export FSDP_CPU_ISA=plain FSDP_CPU_MATMUL=plain; %fsdp-run -q --transport mpi --threads 1 --eval-only --load w --log - p2 2> /dev/null | grep eval | sed 's/,"time":[0-9.]*//'; %fsdp-run -q --eval-only --load w --data val=few p2; for a in "" "--load w --steps 1" "--load w --save v" "--load w --dump-grads 0=g"; do %fsdp-run --eval-only $a p; done; true
# RUN: %fsdpc compile -q toy.fsd -o p -s data.val=none -s train.eval_every=none 2> /dev/null; %fsdp-run --eval-only --load w p
# --eval-only prints and logs loss and metrics of the loaded weights, the same as the training's last
# evaluation, and needs no training data; what goes with training only is refused. Plain kernels give
# the same bits on any processor.
# NEEDS: build:device_cpu.so build:transport_mpi.so
==== few
short
==== toy.fsd
module Toy {
  emb : Embedding(128, 4)
  out : Linear(4, 128)
  forward(x) = out(emb(x))
}
model = Toy
data { train = text("t.txt"); val = text("t.txt", from = 0.5); length = 5 }
train { loss = cross_entropy(model(inputs), targets); metric = accuracy(model(inputs), targets); batch = 8; steps = 4; optimizer = sgd(lr = 9.0); eval_every = 4; eval_steps = 3 }
==== out
{"event":"eval","step":4,"loss":4.8435894727706907,"accuracy":0.17499999999999999}
evaluation  loss 4.8436  accuracy 0.1750
eval loss       4.84359
eval accuracy   0.175
{"event":"eval","step":0,"loss":4.8435894727706907,"accuracy":0.17499999999999999}
evaluation  loss 4.8436  accuracy 0.1750
eval loss       4.84359
eval accuracy   0.175
{"event":"eval","step":0,"loss":4.8435894727706907,"accuracy":0.17499999999999999}
evaluation  loss 4.8436  accuracy 0.1750
eval loss       4.84359
eval accuracy   0.175
{"event":"eval","step":0,"loss":4.8435894727706907,"accuracy":0.17499999999999999}
{"event":"eval","step":0,"loss":4.8435894727706907,"accuracy":0.17499999999999999}
==== err
error: few: no sample: data.val has fewer than 6 tokens (length + 1) in each file
help: use a longer file, or compile with a smaller data.length
error: --eval-only needs weights: --load FILE
help: fsdp-run --help lists the options
error: --eval-only does not train, so it excludes --steps
help: fsdp-run --help lists the options
error: --eval-only does not train, so it excludes --save
help: fsdp-run --help lists the options
error: --eval-only does not train, so it excludes --dump-grads
help: fsdp-run --help lists the options
error: --eval-only: the plan has no data.val
help: compile with -s 'data.val=text("file")', or another source
==== exit 1
