# RUN: %fsdpc dump --stage=model %s
# Indices and ranges lie inside of their axes.
==== m.fsd
config { D = 6; V = 11; H = 2; h = 3 }
module Net {
  wte : Embedding(V, D)
  head : Linear(D, V)
  forward(ids: [B, T]) {
    x = wte(ids)
    a = x[:, 8]
    b = x[:, 5:3]
    c = x[:, :, :, 0]
    d = x[:, :9]
    e = x[:, 1.5]
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

error[E0204]: index 8 is out of range for an axis of size 8
 --> m.fsd:7:14
  |
7 |     a = x[:, 8]
  |              ^

error[E0204]: this range is empty
 --> m.fsd:8:14
  |
8 |     b = x[:, 5:3]
  |              ^^^

error[E0204]: 4 indices are too many for [B, T, D]
 --> m.fsd:9:11
  |
9 |     c = x[:, :, :, 0]
  |           ^^^^^^^^^^

error[E0204]: index 9 is out of range for an axis of size 8
  --> m.fsd:10:15
   |
10 |     d = x[:, :9]
   |               ^

error[E0310]: an index must be an integer, not a number
  --> m.fsd:11:14
   |
11 |     e = x[:, 1.5]
   |              ^^^

==== exit 1
