# RUN: for s in 'layout = param; "o.weight" = split(dp, axis = 1)' '"o.weight" = split(dp, axis = -1)' 'layout = param; "o.bias" = split(dp, axis = 1)' 'layout = param; "o.weight" = replicate; "o.weight" = split(dp, axis = 0)' 'layout = param; replicate_below = 100; "e.weight" = split(dp, axis = 1)' 'layout = param; "o.weight" = split(rep, axis = 1)'; do { cat base; echo 'shard { mesh = (dp = 4)'; echo "$s }"; } > n.fsd; %fsdpc dump --stage=model n.fsd 2>&1 | grep -E '^error|^graph|  = |^note|^help' ; done; true
# A parameter is cut along an axis other than the first where the ranks share that evenly, and where it is cut at all.
==== base
module Net {
  e : Embedding(8, 6)
  o : Linear(6, 8, bias = true)
  forward(ids) = o(e(ids))
}
model = Net
data  { train = synthetic_tokens(vocab = 8); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 24; steps = 2; optimizer = sgd(lr = 0.1) }
==== out
error[E0318]: split(dp, axis = 1): 6 is not divisible by the 4 ranks that share it out
   = help: only axis 0 can have any size
note: `o.weight` is f32[8, 6]
error[E0318]: split(dp, axis = -1) needs layout = param: a flat unit is cut without regard to axes
   = help: write layout = param in section shard
error[E0323]: split(dp, axis = 1): `o.bias` has no such axis
   = help: write a path that matches only parameters with such an axis
note: `o.bias` is f32[8]
error[E0318]: split(dp, axis = 0): replicate leaves `o.weight` whole on every rank
note: `o.weight` is f32[8, 6]
error[E0318]: split(dp, axis = 1): replicate_below leaves `e.weight` whole on every rank
note: `e.weight` is f32[8, 6]
error[E0313]: `over` of `split` cannot be `rep`
   = help: known names: dp
