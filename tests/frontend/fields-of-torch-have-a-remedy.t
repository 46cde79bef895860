# RUN: while IFS= read -r line; do awk -v l="$line" '{sub("LINE", l); print}' m.fsd > n.fsd; %fsdpc dump --stage=model n.fsd 2>&1 | grep -E '^error|help:'; done < lines; true
# What PyTorch writes in a class is answered by what a module has.
==== lines
fc = nn.Linear(D, D)
fc = Linear(D, D)
self.fc = nn.Linear(D, D)
nn.Linear(D, D)
fc : nn.Linear(D, D)
fc : Linear(in_features = D, out_features = D)
c : Conv2d(3, 8)
fc Linear(D, D)
super().__init__()
b : [Block() for i in range(4)]
let w = 3
@frozen w : param[D] = zeros
foo(x: Tensor) { return x }
foo(x) -> Tensor { return x }
tie head = emb
-- comment
/* comment */
"""comment"""
// comment
==== m.fsd
config { D = 4; V = 70 }
module Block {
  fc : Linear(D, D)
  forward(x) = x + fc(x)
}
module Net {
  emb : Embedding(V, D)
  h : Block[2]
  head : Linear(D, V)
  LINE
  forward(ids: [B, T]) {
    x = emb(ids)
    return head(x)
  }
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets); batch = 4 }
==== out
error[E0101]: unexpected `=`, expected `(` or `,` or `:`
   = help: a field is declared with `:`, as in head : Linear(D, V); a constant belongs in config { .. }
error[E0101]: unexpected `=`, expected `(` or `,` or `:`
   = help: a field is declared with `:`, as in head : Linear(D, V); a constant belongs in config { .. }
error[E0101]: unexpected `.`, expected `(` or `,` or `:`
   = help: fields have no prefix: declare them in the module, as in fc : Linear(D, D), and write a local as name = expression
error[E0101]: unexpected `.`, expected `(` or `,` or `:`
   = help: modules and functions have no prefix; a module is a field, fc : Linear(D, D), that a method calls: fc(x)
error[E0101]: unexpected `.`, expected end of line or `(` or `[` or `=`
   = help: modules have no prefix: fc : Linear(D, D)
error[E0208]: module Linear takes no argument `in_features`
   = help: the arguments are Linear(inp, out, bias = true)
error[E0208]: module Linear takes no argument `out_features`
   = help: the arguments are Linear(inp, out, bias = true)
error[E0217]: there is no module `Conv2d`
   = help: convolutions are not supported; split patches that do not overlap into axes with `as`, and apply a Linear
error[E0101]: unexpected name `Linear`, expected `(` or `,` or `:`
   = help: a field is declared with `:`, as in head : Linear(D, V); a constant belongs in config { .. }
error[E0101]: unexpected `.`, expected `{` or `=`
   = help: modules have no base class, so there is nothing to call
error[E0101]: unexpected `[`, expected name
   = help: an array of modules is declared with its length, where `index` is the number of an element: blocks : Block(index)[4]
error[E0101]: unexpected name `w`, expected `(` or `,` or `:`
   = help: a constant belongs in config { .. }
error[E0101]: unexpected `@`, expected name or end of line or `}`
   = help: write an attribute after its field: w : param[D] = zeros @frozen
error[E0101]: unexpected name `Tensor`, expected `[`
   = help: an argument has a shape or nothing: forward(x: [B, T, D])
error[E0101]: unexpected `-`, expected `{` or `=`
   = help: a method has no result type: name(x) { .. }
error[E0216]: `head` is a module, not a parameter
   = help: only parameters can be tied: tie head.weight = emb.weight
error[E0101]: unexpected `-`, expected name or end of line or `}`
   = help: comments start with `#`
error[E0101]: unexpected `/`, expected name or end of line or `}`
   = help: comments start with `#`
error[E0101]: unexpected string, expected name or end of line or `}`
   = help: comments start with `#`
error[E0101]: unexpected `//`, expected name or end of line or `}`
   = help: comments start with `#`; `//` divides and rounds down
