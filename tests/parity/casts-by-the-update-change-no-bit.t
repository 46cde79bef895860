# RUN: net() { %fsdpc compile -q -s shard.cast=$c "$@" net.fsd -o p 2>&- && %fsdp-run -q --threads 1 --log log --save w.safetensors p && grep -oE '"(loss|grad_norm|eval_loss)":[^,}]*' log | cat - w.safetensors | md5sum; }; both() { for c in update auto gather; do net "$@"; done | uniq | wc -l; }; s="-s shard."; m="-s train.accumulate=3"; both -n 1; both -n 3; both -n 2 $m; both -n 2 $m ${s}strategy=grads ${s}accumulate=local; both -n 4 ${s}reshard=2 ${s}layout=param; both -n 2 $m ${s}strategy=none; both -n 3 -s train.optimizer='adafactor(lr = 0.1)'; both -n 2 -s train.optimizer='muon(lr = 0.01)'; both -n 2 -s train.optimizer='lion(lr = 0.01)' ${s}replicate_below=20; both -n 2 -s 'train.precision=f16' -s 'train.loss_scale=(1152921504606846976, 2, 0.0009765625, 2)'; both -n 2 -s train.precision=f32 ${s}gather=bf16
# Losses, norms and weights have the same bits whether the update casts shards or each gather does: on any ranks, with micro-batches,
# retained parts, whole parameters, any optimizer, and in f16 with a loss scale that leaves steps out.
# TIME: 120
# NEEDS: build:device_cpu.so sanitizer:none
==== net.fsd
module Two {
  d : Linear(6, 9, bias = true)
  n : RMSNorm(9) @f32
  f : Linear(9, 6) @frozen
  forward(x) = x + f(relu(n(d(x))))
}
module Net {
  e : Embedding(11, 6)
  two : Two[3]
  o : Linear(6, 11, bias = true)
  forward(ids) { x = e(ids)
    for t in two { x = t(x) }
    return o(x) }
}
model = Net
data  { train = synthetic_tokens(vocab = 11); val = synthetic_tokens(vocab = 11); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 36; steps = 8; clip = 0.3; optimizer = adamw(lr = 0.01)
        precision = bf16; eval_every = 4; eval_steps = 1 }
shard { unit = Two }
==== out
1
1
1
1
1
1
1
1
1
1
1
