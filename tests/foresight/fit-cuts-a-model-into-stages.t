# RUN: %fsdpc fit --memory 3500kB --device cpu net.fsd 2>&1 | grep '^smallest\|^least' | tee mesh; %fsdpc compile net.fsd -o %t/p $(sed -n 's/^smallest mesh.* left: //p' mesh) 2>&1 | grep '^  stage\|^per'
# RUN: ! %fsdpc fit --memory 3500kB --device cpu -s shard.unit=root net.fsd 2>&1 | grep '^smallest'
# Where nothing fits and the model has no heads, widths or positions to share out, stages inside a node are tried, with the
# peak that compile predicts. Ranks that hold one unit cannot be stages.
==== net.fsd
config { D = 40000 }
module Layer { norm : LayerNorm(D)
  forward(x: [B, D]) { return x + relu(norm(x)) } }
module Net {
  h : Layer[8]
  forward(x: [B, D]) { for layer in h { x = layer(x) }; return x }
}
model = Net
data { train = synthetic(x = [D], y = [D]) }
train { loss = mse(model(x), y); batch = 2; steps = 1; optimizer = sgd(lr = 0.1) }
shard { mesh = (dp = 2); unit = Layer }
==== out
least peak: peak 4.7 MiB, 1.4 MiB too much: -s shard.recompute=Layer
smallest mesh: 4 ranks, peak 3.2 MiB, 135.2 KiB left: --mesh pp=4,dp=1 -s shard.recompute=Layer -s train.batch=1
  stage 0: 2 units, 160,000 parameters; a rank peaks at 2.9 MiB, sends 156.8 KiB a step
  stage 1: 2 units, 160,000 parameters; a rank peaks at 3.2 MiB, sends 313.1 KiB a step
  stage 2: 2 units, 160,000 parameters; a rank peaks at 3.2 MiB, sends 313.1 KiB a step
  stage 3: 2 units, 160,000 parameters; a rank peaks at 2.7 MiB, sends 156.8 KiB a step
per rank: peak 3.2 MiB on cpu (252 B workspace), 43.5 MiB on cuda (40.3 MiB workspace); sends 313.1 KiB per step
smallest mesh: none fits
