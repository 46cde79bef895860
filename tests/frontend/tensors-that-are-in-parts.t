# RUN: %fsdpc compile -q %s -o p && %fsdpc dump --raw p | grep '^stored\|^param 0'
# A parameter is a range of a tensor, one of those that it stacks, a part of each head, or several tensors together.
==== m.fsd
config { D = 6; V = 10; E = 2 }
module Net {
  wte : Embedding(V, D)
  a, b : Linear(D, D)
  c, d : Linear(D, D, bias = true)
  e : Linear(D, 4)[E]
  head : Linear(D, V)
  forward(ids: [B, T]) {
    x = d(c(b(a(wte(ids)))))
    return head(x + sum(e[0](x) + e[1](x), axis = -1))
  }
}
model = Net
names hf {
  "wte.weight" = ["one"[: 4], "two", "three"]
  "a.weight" = "ab^T"[:, : D]; "b.weight" = "ab^T"[:, D :]
  "c.weight" = "cd" as [(3, 2, 2), D][:, 0]; "d.weight" = "cd" as [(3, 2, 2), D][:, 1]
  "c.*" = "cd.*" as [(3, 2, 2)][:, 0]; "d.*" = "cd.*" as [(3, 2, 2)][:, 1]
  "e.*.weight" = "experts^T"[*]
}
data { train = synthetic_tokens(V); length = 8 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 1 }
==== out
param 0 "wte.weight" f32[10, 6] normal(0.02) key "wte.weight" checkpoint ""
stored 0 names 0 "one" [4, 6] of "wte.weight" 0+24 at 0 [24*1]
stored 1 names 0 "two" [3, 6] of "wte.weight" 24+18 at 0 [18*1]
stored 2 names 0 "three" [3, 6] of "wte.weight" 42+18 at 0 [18*1]
stored 3 names 0 "ab" [6, 12] of "a.weight" 0+36 at 0 [6*1 6*12] of "b.weight" 0+36 at 6 [6*1 6*12]
stored 4 names 0 "cd" [12, 6] of "c.weight" 0+36 at 0 [3*24 12*1] of "d.weight" 0+36 at 12 [3*24 12*1]
stored 5 names 0 "cd.bias" [12] of "c.bias" 0+6 at 0 [3*4 2*1] of "d.bias" 0+6 at 2 [3*4 2*1]
stored 6 names 0 "experts" [2, 6, 4] of "e.0.weight" 0+24 at 0 [4*1 6*4] of "e.1.weight" 0+24 at 24 [4*1 6*4]
