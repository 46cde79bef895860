# RUN: %fsdpc dump --stage=model %s
# A result that does not fit into 64 bits is an error.
==== m.fsd
config { a = 2 ** 64; b = 9223372036854775807 + 1; c = 99999999999999999999; d = -(-9223372036854775807 - 1) }
==== err
error[E0201]: the result of `**` does not fit into 64 bits
 --> m.fsd:1:14
  |
1 | config { a = 2 ** 64; b = 9223372036854775807 + 1; c = 99999999999999999999; d = -(-9223372036854775807 - 1) }
  |              ^^^^^^^

error[E0201]: the result of `+` does not fit into 64 bits
 --> m.fsd:1:27
  |
1 | config { a = 2 ** 64; b = 9223372036854775807 + 1; c = 99999999999999999999; d = -(-9223372036854775807 - 1) }
  |                           ^^^^^^^^^^^^^^^^^^^^^^^

error[E0201]: the result of `99999999999999999999` does not fit into 64 bits
 --> m.fsd:1:56
  |
1 | config { a = 2 ** 64; b = 9223372036854775807 + 1; c = 99999999999999999999; d = -(-9223372036854775807 - 1) }
  |                                                        ^^^^^^^^^^^^^^^^^^^^

error[E0201]: the result of `-` does not fit into 64 bits
 --> m.fsd:1:82
  |
1 | config { a = 2 ** 64; b = 9223372036854775807 + 1; c = 99999999999999999999; d = -(-9223372036854775807 - 1) }
  |                                                                                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^

==== exit 1
