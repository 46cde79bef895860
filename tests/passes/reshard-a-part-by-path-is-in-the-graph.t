# RUN: %fsdpc dump --stage=reshard %s >g 2>&1; %fsdpc opt --pass= g | cmp - g && grep -o '^  *unit .*\|^unit .*\|reshard = [^,]*\|by_path = [^)]*)\|^ *mesh .*' g
# A unit of which a path says K is `part`, on a mesh that K cuts for such units alone.
==== net.fsd
module Net { fc : Linear(4, 4)[3]
  forward(x) { for layer in fc { x = relu(layer(x)) }
    return x } }
model = Net
data  { train = synthetic(x = [4], y = [4], samples = 64) }
train { loss = mse(model(x), y); batch = 8; steps = 1; optimizer = sgd(lr = 0.1) }
shard { mesh = (rep = 2, dp = 4); unit = Linear; "fc.1" = reshard(2); "fc.2" = reshard(false) }
==== out
mesh rep = 2, dp = 2, reshard_group = 2
reshard = true
by_path = list("fc.1" reshard part 2 1:7:50-7:56, "fc.2" reshard kept 1:7:71-7:77)
unit 0 "fc.0" Linear modules 2 groups below 16 owned 16
unit 1 "fc.1" Linear modules 3 groups below 16 owned 16 part
unit 2 "fc.2" Linear modules 4 groups below 16 owned 16 kept
