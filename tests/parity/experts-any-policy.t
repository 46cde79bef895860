# RUN: for m in 1 2; do for p in '-s shard.unit=Block' '-s shard.unit=Expert' '-s shard.unit=Linear -s shard.prefetch=0' '-s shard.strategy=none' '-s shard.recompute=MoE'; do %fsdpc compile -q -n 2 -s train.accumulate=$m $p %s -o %t/p && %fsdp-run -q --log - --save %t/w %t/p 2>/dev/null | grep -o '"loss":[0-9.]*,"grad_norm":[0-9.]*' | md5sum; md5sum < %t/w; done | sort | uniq -c | sed 's/[0-9a-f]* *-$//'; done
# Experts train to the same bits whichever modules are units and whatever is kept: five policies, with one micro-batch
# and with two, each of which has an auxiliary term of its own.
==== net.fsd
config { D = 12; V = 17; E = 5 }
module Expert {
  up, down : Linear(D, D)
  forward(x) = down(silu(up(x)))
}
module MoE {
  gate : Linear(D, E)
  experts : Expert[E]
  forward(x) {
    p, idx = topk(softmax(gate(x)), 2)
    aux(load_balance(gate(x), idx), weight = 0.1)
    return combine(experts(dispatch(x, idx)), idx, p)
  }
}
module Block {
  norm : RMSNorm(D)
  moe : MoE
  forward(x) = x + moe(norm(x))
}
module Net {
  wte : Embedding(V, D)
  layers : Block[2]
  head : Linear(D, V)
  forward(ids) {
    x = wte(ids)
    for block in layers { x = block(x) }
    return head(x)
  }
}
model = Net
data { train = synthetic_tokens(vocab = 17); length = 6 }
train { loss = cross_entropy(model(inputs), targets); batch = 8; steps = 4; optimizer = adamw(lr = 1e-2) }
shard { mesh = (dp = 2); unit = Block }
==== out
      5 
      5 
      5 
      5 
