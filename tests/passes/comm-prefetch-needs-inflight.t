# RUN: %fsdpc dump --stage=sched -n 2 -s shard.prefetch=3 %root/tests/passes/model-t.fsd
# Gathering farther ahead than may be gathered is an error.
==== err
error[E0405]: prefetch = 3 needs inflight >= 4
 --> -s:1:16
  |
1 | shard.prefetch=3
  |                ^
  |
  = help: inflight is 2 by default

==== exit 1
