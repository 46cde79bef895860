# RUN: %fsdpc dump --stage=model %s
# A string that is not closed is one error.
==== m.fsd
use "std.fsd
model = A
==== err
error[E0102]: this string is not closed
 --> m.fsd:1:5
  |
1 | use "std.fsd
  |     ^^^^^^^^
  |
  = help: a string ends with `"` on the same line

==== exit 1
