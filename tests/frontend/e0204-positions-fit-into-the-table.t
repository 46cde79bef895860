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
error[E0204]: [S, D] has 4 entries along axis 0, too few for `gather`: S = 4 (line 1), D = 6 (line 1)
 --> m.fsd:7:28
  |
7 |     return head(wte(ids) + wpe(iota(T)))
  |                            ^^^^^^^^^^^^
  |
  = help: ids from 0 to 3 have an entry, but these are 0 to 7: clamp(ids, 0, n - 1) limits them
note: in Embedding.forward
 --> std.fsd:9:18
  |
9 |   forward(ids) = gather(weight, ids, padding = padding)
  |                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

==== exit 1
