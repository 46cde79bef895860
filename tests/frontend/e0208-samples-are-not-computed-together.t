# RUN: while IFS= read -r line; do awk -v l="$line" '{sub("LINE", l); print}' m.fsd > n.fsd; %fsdpc dump --stage=model n.fsd 2>&1 | grep -E '^error|help:'; done < lines; true
# RUN: sed 's/LINE/y = layer_norm(x[:, 0], emb.weight[0])/' m.fsd > n.fsd; %fsdpc dump --stage=model n.fsd 2>/dev/null | grep -c ' layer_norm'
# An op along the last axis is none along the samples, nor is a weight made of them: ranks have other numbers of them.
==== lines
y = softmax(x as [B * T * D])
y, i = topk(x as [B * T * D], 2)
y = linear(x as [B, T * D], x as [B, T * D])
y = rms_norm(x[:, 0, 0], x[:, 1, 1])
==== m.fsd
config { D = 4; V = 70 }
module Net {
  emb : Embedding(V, D)
  forward(ids: [B, T]) {
    x = emb(ids)
    LINE
    return linear(x, emb.weight)
  }
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets); batch = 4 }
==== out
error[E0208]: `softmax` of the samples of a batch together would depend on the ranks
  = help: x f32[128] has the samples along its first axis
error[E0208]: `topk` of the samples of a batch together would depend on the ranks
  = help: x f32[128] has the samples along its first axis
error[E0208]: `linear` of the samples of a batch together would depend on the ranks
  = help: w f32[4, 32] has the samples along its first axis
error[E0208]: `rms_norm` of the samples of a batch together would depend on the ranks
  = help: x f32[4] has the samples along its first axis
2
