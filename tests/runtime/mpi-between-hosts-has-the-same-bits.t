# RUN: seq 3000 > t.txt; bash each.sh %fsdpc %fsdp-run %t
# What goes through MPI's messages, as between hosts, gives the bytes of what is read in place.
# TIME: 120
# NEEDS: tool:mpirun build:transport_mpi.so
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
compare() {
    $1 compile -q toy.fsd -o p.bin -n $4 -s shard.strategy=$6 -s train.precision=$7 || exit
    "$2" --transport local -n $4 --threads 1 --quiet --save $3/local p.bin || exit
    FSDP_TEST_HOSTS=$5 "$2" --transport mpi --threads 1 --quiet --save $3/mpi p.bin || exit
    cmp $3/local $3/mpi || exit
}
compare $1 "$2" $3 2 2 full f32
compare $1 "$2" $3 3 2 grads f32
compare $1 "$2" $3 4 2 none f32
compare $1 "$2" $3 4 4 full bf16
