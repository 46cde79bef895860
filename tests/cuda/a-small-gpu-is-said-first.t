# RUN: cp %fsdp-run %build/device_cpu.so %t && cp %build/tests/modules/device_cuda_emulated.so %t/device_cuda.so && %fsdpc compile -q net.fsd -o %t/plan.bin -n 2 && ! FSDP_EMULATE_MEMORY=50000000 %t/fsdp-run --device cuda %t/plan.bin
# A GPU that cannot hold the ranks' arenas is said with the numbers, before data are looked for.
# NEEDS: build:device_cpu.so build:tests/modules/device_cuda_emulated.so
==== net.fsd
model = Linear(24, 40)
data { train = npy(x = "nowhere.npy", y = "nowhere.npy") }
train { loss = cross_entropy(model(x), y); batch = 8; steps = 4; optimizer = sgd(lr = 0.01); eval_every = none }
==== err
error[E0110]: cannot read nowhere.npy: No such file or directory
 --> net.fsd:2:24
  |
2 | data { train = npy(x = "nowhere.npy", y = "nowhere.npy") }
  |                        ^^^^^^^^^^^^^

error[E0110]: cannot read nowhere.npy: No such file or directory
 --> net.fsd:2:43
  |
2 | data { train = npy(x = "nowhere.npy", y = "nowhere.npy") }
  |                                           ^^^^^^^^^^^^^

==== exit 2
