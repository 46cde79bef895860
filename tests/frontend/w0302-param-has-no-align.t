# RUN: %fsdpc dump --stage=config %s >/dev/null
# layout = param has no alignment; the warning also appears if the default is given.
==== m.fsd
shard { layout = param; align = 16B }
==== err
warning[W0302]: layout = param: align has no effect
 --> m.fsd:1:33
  |
1 | shard { layout = param; align = 16B }
  |                                 ^^^

