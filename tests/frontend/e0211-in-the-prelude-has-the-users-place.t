# RUN: %fsdpc dump --stage=model -s D=0 %s
# A shape that a module of the prelude cannot have is shown where the user makes the module, and what uses it is silent.
==== m.fsd
config { D = 6; V = 11 }
module Net {
  wte : Embedding(V, D)
  head : Linear(7, V)
  tie head.weight = wte.weight
  forward(ids: [B, T]) = head(wte(ids))
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets) }
==== err
error[E0211]: the size of a parameter's axis must be a positive integer, not 0
 --> m.fsd:3:3
  |
3 |   wte : Embedding(V, D)
  |   ^^^
note: it is the value of `D`
 --> -s:1:1
  |
1 | D=0
  | ^
note: in Embedding
 --> std.fsd:8:21
  |
8 |   weight : param[n, dim] = init
  |                     ^^^

==== exit 1
