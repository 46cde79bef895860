# RUN: %fsdpc dump --stage=model %s
# A circle of config names is reported once.
==== m.fsd
config { a = b + 1; b = c; c = a }
==== err
error[E0205]: config name `a` depends on itself
 --> m.fsd:1:10
  |
1 | config { a = b + 1; b = c; c = a }
  |          ^
note: this needs `a`
 --> m.fsd:1:14
  |
1 | config { a = b + 1; b = c; c = a }
  |              ^^^^^

==== exit 1
