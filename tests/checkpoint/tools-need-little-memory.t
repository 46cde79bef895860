# RUN: seq 300 > t.txt; %fsdpc compile -q net.fsd -n 3 -o p && %fsdp-run -q --threads 1 --steps 0 --checkpoint ck --save w p && test $(du -m ck | tail -1 | cut -f1) -gt 380
# RUN: (ulimit -v 262144; %fsdpc check ck && %fsdpc reshard -q ck -n 8 -o ck8 && %fsdpc reshard -q ck8 -n 1 -o ck1 && %fsdpc convert ck1 -o x && %fsdpc convert ck8 -o y --dtype bf16) && cmp w x && wc -c < y | cut -c1-2 && rm -r ck ck8 ck1 w x y
# A checkpoint of 384 MiB, with a large transposed weight, is checked, written for other ranks and converted in 256 MiB of
# addresses.
# NEEDS: build:device_cpu.so sanitizer:none
# TIME: 120
==== net.fsd
module Net {
  emb : Embedding(256, 65536)
  out : Linear(65536, 256)
  forward(x) = out(emb(x))
}
model = Net
names hf { "out.*" = "out.*^T"; "*" = "*" }
data { train = text("t.txt"); length = 2 }
train { loss = cross_entropy(model(inputs), targets); batch = 6; steps = 1; optimizer = adamw(lr = 0.01) }
==== out
67
