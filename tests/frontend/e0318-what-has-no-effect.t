# RUN: %fsdpc dump --stage=config %s
# A setting that the strategy makes idle is an error.
==== m.fsd
shard { strategy = none; reshard = true }
==== err
error[E0318]: strategy = none: reshard has no effect
 --> m.fsd:1:36
  |
1 | shard { strategy = none; reshard = true }
  |                                    ^^^^

==== exit 1
