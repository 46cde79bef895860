# RUN: for d in '"fc" = reshard(false)' '"fc.2" = reshard(true)' '"out" = reshard(false)' '"fc.1" = reshard(3)' '"fc.0" = reshard(2); "fc.1" = reshard(2)' 'reshard = false; "fc.*" = reshard(false)' '"fc.0" = reshard(true); "fc.*" = reshard(false)' '"fc.*" = reshard(false); "fc.1" = reshard(2)' 'mesh = (dp = 8); reshard = 2; "fc.1" = reshard(4)' 'mesh = (dp = 8); "fc.0" = reshard(4); "fc.1" = reshard(2)' 'strategy = grads; "fc.1" = reshard(true)'; do sed "s/SETTING/$d/" net.fsd > m.fsd; grep -q 'mesh =' m.fsd || sed -i 's/unit = L/mesh = (dp = 4); &/' m.fsd; %fsdpc dump --stage=reshard m.fsd 2>&1 | grep -E "^[ew][ra]|note:|help:"; done; true
# reshard(..) applies to units of strategy full; where it has no effect, the compiler warns.
==== net.fsd
module Net { fc : Linear(8, 8)[2]
  out : Out
  forward(x) { for layer in fc { x = relu(layer(x)) }
    return out(x) } }
module Out { w : param[8] = ones; forward(x) = x * w }
model = Net
data  { train = synthetic(x = [8], y = [8], samples = 64) }
train { loss = mse(model(x), y); batch = 8; steps = 1; optimizer = adamw() }
shard { unit = Linear; SETTING }
==== out
error[E0403]: reshard "fc": an array of modules has no forward of its own
  = help: name its elements: "fc.*"
error[E0402]: reshard "fc.2": no module of that path; did you mean "fc.0"?
warning[W0302]: reshard "out" has no effect: it names no unit of its own
error[E0318]: reshard(3) must divide dp = 4
warning[W0302]: reshard "fc.*" has no effect: shard.reshard says the same
warning[W0302]: reshard "fc.1" has no effect: "fc.*" before it names the same units
error[E0318]: reshard(4): the ranks are already in groups of 2
  = help: a model can have only one K
note: these groups are requested here
error[E0318]: reshard(2): the ranks are already in groups of 4
  = help: a model can have only one K
note: these groups are requested here
warning[W0302]: strategy = grads: reshard has no effect
