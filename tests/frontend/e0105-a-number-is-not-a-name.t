# RUN: %fsdpc dump --stage=model %s
# A word that starts with a digit and is not a number is an error.
==== m.fsd
config { a = 12ab; b = 1.2.3 }
==== err
error[E0105]: `12ab` is not a number
 --> m.fsd:1:14
  |
1 | config { a = 12ab; b = 1.2.3 }
  |              ^^^^
  |
  = help: numbers look like 12, 0.5, 1e-5, 500k, 64Ki

error[E0105]: `1.2.3` is not a number
 --> m.fsd:1:24
  |
1 | config { a = 12ab; b = 1.2.3 }
  |                        ^^^^^
  |
  = help: numbers look like 12, 0.5, 1e-5, 500k, 64Ki

==== exit 1
