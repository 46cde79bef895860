# RUN: for d in '"fc" = reshard(false)' '"fc.2" = reshard(true)' '"out" = reshard(false)' '"fc.1" = reshard(2)' 'strategy = grads; "fc.1" = reshard(true)'; do sed "s/SETTING/$d/" net.fsd > m.fsd; %fsdpc dump --stage=wrap m.fsd 2>&1 | grep "^[ew][ra]"; done; true
# reshard(..) is about units of strategy full; where it has no effect, the compiler says so.
==== net.fsd
module Net { fc : Linear(8, 8)[2]
  out : Out
  forward(x) { for layer in fc { x = relu(layer(x)) }
    return out(x) } }
module Out { w : param[8] = ones; forward(x) = x * w }
model = Net
data  { train = synthetic(x = [8], y = [8], samples = 64) }
train { loss = mse(model(x), y); batch = 8; steps = 1; optimizer = adamw() }
shard { mesh = (dp = 4); unit = Linear; SETTING }
==== out
error[E0403]: reshard "fc": an array of modules has no forward of its own
error[E0402]: reshard "fc.2": no module of that path; did you mean "fc.0"?
warning[W0302]: reshard "out" has no effect: it names no unit of its own
error[E0310]: `after` of `reshard` takes true or false, this is an integer
error[E0318]: strategy = grads: reshard has no effect
