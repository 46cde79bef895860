# RUN: %fsdpc dump --stage=shards x.fsd
# A misspelt stage names its neighbour.
==== err
error[E0503]: `--stage`: there is no stage `shards`
  = help: did you mean `shard`?

==== exit 1
