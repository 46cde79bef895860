# RUN: %fsdpc dump --stage=config --accelerate config.yaml net.fsd 2>&- | sed -n '/^config.yaml/,$p'
# Accelerate's enable_fsdp_float8_all_gather is shard.gather; who computes in fp8 says nothing where nobody does.
==== net.fsd
module Net {
  fc : Linear(8, 8)
  forward(x) = fc(x)
}
model = Net
data  { train = synthetic(x = [8], y = 8) }
train { loss = cross_entropy(model(x), y); batch = 48; steps = 4; optimizer = sgd(lr = 0.5) }
==== config.yaml
fp8_config:
  backend: AO
  enable_fsdp_float8_all_gather: true
mixed_precision: bf16
num_processes: 2
==== out
config.yaml
  fp8_config.backend = AO
    has no effect: mixed_precision is not fp8
  fp8_config.enable_fsdp_float8_all_gather = true
    shard.gather = f8e4m3
  mixed_precision = bf16
    train.precision = bf16(reduce = bf16)
  num_processes = 2
    shard.mesh = (dp = 2)
