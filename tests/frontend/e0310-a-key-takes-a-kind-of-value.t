# RUN: %fsdpc dump --stage=model %s
# A value of the wrong kind is an error.
==== m.fsd
train { batch = "eight"; steps = 1.5; clip = true; optimizer = 3 }
==== err
error[E0310]: train.batch takes an integer, this is a string
 --> m.fsd:1:17
  |
1 | train { batch = "eight"; steps = 1.5; clip = true; optimizer = 3 }
  |                 ^^^^^^^

error[E0310]: train.steps takes an integer or none, this is a number
 --> m.fsd:1:34
  |
1 | train { batch = "eight"; steps = 1.5; clip = true; optimizer = 3 }
  |                                  ^^^

error[E0310]: train.clip takes a number or none, this is a truth value
 --> m.fsd:1:46
  |
1 | train { batch = "eight"; steps = 1.5; clip = true; optimizer = 3 }
  |                                              ^^^^

error[E0310]: train.optimizer takes a call, this is an integer
 --> m.fsd:1:64
  |
1 | train { batch = "eight"; steps = 1.5; clip = true; optimizer = 3 }
  |                                                                ^
  |
  = help: `fsdpc help train.optimizer` has an example

==== exit 1
