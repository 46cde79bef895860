# RUN: for r in none Part Linear '(ops = gelu)' '(ops = [linear, gelu])' '(Part, keep = linear)'; do %fsdpc dump --stage=recompute -s "shard.recompute=$r" %s | sed -n "/^program train/,/^end/s/.*= \(linear[a-z_]*\|gelu\)(.*!\(forward\|backward recomputed\).*/$r: \1 \2/p"; done
# A linear and its gelu become one op if backward recomputes both or neither of them.
==== m.fsd
module Part { l, k : Linear(4, 4); forward(x) = k(gelu(l(x))) }
module Net { p : Part; e : Embedding(5, 4); forward(ids: [B, T]) = p(e(ids)) }
model = Net
data  { train = text("t"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 1; optimizer = sgd(lr = 0.1) }
==== out
none: linear_gelu forward
none: linear forward
Part: linear_gelu forward
Part: linear forward
Part: linear_gelu backward recomputed
Linear: linear forward
Linear: gelu forward
Linear: linear forward
(ops = gelu): linear forward
(ops = gelu): gelu forward
(ops = gelu): linear forward
(ops = gelu): gelu backward recomputed
(ops = [linear, gelu]): linear_gelu forward
(ops = [linear, gelu]): linear forward
(ops = [linear, gelu]): linear_gelu backward recomputed
(Part, keep = linear): linear forward
(Part, keep = linear): gelu forward
(Part, keep = linear): linear forward
(Part, keep = linear): gelu backward recomputed
==== err
warning[W0302]: recompute has no effect on these modules: all that backward reads of them is kept anyway
 --> -s:1:17
  |
1 | shard.recompute=Linear
  |                 ^^^^^^

