# RUN: for t in "targets % 32" "int(targets / 8)" "targets / 8"; do %fsdpc dump --stage=model -s "train.loss=cross_entropy(model(inputs), $t)" m.fsd 2>&1 | grep "to_int\|cross_entropy" | sed "s/ {.*//"; done
# Targets that are computed of integers are integers, without int(..); what could be a fraction is refused, unless it has the shape of the scores.
==== m.fsd
module N {
  emb : Embedding(256, 32)
  fc  : Linear(32, 32)
  forward(ids: [B, T]) = fc(emb(ids))
}
model = N
data { train = synthetic_tokens(vocab = 256); length = 8 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 1 }
==== out
  #11 %11: i32[4, 8] = to_int(%10) !forward - 3:1:12-1:54
  #12 %12: i64[24], %13: f32[4, 8] = cross_entropy(%7, %11)
  #25 %25: i32[4, 8] = to_int(%24) !forward - 3:1:12-1:54
  #26 %26: i64[24], %27: f32[4, 8] = cross_entropy(%21, %25)
  #11 %11: i32[4, 8] = to_int(%10) !forward - 3:1:41-1:57
  #12 %12: i64[24], %13: f32[4, 8] = cross_entropy(%7, %11)
  #25 %25: i32[4, 8] = to_int(%24) !forward - 3:1:41-1:57
  #26 %26: i64[24], %27: f32[4, 8] = cross_entropy(%21, %25)
error[E0204]: `targets` of `cross_entropy` must be integers
1 | train.loss=cross_entropy(model(inputs), targets / 8)
==== exit 1
