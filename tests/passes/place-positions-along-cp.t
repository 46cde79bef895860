# RUN: %fsdpc dump --stage=place %s -s 'shard.mesh=(cp = 2)' | sed -n '/^program train/,/^end/p' | sed -n '/_part\|= part\|attention\|set_grad\|all_reduce/p' | sed 's/ "[^"]*"//g; s/ - [0-9:-]*$//; s/ [0-9:]*-[0-9:]*$//'
# RUN: for s in 'shard.mesh=(cp = 4)' 'shard.mesh=(zigzag = 2)' 'shard.mesh=(dp = 2, cp = 3)'; do %fsdpc dump --stage=cut %s -s "$s" 2>&1 | sed -n '/^error/p;/help/p;/^mesh/p'; done
# Along cp ranks have other positions of the same samples: keys and values are gathered for
# attention, once more in backward, where the terms of their gradients are reduced to parts;
# gradients of parameters are terms, which comm adds up once a step.
==== net.fsd
module Net {
  e : Embedding(32, 8)
  p : Embedding(6, 8)
  n : LayerNorm(8)
  q : Linear(8, 8)
  k : Linear(8, 4)
  v : Linear(8, 4)
  o : Linear(8, 32)
  forward(ids: [B, T]) {
    x = n(e(ids) + p(iota(T)))
    y = attention(q(x) as [B, T, 4, 2], k(x) as [B, T, 2, 2], v(x) as [B, T, 2, 2], causal = true)
    return o(y as [B, T, 8])
  }
}
model = Net
data  { train = synthetic_tokens(32); length = 6 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 1; optimizer = sgd(lr = 0.1) }
==== out
  #3 %3: i32[4, 3*cp] = part(%2) {axis = 1, count = 1, axes = (cp)} !forward
  #5 %5: i32[4, 3*cp] = part(%4) {axis = 1, count = 1, axes = (cp)} !forward
  #11 %11: f32[3*cp, 8] = part(%10) {axis = 0, count = 1, axes = (cp)} !forward
  #25 %27: f32[4, 6, 2, 2], %28: f32[4, 6, 2, 2] = all_gather_part(%23, %26) {unit = -1, axis = 1, count = 1, axes = (cp), comm = reduce, tag = activation} !forward
  #26 %29: f32[4, 3*cp, 4, 2], %30: f32[4, 4, 3*cp] = attention(%20, %27, %28) {causal = true, alpha = 0.7071067811865475} !forward
  #31 %36: i64[24] = all_reduce(%34) {unit = -1, axes = (cp), comm = reduce, tag = activation} !forward
  #35 set_grad(%38) {index = 7} !backward
  #38 %41: f32[4, 6, 2, 2], %42: f32[4, 6, 2, 2] = all_gather_part(%23, %26) {unit = -1, axis = 1, count = 1, axes = (cp), comm = reduce, tag = activation} !backward
  #39 %43: f32[4, 3*cp, 4, 2], %44: f32[4, 6, 2, 2]+cp, %45: f32[4, 6, 2, 2]+cp = attention_grad(%40, %20, %41, %42, %29, %30) {causal = true, alpha = 0.7071067811865475} !backward
  #40 %46: f32[4, 3*cp, 2, 2], %47: f32[4, 3*cp, 2, 2] = reduce_scatter_part(%44, %45) {unit = -1, axis = 1, count = 1, axes = (cp), comm = reduce, tag = activation} !backward
  #43 set_grad(%49) {index = 6} !backward
  #47 set_grad(%52) {index = 5} !backward
  #52 set_grad(%56) {index = 4} !backward
  #56 set_grad(%59) {index = 3} !backward
  #58 set_grad(%60) {index = 2} !backward
  #61 %63: i32[3*cp] = part(%8) {axis = 0, count = 1, axes = (cp)} !backward
  #63 set_grad(%64) {index = 1} !backward
  #65 set_grad(%65) {index = 0} !backward
error[E0406]: cp = 4: 6 positions of `inputs` are not divisible by 4
  = help: use another number of ranks or of positions
error[E0406]: zigzag = 2: 6 positions of `inputs` are not divisible by 4
  = help: use another number of ranks or of positions
mesh dp = 2, cp = 3
