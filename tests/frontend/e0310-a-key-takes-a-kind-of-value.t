# RUN: %fsdpc dump --stage=model %s
# A value of the wrong kind is an error.
==== m.fsd
train { batch = "eight"; steps = 1.5; clip = true; optimizer = 3 }
==== err
error[E0310]: train.batch must be an integer, not a string
 --> m.fsd:1:17
  |
1 | train { batch = "eight"; steps = 1.5; clip = true; optimizer = 3 }
  |                 ^^^^^^^

error[E0310]: train.steps must be an integer or none, not a number
 --> m.fsd:1:34
  |
1 | train { batch = "eight"; steps = 1.5; clip = true; optimizer = 3 }
  |                                  ^^^

error[E0310]: train.clip must be a number or none, not a boolean
 --> m.fsd:1:46
  |
1 | train { batch = "eight"; steps = 1.5; clip = true; optimizer = 3 }
  |                                              ^^^^

error[E0310]: train.optimizer must be a call, not an integer
 --> m.fsd:1:64
  |
1 | train { batch = "eight"; steps = 1.5; clip = true; optimizer = 3 }
  |                                                                ^
  |
  = help: `fsdpc help train.optimizer` has an example

==== exit 1
