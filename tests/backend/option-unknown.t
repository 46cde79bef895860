# RUN: %fsdpc dump --stags=shard x.fsd
# A misspelt option names its neighbour.
==== err
error[E0502]: `fsdpc dump` has no option `--stags`
  = help: did you mean `--stage`?

==== exit 1
