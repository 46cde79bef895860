# RUN: %fsdpc dump --stage=model %s 2>&1 | grep -E '^error|-->|help:|^    '
# Shapes that do not broadcast are shown by names, with the axis in question.
==== m.fsd
config { D = 6; V = 11; H = 4 }
module Net {
  wte : Embedding(V, D)
  head : Linear(D, V)
  w : param[H] = ones
  forward(ids: [B, T]) {
    x = wte(ids)
    y = x + (x as [B, D, T])
    y = x * (x as [B, T, 2, 3])
    y = w / x
    y = x < w
    y = x ** w
    y = max(x, w)
    y = where(x > 0, x, w)
    y = clamp(x, w, 1)
    return head(x)
  }
}
model = Net
data { train = text("t.txt"); length = 3 }
train { loss = cross_entropy(model(inputs), targets) }
==== out
error[E0204]: `+` cannot take [B, T, D] and [B, D, T]
 --> m.fsd:8:9
  = help: the last axis is D = 6 in one and T = 3 in the other; axes are matched from the last one back and must be equal, or one of them 1
error[E0204]: `*` cannot take [B, T, 2, 3] and [B, T, D]: D = 6 (line 1)
 --> m.fsd:9:9
  = help: the last axis is 3 in one and D = 6 in the other; axes are matched from the last one back and must be equal, or one of them 1
error[E0204]: `/` cannot take [H] and [B, T, D]: H = 4 (line 1), B = 1, T = 3, D = 6 (line 1)
  --> m.fsd:10:9
   = help: the last axis is H = 4 in one and D = 6 in the other; axes are matched from the last one back and must be equal, or one of them 1
error[E0204]: `<` cannot take [B, T, D] and [H]: B = 1, T = 3, D = 6 (line 1), H = 4 (line 1)
  --> m.fsd:11:9
   = help: the last axis is D = 6 in one and H = 4 in the other; axes are matched from the last one back and must be equal, or one of them 1
error[E0204]: `**` cannot take [B, T, D] and [H]: B = 1, T = 3, D = 6 (line 1), H = 4 (line 1)
  --> m.fsd:12:9
   = help: the last axis is D = 6 in one and H = 4 in the other; axes are matched from the last one back and must be equal, or one of them 1
error[E0204]: `max` cannot take [B, T, D] and [H]: B = 1, T = 3, D = 6 (line 1), H = 4 (line 1)
  --> m.fsd:13:9
   = help: the last axis is D = 6 in one and H = 4 in the other; axes are matched from the last one back and must be equal, or one of them 1
error[E0204]: `where` cannot take [B, T, D] and [H]: B = 1, T = 3, D = 6 (line 1), H = 4 (line 1)
  --> m.fsd:14:9
   = help: the last axis is D = 6 in one and H = 4 in the other; axes are matched from the last one back and must be equal, or one of them 1
error[E0204]: `clamp` cannot take [B, T, D] and [H]: B = 1, T = 3, D = 6 (line 1), H = 4 (line 1)
  --> m.fsd:15:9
   = help: the last axis is D = 6 in one and H = 4 in the other; axes are matched from the last one back and must be equal, or one of them 1
==== exit 1
