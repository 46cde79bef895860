# RUN: seq 300 > t.txt; export FSDP_TEST_HOSTS=2; %fsdpc compile -q net.fsd -o p -n 2; for o in off on auto; do %fsdp-run --transport mpi -q --overlap $o --threads 1 --save %t/$o p || exit; done; cmp %t/off %t/on && cmp %t/on %t/auto && echo same
# RUN: FSDP_TEST_HOSTS=2 %fsdp-run --transport mpi --threads 1 p 2>&1 >%t/out | grep overlap | sed 's/on from/off from/; s/took .*/took .../'
# Between machines collectives beside the computation have the same bits, and by itself a run tries which is faster.
# NEEDS: tool:mpirun build:transport_mpi.so
# TIME: 60
==== net.fsd
module Block {
  a : Linear(12, 20, bias = true)
  b : Linear(20, 12)
  forward(x) = x + b(relu(a(x)))
}
module Net {
  emb : Embedding(128, 12)
  h : Block[3]
  out : Linear(12, 128)
  forward(x) {
    y = emb(x)
    for block in h { y = block(y) }
    return out(y)
  }
}
model = Net
data { train = text("t.txt"); val = text("t.txt", from = 0.5); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 24; steps = 12; optimizer = adamw(lr = 0.01); clip = 1.0; eval_every = 2; eval_steps = 2 }
shard { unit = Block }
==== out
same
--overlap off from here on: the fastest step took ...
