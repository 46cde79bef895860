# RUN: %fsdpc dump --stage=model %s
# Samples cannot be indexed, moved, concatenated or summed over by a product.
==== m.fsd
config { D = 6; V = 11; H = 2; h = 3 }
module Net {
  wte : Embedding(V, D)
  head : Linear(D, V)
  forward(ids: [B, T]) {
    x = wte(ids)
    a = x[0]
    b = x[1:]
    c = transpose(x, [1, 0, 2])
    d = stack(x, x, axis = 0)
    e = matmul(head.weight, ids as [B * T // 8, 8])
    return head(x)
  }
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets); batch = 4 }
==== err
warning[W0301]: config name `H` is never used
 --> m.fsd:1:25
  |
1 | config { D = 6; V = 11; H = 2; h = 3 }
  |                         ^

warning[W0301]: config name `h` is never used
 --> m.fsd:1:32
  |
1 | config { D = 6; V = 11; H = 2; h = 3 }
  |                                ^

error[E0208]: a single sample of the batch would depend on the number of ranks
 --> m.fsd:7:11
  |
7 |     a = x[0]
  |           ^
  |
  = help: write `:` for the first axis, as in x[:, 1:]

error[E0208]: a part of the batch would depend on the number of ranks
 --> m.fsd:8:9
  |
8 |     b = x[1:]
  |         ^^^^^
  |
  = help: write `:` for the first axis, as in x[:, 1:]

error[E0208]: the batch axis must stay the first axis
 --> m.fsd:9:9
  |
9 |     c = transpose(x, [1, 0, 2])
  |         ^^^^^^^^^^^^^^^^^^^^^^^
  |
  = help: keep the first axis where it is

error[E0208]: the batch axis must stay the first axis
  --> m.fsd:10:9
   |
10 |     d = stack(x, x, axis = 0)
   |         ^^^^^^^^^^^^^^^^^^^^^
   |
   = help: stack along a later axis

error[E0208]: a sum over the samples of a batch would depend on the number of ranks
  --> m.fsd:11:9
   |
11 |     e = matmul(head.weight, ids as [B * T // 8, 8])
   |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
   |
   = help: give both operands a leading batch axis

==== exit 1
