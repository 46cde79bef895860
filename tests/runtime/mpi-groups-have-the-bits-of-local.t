# RUN: seq 3000 > t.txt; bash each.sh %fsdpc %fsdp-run %t
# On replicas of shards, groups of processes give the bytes of groups of threads.
# TIME: 120
# NEEDS: sanitizer:none tool:mpirun build:transport_mpi.so
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
data { train = text("t.txt"); val = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 24; steps = 3; optimizer = adamw(lr = 0.01); clip = 1.0; eval_every = 2; eval_steps = 3 }
shard { unit = Linear }
==== each.sh
for mesh in 2,dp=2 3,dp=2 2,dp=3; do for s in full grads none; do
    n=$(($(echo $mesh | sed 's/,dp=/ * /')))
    $1 compile -q toy.fsd -o p.bin --mesh rep=$mesh -s shard.strategy=$s -s train.accumulate=2 || exit
    for t in local mpi; do
        "$2" --transport $t -n $n --threads 1 --quiet --save $3/$t --dump-grads 1=$3/g$t p.bin || exit
    done
    cmp $3/local $3/mpi && cmp $3/glocal $3/gmpi || exit
done; done
