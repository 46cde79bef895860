# RUN: %fsdpc dump --stage=model %s 2>&1 | grep -E '^error|^warning|^note|-->|help:'
# Unknown, repeated, missing and additional arguments are errors.
==== m.fsd
train { optimizer = adamw(rate = 1, lr = 2, lr = 3); schedule = cosine(1, 2, 3); precision = f32(1) }
data { train = text(); val = npy("a.npy") }
==== out
error[E0312]: text needs `path`
 --> m.fsd:2:16
error[E0312]: npy takes name = "file.npy" for each field
 --> m.fsd:2:34
error[E0312]: adamw takes no argument `rate`
 --> m.fsd:1:34
  = help: there is: lr, betas, eps, weight_decay
error[E0312]: `lr` is given twice
 --> m.fsd:1:50
error[E0312]: cosine takes 2 arguments, this is one more
 --> m.fsd:1:78
error[E0312]: f32 takes no arguments
 --> m.fsd:1:94
==== exit 1
