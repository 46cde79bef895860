# RUN: %fsdpc dump --stage=model %s
# A missing file of `use` is exit code 2, at the place that names it.
==== m.fsd
use "layers.fsd"
model = A
==== err
error[E0110]: cannot read layers.fsd: No such file or directory
 --> m.fsd:1:5
  |
1 | use "layers.fsd"
  |     ^^^^^^^^^^^^

==== exit 2
