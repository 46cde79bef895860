# RUN: sed 's/BODY/b = bias(T, T); for l in h { y = l(y, b) }/' net.txt > once.fsd; sed 's/BODY/for l in h { y = l(y, bias(T, T)) }/' net.txt > each.fsd; sed 's/  bias : Bias//; s/#OWN//; s/BODY/for l in h { y = l(y, l.own(T, T)) }/' net.txt > own.fsd
# RUN: for s in train.accumulate=1 shard.strategy=none train.accumulate=2 shard.recompute=Block 'shard.unit=[Block, Bias]'; do for f in once each own; do %fsdpc compile -q -n 2 -s "$s" $f.fsd -o p 2> /dev/null && %fsdpc check p && %fsdp-run --quiet --dump-grads 0=$f p; done; PYTHONPATH=%root/tests/parity python3 -Bc "import safetensors as s; a, b, c = [s.load(f) for f in ('once', 'each', 'own')]; k = 'bias.weight'; x, y = a[k].values, b[k].values; z = [sum(w) for w in zip(*(c[f'h.{i}.own.weight'].values for i in range(3)))]; t = max(map(abs, x)); print(t > 1e-4, all(max(abs(p - q), abs(p - r)) < 1e-6 * t for p, q, r in zip(x, y, z)))"; done
# A relative bias that all layers read has the gradient of one that each computes, and the sum of those of equal ones of each layer: all are proved.
# NEEDS: build:device_cpu.so
==== net.txt
module Bias {
  weight : param[8, 2] = ones
  forward(T, S) = relative_bias(weight, T, S, max_distance = 16, bidirectional = true)
}
module Block {
  n : RMSNorm(8)
  q, k, v, o : Linear(8, 8, init = normal(0.5))
  #OWN own : Bias
  forward(x: [B, T, D], b) {
    y = n(x)
    y = attention(q(y) as [B, T, H, 4], k(y) as [B, T, H, 4], v(y) as [B, T, H, 4], bias = b)
    return x + o(y as [B, T, D])
  }
}
module Net {
  emb : Embedding(32, 8, init = normal(1.0))
  bias : Bias
  h : Block[3]
  out : Linear(8, 32, init = normal(0.5))
  forward(x: [B, T]) { y = emb(x); BODY; return out(y) }
}
config { H = 2; D = 8 }
model = Net
data { train = synthetic_tokens(vocab = 32); length = 6 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 1; optimizer = sgd() }
shard { unit = Block }
==== out
True True
True True
True True
True True
True True
