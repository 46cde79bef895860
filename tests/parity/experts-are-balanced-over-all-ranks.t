# RUN: for o in '-n 1' '-n 2' '-n 4' '-n 8' '--mesh rep=2,dp=2' '--mesh rep=4,dp=1' '-n 2 -s shard.recompute=MoE' '-n 4 -s shard.strategy=grads'; do %fsdpc compile -q $o %s -o %t/p && %fsdp-run -q --log - %t/p 2>/dev/null | grep -oE '"loss":.{10}|"grad_norm":.{9}' | tr '\n' ' '; echo; done | sort | uniq -c
# load_balance is over the batch of all ranks: however many there are, losses and gradients are those of one rank.
# NEEDS: build:device_cpu.so
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
    scores = gate(x)
    p, idx = topk(softmax(scores), 2)
    aux(load_balance(scores, idx), weight = 1)
    return combine(experts(dispatch(x, idx)), idx, p)
  }
}
module Net {
  wte : Embedding(V, D)
  moe : MoE[2]
  head : Linear(D, V)
  forward(ids) {
    x = wte(ids)
    for layer in moe { x += layer(x) }
    return head(x)
  }
}
model = Net
data { train = synthetic_tokens(vocab = V); length = 6 }
train { loss = cross_entropy(model(inputs), targets); batch = 8; steps = 2; optimizer = adamw(lr = 1e-2) }
shard { unit = MoE }
==== out
      8 "loss":6.83336249 "grad_norm":0.0242093 "loss":6.83240033 "grad_norm":0.0418990 
