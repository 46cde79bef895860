# RUN: %fsdpc dump --stage=model %s 2>&1 | grep -E "^error|-->|help:|note:"
# A factor of a mean over the batch must not divide it by zero or make it infinite.
==== m.fsd
config { D = 4; V = 70; none_at_all = 0 }
module Net {
  emb : Embedding(V, D)
  forward(ids: [B, T]) {
    x = emb(ids)
    aux(mean(x) / none_at_all, weight = 1)
    aux(mean(x) * 1e300 * 1e300, weight = 1)
    return linear(x, emb.weight)
  }
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets); batch = 4 }
==== out
error[E0203]: division by zero
 --> m.fsd:6:9
note: `none_at_all` is 0
 --> m.fsd:6:19
error[E0208]: the factor of this term is infinite
 --> m.fsd:7:5
  = help: it is the product of the weight and the numbers that multiply the mean or sum
==== exit 1
