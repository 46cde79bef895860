# RUN: %fsdpc dump --stage=model %s 2>&1 | grep -E 'error|help'; true
# An axis that a reduction has left with one entry is 1 in messages; the others keep their names.
==== m.fsd
config { D = 6 }
module Net {
  fc : Linear(D, D)
  forward(x: [B, T, D]) {
    a = fc(mean(x, axis = -1))
    b = fc(max(x, axis = 1) as [B, 5, D])
    return x + a + b
  }
}
model = Net
data { train = synthetic(x = [4, 6], y = [4, 6]) }
train { loss = mse(model(x), y) }
==== out
error[E0204]: `linear` cannot take [B, T, 1] and [D, D]: D = 6 (line 1)
  = help: w f32[6, 6] has D = 6, x f32[1, 4, 1] has D = 1
error[E0204]: `as` cannot make [B, 5, D] from [B, 1, D]
  = help: [B, 5, D] has 30 elements, [B, 1, D] has 6
