# RUN: for mesh in dp=1 cp=2 cp=4 zigzag=2 tp=2,zigzag=2; do %fsdpc compile -q --mesh $mesh net.fsd -o p && %fsdpc dump --raw p | sed -n 's/.* = \(attention[a-z_]*\)(.* flops \([0-9]*\) .*/'$mesh' \1 \2/p' | sort -u; done
# Of causal attention the plan counts the pairs of the rank with the most: along cp the last one, of 36 pairs of 8 positions 26 and 15; along zigzag all have 18.
==== net.fsd
module Net {
  e : Embedding(8, 8)
  q : Linear(8, 8)
  h : Linear(8, 8)
  forward(ids: [B, T]) {
    x = q(e(ids)) as [B, T, 2, 4]
    return h(attention(x, x, x, causal = true) as [B, T, 8])
  }
}
model = Net
data { train = synthetic_tokens(vocab = 8); length = 8; val = none }
train { loss = cross_entropy(model(inputs), targets); batch = 2; steps = 1; optimizer = sgd(lr = 0.1); eval_every = none }
==== out
dp=1 attention 3456
dp=1 attention_grad 7488
cp=2 attention 2496
cp=2 attention_grad 5408
cp=4 attention 1440
cp=4 attention_grad 3120
zigzag=2 attention 1728
zigzag=2 attention_grad 3744
tp=2,zigzag=2 attention 864
tp=2,zigzag=2 attention_grad 1872
