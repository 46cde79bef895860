# RUN: %fsdpc dump --stage=model %s
# A file that is no NumPy array is refused.
==== m.fsd
module Net {
  fc : Linear(4, 3)
  forward(x) = fc(x)
}
model = Net
data { train = npy(x = "m.fsd", y = "m.fsd") }
train { loss = cross_entropy(model(x), y) }
==== err
error[E0316]: cannot use m.fsd: it is not a NumPy file
 --> m.fsd:6:24
  |
6 | data { train = npy(x = "m.fsd", y = "m.fsd") }
  |                        ^^^^^^^

error[E0316]: cannot use m.fsd: it is not a NumPy file
 --> m.fsd:6:37
  |
6 | data { train = npy(x = "m.fsd", y = "m.fsd") }
  |                                     ^^^^^^^

==== exit 3
