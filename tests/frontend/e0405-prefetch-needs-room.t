# RUN: %fsdpc dump --stage=model %s
# Gathering farther ahead than what may be in flight is an error.
==== m.fsd
shard { prefetch = 3 }
==== err
error[E0405]: prefetch = 3 needs inflight >= 4
 --> m.fsd:1:20
  |
1 | shard { prefetch = 3 }
  |                    ^
  |
  = help: inflight is 2 by default

==== exit 1
