# RUN: %fsdpc dump --stage=model %s
# An unknown section suggests the nearest one.
==== m.fsd
trian { batch = 2 }
==== err
error[E0302]: there is no section `trian`
 --> m.fsd:1:1
  |
1 | trian { batch = 2 }
  | ^^^^^
  |
  = help: did you mean `train`?

==== exit 1
