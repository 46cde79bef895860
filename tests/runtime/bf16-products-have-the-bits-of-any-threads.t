# RUN: seq 2000 > t.txt; %fsdpc compile -q net.fsd -o p
# RUN: for isa in ALL AVX512_CORE_BF16 AVX512_CORE AVX2; do export ONEDNN_MAX_CPU_ISA=$isa; for t in 1 2 3; do %fsdp-run --quiet --threads $t --save $isa$t p && cmp $isa$t ${isa}1 && echo $isa $t; done; done
# Products of bf16 have the same bits for any number of threads, whichever instructions oneDNN may use.
# NEEDS: build:device_cpu.so sanitizer:none
# TIME: 120
==== net.fsd
module Net {
  emb  : Embedding(128, 320)
  up   : Linear(320, 1100, bias = true)
  down : Linear(1100, 320)
  head : Linear(320, 128)
  forward(x) {
    y = emb(x)
    return head(y + down(relu(up(y))))
  }
}
model = Net
data { train = text("t.txt"); length = 70 }
train { loss = cross_entropy(model(inputs), targets); batch = 10; steps = 3; optimizer = adamw(lr = 0.01); precision = bf16 }
==== out
ALL 1
ALL 2
ALL 3
AVX512_CORE_BF16 1
AVX512_CORE_BF16 2
AVX512_CORE_BF16 3
AVX512_CORE 1
AVX512_CORE 2
AVX512_CORE 3
AVX2 1
AVX2 2
AVX2 3
