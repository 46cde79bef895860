# RUN: %fsdpc dump --stage=model %s
# Rows of a table are named by integers; numbers that were computed are refused, with the way to make them ids.
==== m.fsd
config { D = 4; V = 8; seq = 16 }
module Net {
  wte : Embedding(V, D)
  wpe : Embedding(seq + 2, D)
  forward(ids: [B, T]) {
    x = wpe(iota(T) / 2)
    return linear(wte(ids * 0.5) + x, wte.weight)
  }
}
model = Net
data { train = synthetic_tokens(vocab = V); length = 4 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 2 }
==== err
error[E0204]: `gather` takes integers
 --> m.fsd:6:9
  |
6 |     x = wpe(iota(T) / 2)
  |         ^^^^^^^^^^^^^^^^
  |
  = help: these can be fractions: write gather(table, int(ids)); an id that the table does not have ends the run
note: in Embedding.forward
 --> std.fsd:9:33
  |
9 |   forward(ids) = gather(weight, ids, padding = padding)
  |                                 ^^^

error[E0204]: `gather` takes integers
 --> m.fsd:7:19
  |
7 |     return linear(wte(ids * 0.5) + x, wte.weight)
  |                   ^^^^^^^^^^^^^^
  |
  = help: these can be fractions: write gather(table, int(ids)); an id that the table does not have ends the run
note: in Embedding.forward
 --> std.fsd:9:33
  |
9 |   forward(ids) = gather(weight, ids, padding = padding)
  |                                 ^^^

==== exit 1
