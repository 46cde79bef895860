# RUN: %fsdpc dump --stage=config %s >/dev/null
# Rows have no alignment of their own, which is said even of the default where it is given.
==== m.fsd
shard { layout = param; align = 16B }
==== err
warning[W0302]: layout = param: align has no effect
 --> m.fsd:1:33
  |
1 | shard { layout = param; align = 16B }
  |                                 ^^^

