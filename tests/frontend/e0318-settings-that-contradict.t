# RUN: %fsdpc dump --stage=model %s
# Settings that contradict one another are errors.
==== m.fsd
shard { mesh = (dp = 4); strategy = none; reshard = true }
train { optimizer = sgd(nesterov = true); clip = 0; eval_every = 3 }
data { train = text("a"); length = 4 }
==== err
warning[W0302]: strategy = none: reshard has no effect
 --> m.fsd:1:53
  |
1 | shard { mesh = (dp = 4); strategy = none; reshard = true }
  |                                                     ^^^^

error[E0318]: nesterov needs a momentum above 0
 --> m.fsd:2:21
  |
2 | train { optimizer = sgd(nesterov = true); clip = 0; eval_every = 3 }
  |                     ^^^^^^^^^^^^^^^^^^^^

error[E0318]: clip must be above 0, or none
 --> m.fsd:2:50
  |
2 | train { optimizer = sgd(nesterov = true); clip = 0; eval_every = 3 }
  |                                                  ^

error[E0318]: eval_every needs data.val, which is not given
 --> m.fsd:2:66
  |
2 | train { optimizer = sgd(nesterov = true); clip = 0; eval_every = 3 }
  |                                                                  ^

==== exit 1
