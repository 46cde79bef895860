# RUN: %fsdpc dump --stage=model %s | grep -E 'program|dropout'
# Dropout with p > 0 is in program train and not in eval; p = 0 is nowhere.
==== m.fsd
config { D = 6; V = 11 }
module Net {
  wte : Embedding(V, D)
  head : Linear(D, V)
  forward(ids: [B, T]) {
    return head(dropout(dropout(wte(ids), 0.25), 0.0))
  }
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets) }
==== out
program train
  #6 %6: f32[1, 8, 6] = dropout(%5, %0) {salt = 0, p = 0.25} !forward - 1:6:25-6:48
program eval
