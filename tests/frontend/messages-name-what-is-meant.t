# RUN: %fsdpc dump --stage=model m.fsd 2>&1 | grep -E '^error|-->|help:'; %fsdpc dump --stage=config ok.fsd -s train.optimizer=adamx 2>&1 | grep -E '^error|help:'; %fsdpc dump --stage=config ok.fsd --mesh '' 2>&1 | grep -E '^error|help:'; %fsdpc compile ok.fsd -o %t/p 2>&1 | grep -E '^error|help:'; true
# Errors of everyday mistakes name what is meant, once.
==== m.fsd
module Net {
  w : Embedding(4, 6)
  forward(ids) {
    x = w(ids)
    none_at_all = []
    a = none_at_all[0]
    b = round(x)
    c = x + zeros
    return linear(x, w.weight)
  }
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets) }
==== ok.fsd
module Net {
  w : Embedding(4, 6)
  forward(ids) = linear(w(ids), w.weight)
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets); btach = 4; steps = 1 }
==== out
error[E0209]: `none_at_all` is empty
 --> m.fsd:6:21
error[E0310]: `x` of `round` must be a number, not a tensor
 --> m.fsd:7:15
error[E0202]: `+` takes two tensors or a tensor and a number; `zeros` is a call
 --> m.fsd:8:13
error[E0301]: section train has no key `btach`
  = help: did you mean `batch`?
error[E0313]: train.optimizer cannot be `adamx`
  = help: did you mean `adam`?
error[E0301]: section train has no key `btach`
  = help: did you mean `batch`?
error[E0406]: --mesh names no axis
  = help: for example --mesh dp=4
error[E0301]: section train has no key `btach`
  = help: did you mean `batch`?
