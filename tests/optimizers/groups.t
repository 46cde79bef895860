# RUN: for n in 1 3; do for o in 'adamw(lr = 1e-3)' 'sgd(lr = 0.1, momentum = 0.9, weight_decay = 0.01)' 'lion(lr = 1e-3, weight_decay = 0.1)'; do %python %root/tests/optimizers/replay.py %fsdpc %fsdp-run -n $n --plain h.0.norm.weight,h.0.norm.bias,h.1.norm.weight,h.1.norm.bias --group '*.a.*:3e-3:' --group 'out.*:1e-4:0.5' --group 'h.1.*::0' %root/tests/optimizers/groups.fsd "$o" 'train.schedule=cosine(warmup = 2)'; done; done
# Parameters of a group move at their own rate and decay, in shards that cut them; frozen ones stay.
# NEEDS: sanitizer:none build:device_cpu.so
==== out
adamw on 1 ranks: 4 steps as published
sgd on 1 ranks: 4 steps as published
lion on 1 ranks: 4 steps as published
adamw on 3 ranks: 4 steps as published
sgd on 3 ranks: 4 steps as published
lion on 3 ranks: 4 steps as published
