# RUN: seq 300 >t.txt; %fsdpc compile -q net.fsd -o %t/p.bin -n 1; for i in $(seq 40 160); do FSDP_EMULATE_FAIL=$i %build/emulated/run/fsdp-run --device cuda --transport local --quiet %t/p.bin 2>&1 | grep -A1 'the arena:' || true; done | sort -u
# An arena that fails for a reason other than its size is reported with the runtime's words and name, without advice that does not help.
# NEEDS: build:emulated/run/transport_nccl.so sanitizer:none
# TIME: 60
==== net.fsd
module Net {
  emb : Embedding(128, 24)
  out : Linear(24, 128)
  forward(x) = out(emb(x))
}
model = Net
data { train = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 1; optimizer = adamw(lr = 0.01); eval_every = none }
==== out
error: the arena: an error (cudaErrorInvalidResourceHandle)
