# RUN: for form in '' ', causal = true'; do sed "s/FORM/$form/" m.txt >m.fsd; %fsdpc dump --stage=model m.fsd 2>&1 >/dev/null; done
# Attention over the inputs of a language model must be causal.
==== m.txt
module Net {
  e : Embedding(256, 8)
  forward(ids: [B, T]) {
    x = e(ids) as [B, T, 2, 4]
    return linear(attention(x, x, x FORM) as [B, T, 8], e.weight)
  }
}
model = Net
data { train = tokens("t.bin"); length = 6 }
train { loss = cross_entropy(model(inputs), targets) }
==== out
warning[W0307]: the targets are the next tokens, and this attention sees them
 --> m.fsd:5:19
  |
5 |     return linear(attention(x, x, x ) as [B, T, 8], e.weight)
  |                   ^^^^^^^^^^^^^^^^^^^
  |
  = help: write attention(.., causal = true)

