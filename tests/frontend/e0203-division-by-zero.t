# RUN: %fsdpc dump --stage=model %s
# Every kind of division by zero is an error with its place.
==== m.fsd
config { z = 0; a = 1 / z; b = 1 // z; c = 1 % (z * 2) }
==== err
error[E0203]: division by zero
 --> m.fsd:1:21
  |
1 | config { z = 0; a = 1 / z; b = 1 // z; c = 1 % (z * 2) }
  |                     ^^^^^
note: `z` is 0
 --> m.fsd:1:25
  |
1 | config { z = 0; a = 1 / z; b = 1 // z; c = 1 % (z * 2) }
  |                         ^

error[E0203]: division by zero
 --> m.fsd:1:32
  |
1 | config { z = 0; a = 1 / z; b = 1 // z; c = 1 % (z * 2) }
  |                                ^^^^^^
note: `z` is 0
 --> m.fsd:1:37
  |
1 | config { z = 0; a = 1 / z; b = 1 // z; c = 1 % (z * 2) }
  |                                     ^

error[E0203]: division by zero
 --> m.fsd:1:44
  |
1 | config { z = 0; a = 1 / z; b = 1 // z; c = 1 % (z * 2) }
  |                                            ^^^^^^^^^^^
note: `(z * 2)` is 0
 --> m.fsd:1:48
  |
1 | config { z = 0; a = 1 / z; b = 1 // z; c = 1 % (z * 2) }
  |                                                ^^^^^^^

==== exit 1
