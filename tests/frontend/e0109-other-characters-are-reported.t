# RUN: %fsdpc dump --stage=model %s 2>&1 | grep -E '^error|^warning|^note|-->|help:'
# Operators of other languages get a hint.
==== m.fsd
config { a = 3 && 4; b = 'x'; c = “q” }
==== out
error[E0109]: `&&` is not allowed here
 --> m.fsd:1:16
  = help: the logical operators are `and`, `or`, `not`
error[E0109]: `'x'` is not allowed here
 --> m.fsd:1:26
  = help: write strings in double quotes
error[E0109]: `“` is not allowed here
 --> m.fsd:1:35
error[E0109]: `”` is not allowed here
 --> m.fsd:1:39
==== exit 1
