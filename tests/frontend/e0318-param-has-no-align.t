# RUN: %fsdpc dump --stage=config %s
# Rows have no alignment of their own, and the default is no mistake.
==== m.fsd
shard { layout = param; align = 16B }
==== err
error[E0318]: layout = param: align has no effect
 --> m.fsd:1:33
  |
1 | shard { layout = param; align = 16B }
  |                                 ^^^

==== exit 1
