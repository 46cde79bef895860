# RUN: net() { %fsdpc compile -q "$@" -o p && %fsdpc check p && %fsdp-run -q --threads 2 --load w --log log --save a p && { grep -oE '"(loss|grad_norm)":[^,}]*' log; cat a; } | md5sum; }; both() { for f in flat.fsd columns.fsd; do net $f "$@"; done | uniq -c | tr -s ' ' | cut -d' ' -f2; }; %fsdpc compile -q flat.fsd -o p && %fsdp-run -q --steps 0 --save w p; o=-strain.optimizer=; s=-sshard.; t=-strain.; for n in 1 2 4; do both -n $n; both -n $n "${o}sgd(lr = 0.1, momentum = 0.9)" ${t}precision=bf16; both -n $n "${o}lion(lr = 0.001)" ${s}unit=none; both -n $n "${o}adafactor(lr = 0.1)"; both -n $n "${o}muon(lr = 0.02)" ${s}gather=bf16; done; both -n 4 ${s}reshard=2 ${t}accumulate=3 ${s}hold=true; both -n 4 ${s}gather=f8e4m3 ${s}cast=gather; both -n 4 ${s}gather=i8; both -n 2 ${s}strategy=states; both -n 2 "${s}offload=(states = cpu, params = cpu, grads = cpu)" ${t}accumulate=3; both --mesh rep=2,dp=2 ${s}prefetch=0 "${o}adafactor(lr = 0.1)"; both --mesh rep=3,dp=2 "${o}muon(lr = 0.02)" ${t}batch=72
# Parameters that ranks share along axis 1 have losses, norms and trained weights with the bits of flat ones, with every
# optimizer, on any mesh, in any dtype, read and written whole.
# TIME: 120
# NEEDS: build:device_cpu.so sanitizer:none
==== flat.fsd
module Two {
  d : Linear(8, 12, bias = true)
  n : RMSNorm(12) @f32
  f : Linear(12, 8)
  forward(x) = x + f(relu(n(d(x))))
}
module Net {
  e : Embedding(11, 8)
  three : param[3, 8, 4] = normal(0.1)
  two : Two[3]
  o : Linear(8, 11, bias = true)
  forward(ids) { x = e(ids) + sum(sum(three, axis = 2), axis = 0) as [8]
    for t in two { x = t(x) }
    return o(x) }
}
model = Net
data  { train = synthetic_tokens(vocab = 11); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 24; steps = 5; clip = 0.3; optimizer = adamw(lr = 0.01) }
shard { unit = Two }
==== columns.fsd
use "flat.fsd"
shard { layout = param; "e.weight" = split(dp, axis = 1); "three" = split(dp, axis = -2)
        "two.1.d.weight" = split(dp, axis = 0); "two.*.d.weight" = split(dp, axis = 1); "two.*.f.weight" = split(dp, axis = 1); "o.weight" = split(dp, axis = 1) }
==== out
2
2
2
2
2
2
2
2
2
2
2
2
2
2
2
2
2
2
2
2
2
2
