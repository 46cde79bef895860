# RUN: for d in '"fc.*" = replicate; "fc.*" = gather(bf16)' '"fc.0.*" = replicate; "fc.*" = gather(bf16)' '"fc.*" = gather(bf16); "fc.*" = gather(f16)' '"fc.0" = unit; "fc.0" = join("fc.1")' '"fc.0" = recompute; "fc.0" = unit; "fc.0" = reshard(false)'; do sed "s/SAYS/$d/" net.fsd > m.fsd; %fsdpc compile -n 2 m.fsd -o p 2>&1 | grep '^[ew]'; echo "$?"; done
# Each word may be given once for a path; replicate may be combined with gather, which then has no effect.
==== net.fsd
module Net { fc : Linear(8, 8)[2]
  forward(x) { for layer in fc { x = tanh(layer(x)) }
    return x } }
model = Net
data  { train = synthetic(x = [8], y = [8], samples = 64) }
train { loss = mse(model(x), y); batch = 8; steps = 1; optimizer = adamw() }
shard { unit = Linear; SAYS }
==== out
warning[W0302]: replicate leaves these parameters whole: gather has no effect
0
1
error[E0304]: path `fc.*` is given twice
1
error[E0304]: path `fc.0` is given twice
1
warning[W0302]: recompute has no effect on these modules: all that backward reads of them is kept anyway
0
