# RUN: %fsdpc compile %s -o x.bin 2>&1 | grep -E '^error|-->|help:'
# A word of the language cannot be the name of a field, and the lines below it are read.
==== m.fsd
module Net {
  for : Linear(2, 2)
  model, in : Linear(2, 2)
  w : Linaer(2, 2
  forward(x) = w(x)
}
config { use = 3; b = }
==== out
error[E0101]: unexpected `for`, expected name or end of line or `}`
 --> m.fsd:2:3
  = help: this is a keyword; choose another name
error[E0101]: unexpected `model`, expected name or end of line or `}`
 --> m.fsd:3:3
  = help: this is a keyword; choose another name
error[E0101]: unexpected name `forward`, expected `(` or `[` or `)` or `,`
 --> m.fsd:5:3
 --> m.fsd:4:13
error[E0101]: unexpected `use`, expected name or string or end of line or `}`
 --> m.fsd:7:10
  = help: this is a keyword; choose another name
error[E0101]: unexpected end of line, expected an expression
 --> m.fsd:7:22
  = help: a line break ends a statement; break lines inside ( ) or after an operator
==== exit 1
