# RUN: %fsdpc dump --stage=model %s
# An order names each axis once; sizes of parts add up.
==== m.fsd
config { D = 6; V = 11; H = 2; h = 3 }
module Net {
  wte : Embedding(V, D)
  head : Linear(D, V)
  forward(ids: [B, T]) {
    x = wte(ids)
    a = transpose(x, [0, 2])
    b = transpose(x, [0, 1, 1])
    c = split(x, axis = 2, sizes = [2, 3])
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

error[E0208]: these are not a permutation of the axes of [B, T, D]
 --> m.fsd:7:9
  |
7 |     a = transpose(x, [0, 2])
  |         ^^^^^^^^^^^^^^^^^^^^
  |
  = help: for example transpose(x, [0, 2, 1])

error[E0208]: these are not a permutation of the axes of [B, T, D]
 --> m.fsd:8:9
  |
8 |     b = transpose(x, [0, 1, 1])
  |         ^^^^^^^^^^^^^^^^^^^^^^^
  |
  = help: for example transpose(x, [0, 2, 1])

error[E0208]: `sizes` of `split` add up to 5, but axis 2 of [B, T, D] has size 6
 --> m.fsd:9:36
  |
9 |     c = split(x, axis = 2, sizes = [2, 3])
  |                                    ^^^^^^

==== exit 1
