# RUN: while IFS= read -r line; do awk -v l="$line" '{sub("LINE", l); print}' m.fsd > n.fsd; %fsdpc dump --stage=model n.fsd 2>&1 | grep -E '^error|help:'; done < lines; true
# RUN: sed 's/LINE/y = layer_norm(x[:, 0], emb.weight[0])/' m.fsd > n.fsd; %fsdpc dump --stage=model n.fsd 2>/dev/null | grep -c ' layer_norm'
# An op along the last axis must not run along the samples, nor may a weight depend on them: their number differs between ranks.
==== lines
y = softmax(x as [B * T * D])
y, i = topk(x as [B * T * D], 2)
y = linear(x as [B, T * D], x as [B, T * D])
y = rms_norm(x[:, 0, 0], x[:, 1, 1])
y = gather(x as [B * T, D], ids)
y = relative_bias(x[:, 0], T, T)
y = x + x[:, 0]
y = x[:, :, 0] * sum(x, axis = [1, 2])
y = x + head
y = concat(x, head, axis = 1)
y = concat(x, x, axis = 0) as [B, 2 * T, D]
y = matmul(x, transpose(head, [0, 2, 1]))
==== m.fsd
config { D = 4; V = 70 }
module Net {
  emb : Embedding(V, D)
  head : param[8, 8, D] = zeros
  forward(ids: [B, T]) {
    x = emb(ids)
    LINE
    return linear(x, emb.weight)
  }
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets); batch = 8 }
==== out
error[E0208]: `softmax` would mix samples, so its result would depend on the number of ranks
  = help: the first axis of x f32[256] is the batch axis
error[E0208]: `topk` would mix samples, so its result would depend on the number of ranks
  = help: the first axis of x f32[256] is the batch axis
error[E0208]: `linear` would mix samples, so its result would depend on the number of ranks
  = help: the first axis of w f32[8, 32] is the batch axis
error[E0208]: `rms_norm` would mix samples, so its result would depend on the number of ranks
  = help: the first axis of x f32[8] is the batch axis
error[E0208]: the table must be made of parameters only
  = help: `gather` from rows of samples would depend on the number of ranks; gather(x, ids, axis = 1) takes entries of each sample
error[E0208]: `relative_bias` would mix samples, so its result would depend on the number of ranks
  = help: the first axis of w f32[8, 4] is the batch axis
error[E0208]: `+` would match the samples of [B, D] with another axis
  = help: the batch axis must stay first: write it as [B, 1, D]
error[E0208]: `*` would match the samples of [B, T] with another axis
  = help: the batch axis must stay first: write it as [B, 1, T]
error[E0208]: `+` would pair each sample of a rank with a row of [8, 8, D]
  = help: the batch axis cannot be indexed: give the other operand a first axis of size 1, or omit that axis
error[E0208]: `concat` would combine the samples of a rank with rows that do not belong to samples
  = help: the first axis of [B, T, D] is the batch axis, that of [8, 8, D] is not: expand(x, [B, ..]) repeats x for each sample
error[E0208]: the batch axis must stay the first axis
  = help: concatenate along a later axis
error[E0208]: `matmul` would combine the samples of a rank with rows that do not belong to samples
  = help: the first axis of [B, T, D] is the batch axis, that of [8, D, 8] is not: expand(x, [B, ..]) repeats x for each sample
2
