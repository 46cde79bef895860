# RUN: %fsdpc dump --stage=config %s --preset lrge
# An unknown preset suggests the nearest one.
==== m.fsd
config { L = 2 }
preset "large" { L = 4 }
==== err
error[E0305]: the model has no preset `lrge`
  = help: did you mean `large`?

==== exit 1
