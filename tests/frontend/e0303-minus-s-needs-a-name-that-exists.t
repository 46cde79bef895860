# RUN: %fsdpc dump --stage=config %s --preset big -s l=3 -s batch=4 -s trian.batch=2
# -s and presets set only names that the model has.
==== m.fsd
config { L = 2 }
preset "big" { K = 4 }
==== err
error[E0303]: there is no config name `K`
 --> m.fsd:2:16
  |
2 | preset "big" { K = 4 }
  |                ^
  |
  = help: known names: L

error[E0303]: there is no config name `l`
 --> -s:1:1
  |
1 | l=3
  | ^
  |
  = help: did you mean `L`?

error[E0303]: there is no config name `batch`
 --> -s:1:1
  |
1 | batch=4
  | ^^^^^
  |
  = help: the key is train.batch

error[E0302]: there is no section `trian`
 --> -s:1:1
  |
1 | trian.batch=2
  | ^^^^^^^^^^^
  |
  = help: did you mean `train`?

==== exit 1
