# RUN: seq 900 > t.txt; %fsdpc compile -q net.fsd -o p; run() { env "$@" FSDP_EMULATE_GPUS=1 %build/emulated/run/fsdp-run -q --device cuda --log l p 2>e && sed -nE 's/.*"step":1,"loss":([0-9.]{6}).*/\1/p' l || cat e; }; for c in 75 80 89 90 100; do echo "$c: $(run FSDP_EMULATE_CAPABILITY=$c)"; done; for c in 80 90 120; do for s in FSDP_CUDA_EARLY=1 FSDP_CUDA_ATTENTION=onepass; do echo "$c $s: $(run FSDP_EMULATE_CAPABILITY=$c $s)"; done; done
# RUN: for c in 80 90; do rm -f plan.bin.tuned; FSDP_EMULATE_CAPABILITY=$c %python %root/tests/cuda/attended.py %fsdpc %fsdp-run %build . D=64 H=1 train.batch=1 auto:quick; done
# A GPU without wgmma and griddepcontrol runs everything else; one that is too old is refused by name.
# NEEDS: build:emulated/run/device_cuda.so sanitizer:none
# TIME: 120
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
75: error: device cuda: GPU 0, emulated GPU, has compute capability 7.5; kernels need 8.0 or newer (A100, RTX 30 and later): use another GPU, or --device cpu
80: 4.8520
89: 4.8520
90: 4.8520
100: 4.8520
80 FSDP_CUDA_EARLY=1: error: FSDP_CUDA_EARLY=1: kernels that start early need compute capability 9.0 or newer, and here they run as on 8.0: leave it unset
80 FSDP_CUDA_ATTENTION=onepass: error: FSDP_CUDA_ATTENTION=onepass: its kernel needs a GPU of compute capability 9.0 (Hopper), and here kernels run as on 8.0: choose own, cudnn or auto
90 FSDP_CUDA_EARLY=1: 4.8520
90 FSDP_CUDA_ATTENTION=onepass: 4.8520
120 FSDP_CUDA_EARLY=1: error: FSDP_CUDA_EARLY=1: kernels that start early need compute capability 9.0 or newer, and here they run as on 8.0: leave it unset
120 FSDP_CUDA_ATTENTION=onepass: error: FSDP_CUDA_ATTENTION=onepass: its kernel needs a GPU of compute capability 9.0 (Hopper), and here kernels run as on 8.0: choose own, cudnn or auto
auto:quick: the losses of the own kernels
0 forms are kept
auto:quick: the losses of the own kernels
    a form is kept in one pass
1 forms are kept
