# RUN: %fsdpc dump --stage=model %s 2>&1 | grep -E '^error|^warning|^note|-->|help:'
# The smallest model: tables, train and eval.
==== m.fsd
module Tok {
  fc : Embedding(5, 5)
  forward(x) = fc(x)
}
model = Tok
data { train = text("t.txt"); length = 3 }
train { loss = cross_entropy(model(inputs), targets) }
==== exit 1
