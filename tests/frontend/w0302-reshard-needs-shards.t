# RUN: %fsdpc dump --stage=config %s -n 2 -s shard.reshard_root=true 2>&1 >/dev/null | grep '^[ew]'; true
# RUN: for s in shard.strategy=none shard.strategy=states; do %fsdpc compile -n 2 %s -o p -s shard.hold=true -s train.accumulate=2 -s $s 2>&1 | grep hold; done; true
# What the strategy makes idle is a warning, for gathers of a path as for those of all.
==== m.fsd
module Net { fc : Linear(8, 8)[2]
  forward(x) { for layer in fc { x = relu(layer(x)) }
    return x } }
model = Net
data  { train = synthetic(x = [8], y = [8], samples = 64) }
train { loss = mse(model(x), y); batch = 8; steps = 1; optimizer = adamw() }
shard { strategy = none; unit = Linear; reshard = true; prefetch = 2; gather = bf16; replicate_below = 9
        "fc.0" = reshard(false); "fc.0.*" = replicate; "fc.1.*" = gather(bf16) }
==== out
warning[W0302]: strategy = none: reshard has no effect
warning[W0302]: strategy = none: prefetch has no effect
warning[W0302]: strategy = none: gather has no effect
warning[W0302]: strategy = none: replicate_below has no effect
warning[W0302]: strategy = none: reshard has no effect
warning[W0302]: strategy = none: replicate has no effect
warning[W0302]: strategy = none: gather has no effect
warning[W0302]: strategy = none: reshard_root has no effect
warning[W0302]: strategy = none: hold has no effect
1 | shard.hold=true
warning[W0302]: strategy = states: hold has no effect
1 | shard.hold=true
