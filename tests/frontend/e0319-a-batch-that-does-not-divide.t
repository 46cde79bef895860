# RUN: %fsdpc dump --stage=model %s
# A batch that does not divide lists sizes that do.
==== m.fsd
shard { mesh = (dp = 3) }
train { batch = 16; accumulate = 2 }
==== err
error[E0319]: batch = 16 is not divisible by 3 ranks x 2 micro-batches
 --> m.fsd:2:9
  |
2 | train { batch = 16; accumulate = 2 }
  |         ^^^^^
  |
  = help: valid sizes: 12, 18, 24

==== exit 1
