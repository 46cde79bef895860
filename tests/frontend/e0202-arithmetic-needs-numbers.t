# RUN: %fsdpc dump --stage=model %s
# Strings and booleans are not numbers.
==== m.fsd
config { a = "4" * 2; b = true < 1; c = sqrt("x") }
==== err
error[E0202]: `*` needs numbers, not a string
 --> m.fsd:1:14
  |
1 | config { a = "4" * 2; b = true < 1; c = sqrt("x") }
  |              ^^^^^^^
note: this is a string
 --> m.fsd:1:14
  |
1 | config { a = "4" * 2; b = true < 1; c = sqrt("x") }
  |              ^^^

error[E0202]: `<` needs numbers, not a boolean
 --> m.fsd:1:27
  |
1 | config { a = "4" * 2; b = true < 1; c = sqrt("x") }
  |                           ^^^^^^^^
note: this is a boolean
 --> m.fsd:1:27
  |
1 | config { a = "4" * 2; b = true < 1; c = sqrt("x") }
  |                           ^^^^

error[E0310]: `x` of `sqrt` must be a number, not a string
 --> m.fsd:1:46
  |
1 | config { a = "4" * 2; b = true < 1; c = sqrt("x") }
  |                                              ^^^

==== exit 1
