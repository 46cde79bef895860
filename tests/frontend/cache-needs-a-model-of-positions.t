# RUN: for m in 'mean(x, axis = 1) + x' 'attention(h, h, h) as [B, T, 8]' 'x[:, 0:4] + x' 'concat(x[:, 1:], x[:, 0:1], axis = 1)' 'rope(h) as [B, T, 8]'; do sed "s/RESULT/$m/" net.fsd > m.fsd; %fsdpc compile -q m.fsd -o p; done 2>&1 | grep -v "^$"; true
# RUN: sed "s/RESULT/x/" net.fsd > m.fsd; for s in train.eval_every=1 'train.predict=model(inputs)' 'train.metric=accuracy(model(inputs), targets)' data.length=1; do %fsdpc compile -q m.fsd -s "$s" -o p; done 2>&1 | grep -v "^$"; true
# train.cache names the op that does not compute each position by itself.
==== net.fsd
module Net {
  emb : Embedding(256, 8)
  out : Linear(8, 256)
  forward(ids: [B, T]) {
    x = emb(ids)
    h = x as [B, T, 1, 8]
    return out(RESULT)
  }
}
model = Net
data { train = text("m.fsd"); val = text("m.fsd"); length = 4 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 1; cache = true }
==== out
error[E0230]: train.cache: mean needs several positions at once
 --> m.fsd:7:16
  |
7 |     return out(mean(x, axis = 1) + x)
  |                ^^^^^^^^^^^^^^^^^
  |
  = help: leave train.cache out: --generate then computes the whole text for each token
error[E0230]: train.cache: attention sees later positions
 --> m.fsd:7:16
  |
7 |     return out(attention(h, h, h) as [B, T, 8])
  |                ^^^^^^^^^^^^^^^^^^
  |
  = help: leave train.cache out: --generate then computes the whole text for each token
error[E0230]: train.cache: slice needs several positions at once
 --> m.fsd:7:23
  |
7 |     return out(concat(x[:, 1:], x[:, 0:1], axis = 1))
  |                       ^^^^^^^^
  |
  = help: leave train.cache out: --generate then computes the whole text for each token
error[E0230]: a plan with train.cache cannot evaluate, so it excludes train.eval_every
 --> -s:1:18
  |
1 | train.eval_every=1
  |                  ^
  |
  = help: write eval_every = none in this plan, which trains and generates; a plan without train.cache evaluates the same weights
error[E0230]: a plan with train.cache cannot evaluate, so it excludes train.predict
 --> -s:1:15
  |
1 | train.predict=model(inputs)
  |               ^^^^^^^^^^^^^
  |
  = help: write predict = none in this plan, which trains and generates; a plan without train.cache evaluates the same weights
error[E0230]: a plan with train.cache cannot evaluate, so it excludes train.metric
 --> -s:1:14
  |
1 | train.metric=accuracy(model(inputs), targets)
  |              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  |
  = help: write metric = none in this plan, which trains and generates; a plan without train.cache evaluates the same weights
error[E0230]: train.cache needs what --generate needs: rows of at least two tokens, not of mlm or span_corruption, and a cross entropy
  --> m.fsd:12:85
   |
12 | train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 1; cache = true }
   |                                                                                     ^^^^
   |
   = help: leave train.cache out
