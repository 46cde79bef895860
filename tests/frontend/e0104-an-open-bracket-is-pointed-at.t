# RUN: %fsdpc dump --stage=model %s 2>&1 | grep -E '^error|^warning|^note|-->|help:'
# One missing bracket is one error, at the bracket that is open.
==== m.fsd
module A {
  w : param[4, 8 @frozen
  forward(x) {
    y = linear(x, w
    return y
  }
}
module B {
  forward(x) = x ]
model = A
train { loss = f(x, (y] }
==== out
error[E0101]: unexpected `@`, expected `(` or `[` or `,` or `]`
 --> m.fsd:2:18
note: `[` opened here is not closed yet
 --> m.fsd:2:12
error[E0104]: `{` is not closed
  --> m.fsd:8:10
note: `}` is missing before `model`
  --> m.fsd:10:1
error[E0104]: unmatched `]`
 --> m.fsd:9:18
error[E0104]: `(` is not closed
  --> m.fsd:11:17
note: `)` is missing before this `}`
  --> m.fsd:11:25
error[E0104]: `(` is not closed
  --> m.fsd:11:21
note: `)` is missing before this `}`
  --> m.fsd:11:25
error[E0104]: unmatched `]`
  --> m.fsd:11:23
==== exit 1
