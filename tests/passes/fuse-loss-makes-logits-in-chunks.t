# RUN: %fsdpc dump --stage=fuse_loss %s | grep -v '^policy' | sed -n '/^program/,$p' | grep -E 'program|embedding|cross|linear|set_grad|set_state'
# RUN: %fsdpc dump --stage=fuse_loss -s train.loss_chunks=23 %s | sed -n 's/.*f32.\([0-9]*\), 37. = linear_cross.*count = \([0-9]*\).*/24 rows: \2 chunks of \1/p'
# With loss_chunks = N the head, its loss and in training its gradients are one op, of which one chunk of logits is scratch.
==== net.fsd
module Net {
  emb  : Embedding(37, 8)
  ln   : LayerNorm(8)
  head : Linear(8, 37)
  forward(x) = head(ln(emb(x)))
}
model = Net
data  { train = synthetic_tokens(vocab = 37); length = 6; val = synthetic_tokens(vocab = 37) }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 4; optimizer = adamw(lr = 0.01)
        eval_every = 2; eval_steps = 2; loss_chunks = 5 }
shard { mesh = (dp = 1) }
==== out
program train
  #5 %5: f32[4, 6, 8] = embedding(%4, %2) !forward "emb" 1:5:24-5:30
  #10 %12: f32[4, 6, 8], %13: f32[37, 8], %14: i64[24], %15: f32[5, 37] = linear_cross_entropy_both(%8, %11, %3) {count = 5, ignore = -100, exponent = -5} !forward "head" 1:5:16-5:32
  #11 set_state(%14) {index = 2} !forward - 1:9:16-9:53
  #12 set_grad(%13) {index = 3} !backward "head" 1:5:16-5:32
  #14 set_grad(%18) {index = 2} !backward "ln" 1:5:21-5:31
  #15 set_grad(%17) {index = 1} !backward "ln" 1:5:21-5:31
  #16 %19: f32[37, 8] = embedding_grad(%16, %2) !backward "emb" 1:5:24-5:30
  #17 set_grad(%19) {index = 0} !backward "emb" 1:5:24-5:30
program eval
  #23 %25: f32[4, 6, 8] = embedding(%24, %22) !forward "emb" 1:5:24-5:30
  #28 %32: i64[24], %33: f32[5, 37] = linear_cross_entropy(%28, %31, %23) {count = 5, ignore = -100} !forward "head" 1:5:16-5:32
  #29 set_state(%32) {index = 3} !forward - 1:9:16-9:53
24 rows: 12 chunks of 2
24 rows: 12 chunks of 2
