# RUN: %fsdpc dump --stage=model %s 2>&1 | grep -E '^error|^ -->'
# An eps below zero could make a variance negative.
==== m.fsd
module Net {
  fc : Linear(3, 5)
  n : LayerNorm(5, eps = -1e-5)
  w : param[5] = ones
  forward(ids: [B, T]) {
    x = fc(gather(fc.weight, ids))
    y = rms_norm(x, w, eps = -1)
    return n(x)
  }
}
model = Net
data { train = text("t.txt"); length = 3 }
train { loss = cross_entropy(model(inputs), targets) }
==== out
error[E0311]: `eps` of `rms_norm` must be at least 0, not -1
 --> m.fsd:7:30
error[E0311]: `eps` of `layer_norm` must be at least 0, not -1e-05
==== exit 1
