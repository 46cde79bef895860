# RUN: %fsdpc dump --stage=model %s
# Strings and truth values are no numbers.
==== m.fsd
config { a = "4" * 2; b = true < 1; c = sqrt("x") }
==== err
error[E0202]: `*` needs numbers, this is a string
 --> m.fsd:1:14
  |
1 | config { a = "4" * 2; b = true < 1; c = sqrt("x") }
  |              ^^^^^^^
note: this is a string
 --> m.fsd:1:14
  |
1 | config { a = "4" * 2; b = true < 1; c = sqrt("x") }
  |              ^^^

error[E0202]: `<` needs numbers, this is a truth value
 --> m.fsd:1:27
  |
1 | config { a = "4" * 2; b = true < 1; c = sqrt("x") }
  |                           ^^^^^^^^
note: this is a truth value
 --> m.fsd:1:27
  |
1 | config { a = "4" * 2; b = true < 1; c = sqrt("x") }
  |                           ^^^^

error[E0310]: `x` of `sqrt` takes a number, this is a string
 --> m.fsd:1:46
  |
1 | config { a = "4" * 2; b = true < 1; c = sqrt("x") }
  |                                              ^^^

==== exit 1
