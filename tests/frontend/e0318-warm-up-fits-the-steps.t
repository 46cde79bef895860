# RUN: %fsdpc dump --stage=model %s -s train.steps=30
# A warm-up longer than the run says where the steps are from, and what to write.
==== m.fsd
train { steps = 100; schedule = wsd(warmup = 20, decay = 20) }
==== err
error[E0318]: warmup = 20 and decay = 20 are longer than steps = 30
 --> m.fsd:1:33
  |
1 | train { steps = 100; schedule = wsd(warmup = 20, decay = 20) }
  |                                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  |
  = help: change train.schedule too, or switch it off with -s train.schedule=constant
note: the steps are given here
 --> -s:1:13
  |
1 | train.steps=30
  |             ^^

==== exit 1
