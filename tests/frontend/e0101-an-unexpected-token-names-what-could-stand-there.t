# RUN: %fsdpc dump --stage=model %s 2>&1 | grep -E '^error|^warning|^note|-->|help:'
# Several syntax errors are reported at once, each once.
==== m.fsd
config { L = 12 D = 3 }
module A {
  fc Linear(3)
  forward x {
    return y
  }
  forward(x) = x +
}
model = = A
==== out
error[E0101]: unexpected name `D`, expected string or end of line or `(` or `[`
 --> m.fsd:1:17
  = help: end the statement before it with a new line or `;`
error[E0101]: unexpected name `Linear`, expected `(` or `,` or `:`
 --> m.fsd:3:6
  = help: a field is declared with `:`, as in head : Linear(D, V); a constant belongs in config { .. }
error[E0101]: unexpected name `x`, expected `(` or `,` or `:`
 --> m.fsd:4:11
  = help: a field is declared with `:`, as in head : Linear(D, V); a constant belongs in config { .. }
error[E0101]: unexpected end of line, expected an expression
 --> m.fsd:7:19
  = help: a line break ends a statement; break lines inside ( ) or after an operator
error[E0101]: unexpected `=`, expected an expression
 --> m.fsd:9:9
==== exit 1
