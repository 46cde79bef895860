# RUN: for r in true false; do %fsdpc dump --stage=comm -n 2 -s shard.reshard=$r %root/tests/passes/shared-and-frozen.fsd 2>/dev/null | sed -n 's/^program \([a-z]*\).*/\1/p; s/.* = unshard.*\(unit = .\), .*/  \1/p'; echo; done
# What training keeps gathered, evaluation still gathers once for each use that others separate.
==== out
train
  unit = 3
  unit = 0
  unit = 1
  unit = 2
  unit = 0
  unit = 0
  unit = 1
  unit = 2
  unit = 0
eval
  unit = 3
  unit = 0
  unit = 1
  unit = 2
  unit = 0

train
  unit = 3
  unit = 0
  unit = 1
  unit = 2
eval
  unit = 3
  unit = 0
  unit = 1
  unit = 2
  unit = 0

