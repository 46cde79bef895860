# RUN: cp %fsdp-run %build/device_cpu.so %t && cp %build/tests/modules/device_cuda_emulated.so %t/device_cuda.so && seq 300 >t.txt && %fsdpc compile -q net.fsd -o %t/plan.bin -n 2 && FSDP_CUDA_PROFILE=%t/profile %t/fsdp-run --device cuda --quiet %t/plan.bin && head -1 %t/profile | tr '\t' ' ' && awk -F'\t' 'NR > 1 && ($5 != 4 || NF != 10 || $6 < $7 || seen[$1]++)' %t/profile && cut -f3,10 %t/profile | grep -e embedding -e adam -e norm; FSDP_CUDA_PROFILE=/nowhere/p %t/fsdp-run --device cuda --quiet %t/plan.bin
# Each instruction with a kernel has its line: times of all calls but the first two, place and work.
# NEEDS: build:device_cpu.so build:tests/modules/device_cuda_emulated.so
==== net.fsd
module Net {
  emb : Embedding(128, 24)
  out : Linear(24, 128)
  forward(x) = out(emb(x))
}
model = Net
data { train = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 8; steps = 6; optimizer = adamw(lr = 0.01); eval_every = none }
==== out
instruction program op stream calls median_us least_us flops bytes path
embedding	emb
embedding_grad	emb
grad_norm	
adam	
==== err
error: FSDP_CUDA_PROFILE=/nowhere/p: No such file or directory
==== exit 2
