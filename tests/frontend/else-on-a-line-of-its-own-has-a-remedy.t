# RUN: %fsdpc dump --stage=model %s 2>&1 | grep -E '^error|-->|help:'
# `else` after the end of a line says where it has to stand, for fields and for statements.
==== m.fsd
module Net(wide = true) {
  if wide { up : Linear(4, 8) }
  else { up : Linear(4, 4) }
  forward(x: [B, D]) {
    if wide { x = relu(x) }
    else { x = silu(x) }
    return up(x)
  }
}
==== out
error[E0101]: unexpected `else`, expected name or end of line or `}`
 --> m.fsd:3:3
  = help: write `else` on the line of the closing brace: } else { .. }
error[E0101]: unexpected `else`, expected name or end of line or `}`
 --> m.fsd:6:5
  = help: write `else` on the line of the closing brace: } else { .. }
==== exit 1
