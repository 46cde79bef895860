# RUN: while IFS='|' read -r name op written; do echo $name $(for f in "$op" "$written"; do awk -v f="$f" '{sub("FORMULA", f); print}' net.txt > m.fsd; %fsdpc compile -q m.fsd -o p && %fsdpc dump --format=json p | sed -n 's/.*"activations": \([0-9]*\),/\1/p'; done); done < formulas
# If a formula is written out, backward recomputes what is cheap: it keeps no more than the op does, except for a few numbers a row.
==== formulas
swiglu|silu(x) * y|x * sigmoid(x) * y
geglu|gelu(x, approx = tanh) * y|0.5 * x * (1 + tanh(0.79788 * (x + 0.044715 * x * x * x))) * y
softmax|softmax(x) * y|exp(x - max(x, axis = -1)) / sum(exp(x - max(x, axis = -1)), axis = -1) * y
==== net.txt
config { D = 64 }
module Layer {
  a, b : Linear(D, D)
  forward(z) {
    x = a(z)
    y = b(z)
    return FORMULA
  }
}
module Net {
  emb : Embedding(16, D)
  layers : Layer[6]
  head : Linear(D, 16)
  forward(ids: [B, T]) {
    x = emb(ids)
    for layer in layers { x = layer(x) }
    return head(x)
  }
}
model = Net
data { train = synthetic_tokens(vocab = 16); length = 32 }
train { loss = cross_entropy(model(inputs), targets); batch = 8; steps = 2 }
==== out
swiglu 1261568 1261568
geglu 1654784 1261568
softmax 1261568 1280000
