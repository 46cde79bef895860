# RUN: %fsdpc dump --stage=model %s
# A value below the least is an error.
==== m.fsd
train { batch = 0; accumulate = -1; eval_steps = 0 }
==== err
error[E0311]: train.batch must be at least 1, not 0
 --> m.fsd:1:17
  |
1 | train { batch = 0; accumulate = -1; eval_steps = 0 }
  |                 ^

error[E0311]: train.accumulate must be at least 1, not -1
 --> m.fsd:1:33
  |
1 | train { batch = 0; accumulate = -1; eval_steps = 0 }
  |                                 ^^

error[E0311]: train.eval_steps must be at least 1, not 0
 --> m.fsd:1:50
  |
1 | train { batch = 0; accumulate = -1; eval_steps = 0 }
  |                                                  ^

==== exit 1
