# RUN: %fsdpc dump --stage=model %s
# A table with fewer rows than positions is an error, not a read behind it.
==== m.fsd
config { D = 6; V = 11; S = 4 }
module Net {
  wte : Embedding(V, D)
  head : Linear(D, V)
  wpe : Embedding(S, D)
  forward(ids: [B, T]) {
    return head(wte(ids) + wpe(iota(T)))
  }
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets) }
==== err
error[E0204]: a table [S, D] has fewer rows than iota [T] counts: S = 4 (line 1)
 --> m.fsd:7:28
  |
7 |     return head(wte(ids) + wpe(iota(T)))
  |                            ^^^^^^^^^^^^
  |
  = help: it has 4 rows, but the positions are 0 to 7
note: in Embedding.forward
 --> std.fsd:9:18
  |
9 |   forward(ids) = gather(weight, ids)
  |                  ^^^^^^^^^^^^^^^^^^^

==== exit 1
