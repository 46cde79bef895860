# RUN: %fsdpc dump --stage=config %s -s shard.strategy=none | grep strategy
# The word none of shard.strategy is a strategy.
==== m.fsd
config { }
==== out
  strategy         = none                     # -s
