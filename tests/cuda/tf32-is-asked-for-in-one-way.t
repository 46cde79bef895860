# RUN: cp %fsdp-run %build/device_cpu.so %t && cp %build/tests/modules/device_cuda_emulated.so %t/device_cuda.so && seq 300 >t.txt && %fsdpc compile -q net.fsd -o %t/plan.bin -n 1
# RUN: for e in NVIDIA_TF32_OVERRIDE=0 FSDP_CUDA_TF32=1 "NVIDIA_TF32_OVERRIDE=0 FSDP_CUDA_TF32=1" NVIDIA_TF32_OVERRIDE=1 "NVIDIA_TF32_OVERRIDE=1 FSDP_CUDA_TF32=1"; do echo "$e"; env $e %t/fsdp-run --quiet --device cuda %t/plan.bin 2>&1 || echo "exit $?"; done
# A variable that changes TF32 for all programs says the same as FSDP_CUDA_TF32, or nothing runs.
# NEEDS: build:device_cpu.so build:tests/modules/device_cuda_emulated.so
# TIME: 120
==== net.fsd
module Net {
  emb : Embedding(128, 24)
  out : Linear(24, 128)
  forward(x) = out(emb(x))
}
model = Net
data { train = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 8; steps = 2; optimizer = adamw(lr = 0.01); eval_every = none }
==== out
NVIDIA_TF32_OVERRIDE=0
FSDP_CUDA_TF32=1
NVIDIA_TF32_OVERRIDE=0 FSDP_CUDA_TF32=1
error: FSDP_CUDA_TF32=1, but NVIDIA_TF32_OVERRIDE=0 forbids it: leave one of them unset
exit 2
NVIDIA_TF32_OVERRIDE=1
error: NVIDIA_TF32_OVERRIDE=1: leave it unset; FSDP_CUDA_TF32=1 asks for TF32
exit 2
NVIDIA_TF32_OVERRIDE=1 FSDP_CUDA_TF32=1
error: NVIDIA_TF32_OVERRIDE=1: leave it unset; FSDP_CUDA_TF32=1 asks for TF32
exit 2
