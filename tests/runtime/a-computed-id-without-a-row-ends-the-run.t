# RUN: %fsdpc compile -q -n 2 net.fsd -o p && %fsdp-run -q --threads 1 --log log --save w.safetensors p 2> err; echo exit $?; sed 's/rank [01]/rank N/' err; grep -c '"event":"step"' log; ls w.safetensors 2> /dev/null || echo nothing saved
# RUN: %fsdpc compile -q -n 2 -s shift=0 net.fsd -o p && %fsdp-run -q --threads 1 p && echo fits
# A computed id that a table has no row for ends the run on all ranks, with op, position and value, before the update.
# NEEDS: build:device_cpu.so
==== net.fsd
config { D = 4; V = 11; shift = 4 }
module Net {
  emb : Embedding(V, D)
  pos : Embedding(9, D)
  head : Linear(D, V)
  forward(ids: [B, T]) = head(emb(ids) + pos(iota(T) + shift * (ids >= 0)))
}
model = Net
data { train = synthetic_tokens(vocab = 11); length = 6 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 3; optimizer = sgd(lr = 0.1) }
==== out
exit 5
error: rank N: pos net.fsd:6:42: embedding #14: embedding: id 9 at position 5 is out of range: it must be from 0 to 8
help: the table has no row for it: give it more rows, correct the data, or clamp the ids
0
nothing saved
fits
