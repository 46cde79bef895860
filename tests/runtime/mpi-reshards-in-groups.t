# RUN: seq 3000 > t.txt; bash each.sh %fsdpc %fsdp-run %t
# With reshard = K, groups of processes gather what groups of threads gather, and what reshard = true gives.
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
data { train = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 24; steps = 3; optimizer = adamw(lr = 0.01); clip = 1.0 }
shard { unit = Linear }
==== each.sh
for mesh in dp=4 dp=6 rep=2,dp=4; do for k in true 2; do
    $1 compile -q toy.fsd -o p.bin --mesh $mesh -s shard.reshard=$k || exit
    for t in local mpi; do
        "$2" --transport $t --threads 1 --quiet --save $3/$t --dump-grads 1=$3/g$t p.bin || exit
        cmp $3/$t $3/local && cmp $3/g$t $3/glocal || exit
    done
    [ $k = true ] && mv $3/local $3/true
    [ $k = true ] || cmp $3/local $3/true || exit
done; done
