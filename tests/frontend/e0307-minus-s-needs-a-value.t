# RUN: %fsdpc dump --stage=config %s -s L
# -s without = is an error.
==== m.fsd
config { L = 2 }
==== err
error[E0307]: -s needs name=value
 --> -s:1:1
  |
1 | L
  | ^
  |
  = help: for example -s L=4 or -s train.batch=8

==== exit 1
