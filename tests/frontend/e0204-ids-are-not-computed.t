# RUN: %fsdpc dump --stage=model %s
# Rows of a table are named by ids as the data has them, and by iota; what is computed of these is a number.
==== m.fsd
config { D = 4; V = 8; seq = 16 }
module Net {
  wte : Embedding(V, D)
  wpe : Embedding(seq + 2, D)
  forward(ids: [B, T]) {
    x = wpe(iota(T) + 2)
    return linear(wte(ids + 1) + x, wte.weight)
  }
}
model = Net
data { train = synthetic_tokens(vocab = V); length = 4 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 2 }
==== err
error[E0204]: `gather` takes only unchanged ids: a field of the batch, iota or topk
 --> m.fsd:6:9
  |
6 |     x = wpe(iota(T) + 2)
  |         ^^^^^^^^^^^^^^^^
  |
  = help: results of arithmetic are f32; to offset positions by 2, take a slice of the table: table[2 : T + 2]
note: in Embedding.forward
 --> std.fsd:9:33
  |
9 |   forward(ids) = gather(weight, ids)
  |                                 ^^^

error[E0204]: `gather` takes only unchanged ids: a field of the batch, iota or topk
 --> m.fsd:7:19
  |
7 |     return linear(wte(ids + 1) + x, wte.weight)
  |                   ^^^^^^^^^^^^
  |
  = help: results of arithmetic are f32; to offset positions by 2, take a slice of the table: table[2 : T + 2]
note: in Embedding.forward
 --> std.fsd:9:33
  |
9 |   forward(ids) = gather(weight, ids)
  |                                 ^^^

==== exit 1
