# RUN: %fsdpc dump --stage=model %s
# A word that a key does not know suggests the nearest.
==== m.fsd
train { optimizer = admw(lr = 1e-3); on_nan = halt }
shard { strategy = ful }
data { order = suffle }
==== err
error[E0313]: train.optimizer cannot be `admw`
 --> m.fsd:1:21
  |
1 | train { optimizer = admw(lr = 1e-3); on_nan = halt }
  |                     ^^^^^^^^^^^^^^^
  |
  = help: did you mean `adamw`?

error[E0313]: train.on_nan cannot be `halt`
 --> m.fsd:1:47
  |
1 | train { optimizer = admw(lr = 1e-3); on_nan = halt }
  |                                               ^^^^
  |
  = help: known names: stop, skip, continue

error[E0313]: shard.strategy cannot be `ful`
 --> m.fsd:2:20
  |
2 | shard { strategy = ful }
  |                    ^^^
  |
  = help: did you mean `full`?

error[E0313]: data.order cannot be `suffle`
 --> m.fsd:3:16
  |
3 | data { order = suffle }
  |                ^^^^^^
  |
  = help: did you mean `shuffle`?

==== exit 1
