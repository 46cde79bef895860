# RUN: for v in 'data.val=none' 'data.val=text("v")' 'train.metric=none' 'train.eval_every=none'; do echo "$v: $(%fsdpc compile -o p -s "$v" %s 2>&1 | grep -E '^[ew]')"; done
# A metric that nothing evaluates is named; `--eval-only` evaluates without eval_every.
==== m.fsd
module Net { e : Embedding(256, 8); head : Linear(8, 256); forward(x) = head(e(x)) }
model = Net
data  { train = text("t"); length = 4 }
train { loss = cross_entropy(model(inputs), targets); metric = accuracy(model(inputs), targets); batch = 4; steps = 1 }
==== out
data.val=none: warning[W0302]: no data.val: metric has no effect
data.val=text("v"): 
train.metric=none: 
train.eval_every=none: warning[W0302]: no data.val: metric has no effect
