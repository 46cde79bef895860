# RUN: %fsdpc dump --stage=model %s
# reshard = K divides the ranks.
==== m.fsd
shard { mesh = (dp = 8); reshard = 3 }
==== err
error[E0318]: reshard = 3 must divide dp = 8
 --> m.fsd:1:36
  |
1 | shard { mesh = (dp = 8); reshard = 3 }
  |                                    ^

==== exit 1
