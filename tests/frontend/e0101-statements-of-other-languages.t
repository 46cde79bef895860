# RUN: %fsdpc compile %s -o x.bin 2>&1 | grep -E '^error|-->|help:'
# For statements of other languages in methods, the message shows how to write them here.
==== m.fsd
module Net {
  def forward(x) { return x }
  forward(ids) {
    let x = wte(ids)
    while true { x = x }
    for i, b in h { x = b(x) }
    for b in h: x = b(x)
    if a { x = x } elif b { x = x }
    if a { x = x } else if b { x = x }
    x = a if b else c
    x = [b(x) for b in h]
    x -= 1
    x.y = 1
    x[0] = 1
    a == 1
    x + 1
    x = a @ b
    x = x /* scaled */
    x = x // half of it
    x = y[0:4:2]
    return x, y
  }
}
class Block(Module) { }
import torch
==== out
error[E0101]: unexpected name `forward`, expected `(` or `,` or `:`
 --> m.fsd:2:7
  = help: write a method as name(arguments) { .. }
error[E0101]: unexpected name `x`, expected `(` or `=` or `,`
 --> m.fsd:4:9
  = help: write a local as name = expression
error[E0101]: unexpected `true`, expected `(` or `=` or `,`
 --> m.fsd:5:11
  = help: write a loop as for name in modules { .. }; it is unrolled
error[E0101]: unexpected `,`, expected `in`
 --> m.fsd:6:10
  = help: a loop has one name: for name in modules { .. }
error[E0101]: unexpected `:`, expected `(` or `[` or `{`
 --> m.fsd:7:15
  = help: write a block in braces: { .. }
error[E0101]: unexpected name `elif`, expected end of line
 --> m.fsd:8:20
  = help: write else { if condition { .. } }
error[E0101]: unexpected `if`, expected `{`
 --> m.fsd:9:25
  = help: write else { if condition { .. } }
error[E0101]: unexpected `if`, expected end of line or `(` or `[`
  --> m.fsd:10:11
   = help: `if` is a statement: if condition { x = a } else { x = b }
error[E0104]: `[` is not closed
  --> m.fsd:11:9
   = help: write out the elements of a list; a loop is a statement: for layer in h { x = layer(x) }
  --> m.fsd:11:15
error[E0101]: unexpected `-`, expected `(` or `=` or `,`
  --> m.fsd:12:7
   = help: a statement is name = expression, name += expression, a call or a return
error[E0101]: unexpected `.`, expected `(` or `=` or `,`
  --> m.fsd:13:6
   = help: only names can be assigned to, not fields; a method returns its result
error[E0101]: unexpected `[`, expected `(` or `=` or `,`
  --> m.fsd:14:6
   = help: only names can be assigned to, not elements; slice and concat make new tensors
  --> m.fsd:14:6
error[E0101]: unexpected `==`, expected `(` or `=` or `,`
  --> m.fsd:15:7
   = help: `=` assigns, `==` compares
error[E0101]: unexpected `+`, expected `(` or `=` or `,`
  --> m.fsd:16:7
   = help: a statement is name = expression, name += expression, a call or a return
error[E0101]: unexpected `@`, expected end of line or `(` or `[`
  --> m.fsd:17:11
   = help: `@` starts an attribute of a field; matrices are multiplied by matmul(a, b)
error[E0101]: unexpected `*`, expected an expression
  --> m.fsd:18:12
   = help: comments start with `#`
error[E0101]: unexpected `,`, expected end of line or `(` or `[`
  --> m.fsd:21:13
   = help: a method returns one value, which can be a tuple: return (a, b)
error[E0101]: unexpected `(`, expected `{`
  --> m.fsd:24:12
   = help: write a module as module Name(arguments) { .. }
  --> m.fsd:24:12
error[E0101]: unexpected end of line, expected `{`
  --> m.fsd:25:13
   = help: use "file.fsd" includes another file; functions are always available
==== exit 1
