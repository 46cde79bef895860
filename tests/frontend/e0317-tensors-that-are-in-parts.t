# RUN: while IFS= read -r names; do sed "s|NAMES|names hf { $names }|" m.fsd > n.fsd; %fsdpc compile -q n.fsd -o p 2>&1 | grep -E '^error'; done < cases; true
# What an entry takes of a tensor fits the parameter, and all entries together fill the tensor.
==== m.fsd
config { D = 6; V = 10 }
module Net { wte : Embedding(V, D); a, b : Linear(D, D); head : Linear(D, V)
  tie head.weight = wte.weight
  forward(ids: [B, T]) = head(b(a(wte(ids))))
}
model = Net
NAMES
data { train = synthetic_tokens(V); length = 8 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 1 }
==== cases
"a.weight" = "ab"[: D - 1]; "b.weight" = "ab"[D :]
"a.weight" = "ab"[: D]; "b.weight" = "ab"[D + 1 :]
"a.weight" = "ab"[: D]; "b.weight" = "ab"[D - 1 :]
"a.weight" = ["x", "y", "z", "u"]
"a.weight" = "ab"[1.5 : D]
"a.weight" = "ab"[4 : D - 2]
"a.*" = "ab"[*]
"a.weight" = "ab"[*]
"a.weight" = "ab" as [D, 4, 2][:, :, 0]
"a.weight" = "ab"[: D]; "b.weight" = "ab"[0, D :]
"wte.weight" = "w"[: V]
"a.weight" = ab[3]
==== out
error[E0317]: this takes [5, 6] of ab, but `a.weight` is [6, 6]
error[E0317]: 6 of the 78 numbers of ab belong to no parameter
error[E0317]: `a.weight` and `b.weight` take the same numbers of ab
error[E0317]: these tensors do not add up to the 6 rows of `a.weight`
error[E0317]: an index must be an integer from 0 on
error[E0317]: this range is empty
error[E0317]: `*` as an index must be a number, but in `a.weight` it matches `weight`
error[E0317]: the pattern has no further `*` for this index
error[E0317]: this takes [6, 4] of ab, but `a.weight` is [6, 6]
error[E0317]: `a.weight` and `b.weight` give ab different axes
error[E0317]: `wte.weight` is tied, so it cannot be a part of a tensor
error[E0306]: a names table holds "pattern" = "name" and "pattern" = skip
