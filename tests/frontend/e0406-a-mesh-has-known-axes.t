# RUN: %fsdpc dump --stage=model %s
# Unknown axes and impossible sizes are errors.
==== m.fsd
shard { mesh = (pd = 2, dp = 0) }
==== err
error[E0406]: the mesh has no axis `pd`
 --> m.fsd:1:22
  |
1 | shard { mesh = (pd = 2, dp = 0) }
  |                      ^
  |
  = help: did you mean `dp`?

error[E0406]: axis dp has size 0, but it must be 1 to 1048576
 --> m.fsd:1:30
  |
1 | shard { mesh = (pd = 2, dp = 0) }
  |                              ^

==== exit 1
