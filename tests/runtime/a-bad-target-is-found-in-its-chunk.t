# RUN: for c in 1 5; do %fsdpc compile -q net.fsd -o p -s train.loss_chunks=$c && %fsdp-run -q p 2>&1 | sed -n 's/^error.*: \(target .*\)/\1/p; s/^note: //p'; done; true
# A target that is no class is named by its sample and position, also where its row lies in a later chunk of logits.
# NEEDS: build:device_cpu.so
==== net.fsd
module Net {
  emb  : Embedding(37, 8)
  head : Linear(8, 37)
  forward(x) = head(emb(x))
}
model = Net
data  { train = synthetic_tokens(vocab = 37); length = 12; order = sequential }
train { loss = cross_entropy(model(inputs), int(where(inputs == 3, 40, targets))); batch = 4; steps = 4 }
==== out
target 40 at position 21 is out of range: it must be from 0 to 36
it is of sample 1 of data.train, from 0
target 40 at position 21 is out of range: it must be from 0 to 36
it is of sample 1 of data.train, from 0
