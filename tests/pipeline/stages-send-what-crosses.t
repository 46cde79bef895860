# RUN: %python %root/tests/pipeline/traffic.py %fsdpc %s
# S stages send (S - 1) M messages each way, of n bytes, of n / tp where rows are cut. Each unit is gathered for forward and
# again for backward of each micro-batch, with hold and reshard = false once a step; its gradients are reduced M times, with
# accumulate = local once. Here n = 4 samples * 8 * 16 * 4 bytes / dp, and M = 4.
==== net.fsd
config { D = 16; T = 8 }
module Block {
  norm : LayerNorm(D)
  up : Linear(D, 4 * D)
  down : Linear(4 * D, D)
  forward(x: [B, T, D]) { return x + down(gelu(up(norm(x)))) }
}
module Net {
  h : Block[8]
  forward(x: [B, T, D]) { for block in h { x = block(x) }; return x }
}
model = Net
data { train = synthetic(x = [T, D], y = [T, D]) }
train { loss = mse(model(x), y); batch = 16; accumulate = 4; steps = 1; optimizer = sgd(lr = 0.1) }
shard { unit = Block }
==== out
pp=2,dp=2 
  sends 4 forward, 4 back, of 1024 bytes; gathers 8 x 8 units; reduces 4 x 8 units
pp=4,dp=2 
  sends 12 forward, 12 back, of 1024 bytes; gathers 8 x 8 units; reduces 4 x 8 units
pp=3,dp=2 pipeline=gpipe
  sends 8 forward, 8 back, of 1024 bytes; gathers 8 x 8 units; reduces 4 x 8 units
pp=2,dp=2 pipeline=interleaved stages=4
  sends 12 forward, 12 back, of 1024 bytes; gathers 8 x 8 units; reduces 4 x 8 units
pp=2,dp=2 precision=bf16
  sends 4 forward, 4 back, of 512 bytes; gathers 8 x 8 units; reduces 4 x 8 units
pp=2,tp=2 
  sends 4 forward, 4 back, of 1024 bytes; gathers none; reduces none
pp=2,dp=2,tp=2 rows=false
  sends 4 forward, 4 back, of 1024 bytes; gathers 8 x 8 units; reduces 4 x 8 units
pp=2,dp=2,tp=2 pipeline=interleaved stages=4
  sends 12 forward, 12 back, of 512 bytes; gathers 8 x 8 units; reduces 4 x 8 units
pp=2,dp=2 hold=true reshard=false
  sends 4 forward, 4 back, of 1024 bytes; gathers 1 x 8 units; reduces 4 x 8 units
pp=4,dp=2 hold=true reshard=false
  sends 12 forward, 12 back, of 1024 bytes; gathers 1 x 8 units; reduces 4 x 8 units
pp=2,dp=2 strategy=grads hold=true reshard=false
  sends 4 forward, 4 back, of 1024 bytes; gathers 1 x 8 units; reduces 4 x 8 units
pp=2,dp=2 accumulate=local
  sends 4 forward, 4 back, of 1024 bytes; gathers 8 x 8 units; reduces 1 x 8 units
pp=2,dp=2 hold=true reshard=false accumulate=local
  sends 4 forward, 4 back, of 1024 bytes; gathers 1 x 8 units; reduces 1 x 8 units
pp=2,dp=2 pipeline=interleaved stages=4 hold=true reshard=false accumulate=local
  sends 12 forward, 12 back, of 1024 bytes; gathers 1 x 8 units; reduces 1 x 8 units
pp=2,dp=4 reshard=2
  sends 4 forward, 4 back, of 512 bytes; gathers 1 x 4 units, 4 x 4 units, of parts 4 x 4 units, 7 x 4 units; reduces 4 x 8 units
