# RUN: %fsdpc compile -n 2 -o p.bin -s shard.strategy=none -s shard.prefetch=3 -s shard.inflight=2 -s shard.accumulate=local -s train.eval_steps=3 tiny.fsd 2>&1 >/dev/null | grep warning
# RUN: %fsdpc compile -n 2 -o p.bin -s shard.strategy=none -s shard.prefetch=0 -s train.accumulate=2 tiny.fsd 2>&1 | grep warning || true
# RUN: %fsdpc compile -n 2 -o p.bin -s shard.prefetch=0 -s shard.prefetch_at=post tiny.fsd 2>&1 | grep warning; %fsdpc compile -n 2 -o p.bin -s shard.unit=root -s shard.inflight=3 -s shard.reshard=false -s shard.reduce_buffers=3 tiny.fsd 2>&1 | grep W0302
# RUN: for mesh in dp=2 tp=2; do %fsdpc compile --mesh $mesh -o p.bin -s shard.unit=root -s shard.gather_again=false tiny.fsd 2>&1 | grep W0302; done; true
# A setting that changes nothing gives a warning, unless it asks for what holds anyway.
==== tiny.fsd
module M {
  e    : Embedding(256, 4)
  out  : Linear(4, 256)
  forward(x) = out(e(x))
}
model = M
data  { train = text("a.txt"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 1 }
shard { unit = Linear }
==== out
warning[W0302]: strategy = none: prefetch has no effect
warning[W0302]: strategy = none: inflight has no effect
warning[W0302]: train.accumulate = 1: accumulate has no effect
warning[W0302]: no train.eval_every: eval_steps has no effect
warning[W0302]: no prefetch in backward: prefetch_at has no effect
warning[W0302]: unit = root: inflight has no effect
warning[W0302]: unit = root, reshard_root = false: reshard has no effect
warning[W0302]: unit = root: reduce_buffers has no effect
warning[W0302]: ranks do not share out the work on a sample: gather_again has no effect
