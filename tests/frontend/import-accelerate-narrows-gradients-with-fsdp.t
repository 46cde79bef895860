# RUN: for type in FSDP MULTI_GPU MULTI_CPU NO; do for precision in bf16 fp16; do printf "distributed_type: $type\nmixed_precision: $precision\n" >a.yaml; echo $type $(%fsdpc dump --stage=config --accelerate a.yaml net.fsd 2>/dev/null | grep '^  precision'); done; done
# Accelerate reduces gradients in 16 bits only with FSDP. With DDP and in one process it uses autocast, and gradients are f32.
==== net.fsd
shard { strategy = full }
==== out
FSDP precision = bf16(master = f32, reduce = bf16) # a.yaml:2
FSDP precision = f16(master = f32, reduce = f16, scale = none) # a.yaml:2
MULTI_GPU precision = bf16(master = f32, reduce = f32) # a.yaml:2
MULTI_GPU precision = f16(master = f32, reduce = f32, scale = none) # a.yaml:2
MULTI_CPU precision = bf16(master = f32, reduce = f32) # a.yaml:2
MULTI_CPU precision = f16(master = f32, reduce = f32, scale = none) # a.yaml:2
NO precision = bf16(master = f32, reduce = f32) # a.yaml:2
NO precision = f16(master = f32, reduce = f32, scale = none) # a.yaml:2
