# RUN: %fsdpc dump --stage=model %s 2>&1 | grep -E '^error|^warning|^note|-->|help:'
# Unknown, repeated, missing and additional arguments are errors.
==== m.fsd
train { optimizer = adamw(rate = 1, lr = 2, lr = 3); schedule = cosine(1, 2, 3); precision = f32(1) }
data { train = text(); val = npy("a.npy") }
==== out
error[E0312]: `adamw` has no argument `rate`
 --> m.fsd:1:27
  = help: adamw(lr: real = 1e-3, betas: list of 2 reals = (0.9, 0.999), eps: real = 1e-8, weight_decay: real = 0.01)
error[E0312]: `lr` of `adamw` is given twice
 --> m.fsd:1:45
  = help: adamw(lr: real = 1e-3, betas: list of 2 reals = (0.9, 0.999), eps: real = 1e-8, weight_decay: real = 0.01)
note: it is also given here
 --> m.fsd:1:37
error[E0312]: `cosine` takes at most 2 arguments, but 3 are given
 --> m.fsd:1:78
  = help: cosine(warmup: int = 0, final: real = 0.0)
error[E0310]: `reduce` of `f32` must be f32 or bf16, not an integer
 --> m.fsd:1:98
error[E0312]: `text` needs `path`
 --> m.fsd:2:16
  = help: text(path: text, from: real = 0.0, to: real = 1.0)
error[E0312]: each argument of `npy` needs a name
 --> m.fsd:2:34
  = help: for example train = npy(inputs = "x.npy", targets = "y.npy")
==== exit 1
