# RUN: %fsdpc dump --stage=model %s
# An unknown key suggests the nearest one.
==== m.fsd
config { n = 2 }
train { btach = n; clip = 1.0 }
shard { units = root }
==== err
error[E0301]: section train has no key `btach`
 --> m.fsd:2:9
  |
2 | train { btach = n; clip = 1.0 }
  |         ^^^^^
  |
  = help: did you mean `batch`?

error[E0301]: section shard has no key `units`
 --> m.fsd:3:9
  |
3 | shard { units = root }
  |         ^^^^^
  |
  = help: did you mean `unit`?

==== exit 1
