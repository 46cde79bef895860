# RUN: seq 900 > t.txt; %fsdpc compile -q net.fsd -o p; export FSDP_EMULATE_GPUS=1 FSDP_CUDA_ATTENTION=onepass; for stuck in A=1 FSDP_EMULATE_STUCK=4; do env $stuck %build/emulated/run/fsdp-run -q --device cuda --save w p; echo "exit $?"; rm -f w; done
# A block that waits in vain for another ends the run as a failed rank, not as a loss that is not finite.
# NEEDS: build:emulated/run/device_cuda.so sanitizer:none
==== net.fsd
module Net {
  emb : Embedding(128, 64)
  q : Linear(64, 64)
  out : Linear(64, 128)
  forward(ids: [B, T]) {
    x = q(emb(ids)) as [B, T, 1, 64]
    return out(attention(x, x, x, causal = true) as [B, T, 64])
  }
}
model = Net
data { train = text("t.txt"); length = 140 }
train { loss = cross_entropy(model(inputs), targets); batch = 2; steps = 2; optimizer = sgd(lr = 0.1); precision = bf16(master = f32) }
==== out
exit 0
exit 4
==== err
error: attention_grad: a block of its kernel waited in vain for another block (tile 1, keys 0)
help: start the run again; if this happens again, set FSDP_CUDA_ATTENTION=own
