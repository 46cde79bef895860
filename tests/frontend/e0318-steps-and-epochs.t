# RUN: %fsdpc dump --stage=config %s
# Of steps and epochs one file gives one.
==== m.fsd
train { steps = 10; batch = 4 }
train { epochs = 2 }
==== err
error[E0318]: steps and epochs are both given
 --> m.fsd:2:9
  |
2 | train { epochs = 2 }
  |         ^^^^^^
  |
  = help: both set how long to train: remove one of them
note: steps is given here
 --> m.fsd:1:9
  |
1 | train { steps = 10; batch = 4 }
  |         ^^^^^

==== exit 1
