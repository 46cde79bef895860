# RUN: %fsdpc dump --stage=model %s
# A names table and a section take only their own entries.
==== m.fsd
config { a { b = 1 } }
names hf { x = 3; "a" = "b.*" }
train { "h.*" = unit }
==== err
error[E0306]: only `name = value` and `require` are allowed in config
 --> m.fsd:1:10
  |
1 | config { a { b = 1 } }
  |          ^

error[E0306]: a names table holds "pattern" = "name" and "pattern" = skip
 --> m.fsd:2:12
  |
2 | names hf { x = 3; "a" = "b.*" }
  |            ^^^^^
  |
  = help: for example "*" = "transformer.*", or "up" = "gate_up"[F : 2 * F]

error[E0306]: "b.*" has 1 `*`, but its pattern "a" has only 0
 --> m.fsd:2:19
  |
2 | names hf { x = 3; "a" = "b.*" }
  |                   ^^^^^^^^^^^

error[E0313]: the value of a path in section train must be `frozen` or a group(..)
 --> m.fsd:3:17
  |
3 | train { "h.*" = unit }
  |                 ^^^^
  |
  = help: known names: group, frozen

==== exit 1
