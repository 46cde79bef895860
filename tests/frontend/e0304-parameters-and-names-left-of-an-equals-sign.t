# RUN: %fsdpc dump --stage=model %s 2>&1 | grep -A1 -E '^error.E0304|^note'
# A name given twice in one list is an error: of parameters, and left of `=`, where only `_` may stand again.
==== m.fsd
module A(d, d) {
  w : param[d] = ones
  forward(x, y = 1, y = 2) {
    a, a = split(x, sizes = [1, 1])
    for i in range(2) { if d == 1 { b, c, b = split(x, sizes = [1, 1, 1]) } }
    _, _, e = split(x, sizes = [1, 1, 1])
    return g(a, e, w)
  }
  g(x, y, y) = x
}
model = A(1, 1)
==== out
error[E0304]: parameter `d` is given twice
 --> m.fsd:1:13
--
note: it is also given here
 --> m.fsd:1:10
--
error[E0304]: parameter `y` is given twice
 --> m.fsd:3:21
--
note: it is also given here
 --> m.fsd:3:14
--
error[E0304]: name `a` is given twice
 --> m.fsd:4:8
--
note: it is also given here
 --> m.fsd:4:5
--
error[E0304]: name `b` is given twice
 --> m.fsd:5:43
--
note: it is also given here
 --> m.fsd:5:37
--
error[E0304]: parameter `y` is given twice
 --> m.fsd:9:11
--
note: it is also given here
 --> m.fsd:9:8
==== exit 1
