# RUN: for o in "-s shard.gather=f8e4m3" "-s shard.gather=f8e4m3 -n 1" "-s shard.gather=f8e4m3 -s shard.replicate_below=9" "-s shard.gather=bf16 -s shard.replicate_below=70" "-s shard.gather=f8e4m3 -s shard.replicate_below=70"; do echo "$o: $(%fsdpc compile $o net.fsd -o p 2>&1 | grep warning)"; done
# If no parameter is gathered in the dtype of shard.gather, the compiler warns; one rank gathers nothing anyway.
==== net.fsd
module Net { fc : Linear(8, 8)[2]; scale : param[8] = ones
  forward(x) { for layer in fc { x = relu(layer(x)) }
    return x * scale } }
model = Net
data  { train = synthetic(x = [8], y = [8], samples = 64) }
train { loss = mse(model(x), y); batch = 8; steps = 1; optimizer = adamw() }
shard { mesh = (dp = 2); unit = Linear }
==== out
-s shard.gather=f8e4m3: 
-s shard.gather=f8e4m3 -n 1: 
-s shard.gather=f8e4m3 -s shard.replicate_below=9: 
-s shard.gather=bf16 -s shard.replicate_below=70: warning[W0302]: no sharded parameter is gathered in bf16: gather has no effect
-s shard.gather=f8e4m3 -s shard.replicate_below=70: warning[W0302]: no sharded parameter is gathered in f8e4m3: gather has no effect
