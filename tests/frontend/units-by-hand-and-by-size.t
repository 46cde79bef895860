# RUN: for u in root Linear '[Linear, Embedding]' 'size(10, leaf = [Linear])' '[["head"], ["wte"]]' none; do %fsdpc dump --stage=model %s -s shard.unit="$u" | grep -oE 'unit = [^:]*'; done
# Every form of shard.unit arrives in the policy.
==== m.fsd
config { D = 6; V = 11 }
module Net {
  wte : Embedding(V, D)
  head : Linear(D, V)
  forward(ids: [B, T]) {
    return head(wte(ids))
  }
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets) }
==== out
unit = root 3
unit = class("Linear") 3
unit = class("Linear", "Embedding") 3
unit = size(10, "Linear") 3
unit = manual(["head"], ["wte"]) 3
unit = root 3
