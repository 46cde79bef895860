# RUN: cp %fsdp-run %build/device_cpu.so %t && cp %build/tests/modules/device_cuda_emulated.so %t/device_cuda.so && seq 300 >t.txt && %fsdpc compile -q net.fsd -o %t/plan.bin -n 2 && rm t.txt && for m in 60 70; do FSDP_EMULATE_MEMORY=${m}000000 %t/fsdp-run --device cuda %t/plan.bin 2>&1; echo "exit $?"; done
# A GPU that is too small for the ranks' arenas is reported with the numbers before data are opened.
# NEEDS: build:device_cpu.so build:tests/modules/device_cuda_emulated.so
==== net.fsd
module Net {
  emb : Embedding(128, 24)
  out : Linear(24, 128)
  forward(x) = out(emb(x))
}
model = Net
data { train = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 8; steps = 4; optimizer = adamw(lr = 0.01); eval_every = none }
==== out
error: GPU 0 is too small: the plan's arena takes 33632000 bytes (0.03 GiB) for each of the 2 ranks that share it, libraries about 0.00 GiB more; 60000000 bytes (0.06 GiB) of its 0.06 GiB are free
help: workspaces of kernels are 100 % of the peak: more train.accumulate or a smaller train.batch
exit 2
error: cannot open data file t.txt: No such file or directory
help: data paths are relative to the working directory; --data train=PATH names another file
exit 2
