# RUN: %fsdpc compile -q net.fsd -o free && OMP_NUM_THREADS=1 %fsdp-run --quiet --threads 1 --log free.jsonl --save a free
# RUN: %fsdpc compile -q net.fsd -o filed -s 'shard.offload=(states = cpu, params = cpu, grads = cpu, path = ".")'
# RUN: %fsdpc dump --format=json filed | %python -c 'import json, sys; p = json.load(sys.stdin)["predicted_peak_bytes"]; c = p["host"]["categories"]; print("states of 3 times the limit:", c["parameters"] + c["optimizer"] >= 3 * 48000 * 1024, "on the device:", p["cpu"] < 9 << 20)'
# RUN: ulimit -s 1024; ulimit -d 48000; OMP_NUM_THREADS=1 OMP_STACKSIZE=512k %fsdp-run --quiet --threads 1 --overlap off --log filed.jsonl --save b filed; for f in free filed; do grep -o '"loss": *[0-9.e-]*' $f.jsonl > $f.loss; done; cmp a b && cmp free.loss filed.loss && wc -l < filed.loss
# RUN: ulimit -s 1024; ulimit -d 48000; OMP_NUM_THREADS=1 OMP_STACKSIZE=512k %fsdp-run --quiet --threads 1 --overlap off free 2>&1 | head -1 | grep -o 'Cannot allocate memory'; ls | grep offload || echo nothing left
# A model whose weights and moments are three times the memory (the limit on data: private memory, not pages of the file) trains with the bits of a run without limit; without a file it does not start. Nothing of the file is left.
# TIME: 120
# NEEDS: build:device_cpu.so sanitizer:none
==== net.fsd
module Net {
  emb  : Embedding(64, 512)
  fc   : Linear(512, 512)[48]
  head : Linear(512, 64)
  forward(ids: [B, T]) {
    x = emb(ids)
    for layer in fc { x = x + relu(layer(x)) }
    return head(x)
  }
}
model = Net
data  { train = synthetic_tokens(vocab = 64); length = 8 }
train { loss = cross_entropy(model(inputs), targets); batch = 2; steps = 3; clip = 1.0 }
shard { unit = Linear }
==== out
states of 3 times the limit: True on the device: True
3
Cannot allocate memory
nothing left
