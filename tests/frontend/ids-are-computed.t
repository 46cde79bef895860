# RUN: %fsdpc dump --stage=model m.fsd | sed -nE '/^program train/,/to_int/s/ !forward.*//p'
# RUN: sed 's/int(/sqrt(/' m.fsd > n.fsd; %fsdpc dump --stage=model n.fsd 2>&1 | grep -E '^error|help'
# Ids for `gather` are computed from others; a remainder divides by the number itself, so that it is exact.
==== m.fsd
config { D = 4; V = 11 }
module Net {
  emb : Embedding(V, D)
  pos : Embedding(9, D)
  head : Linear(D, V)
  forward(ids: [B, T]) {
    return head(emb(ids) + pos(int((iota(T) + 2) % 3 + clamp(ids, 0, 5))))
  }
}
model = Net
data { train = synthetic_tokens(vocab = 11); length = 6 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 3 }
==== out
  #0 %0: f64[16] = state {index = 0}
  #1 %1: u8[2, 256] = state {index = 1}
  #2 %2: i32[4, 6] = field(%1, %0) {index = 0}
  #3 %3: i32[4, 6] = field(%1, %0) {index = 1}
  #4 %4: f32[11, 4] = param {index = 0}
  #5 %5: f32[4, 6, 4] = embedding(%4, %2)
  #6 %6: i32[6] = iota
  #7 %7: f32[6] = to_float(%6)
  #8 %8: f32[1] = constant {alpha = 2}
  #9 %9: f32[6] = add(%7, %8)
  #10 %10: f32[1] = constant {alpha = 3}
  #11 %11: f32[6] = remainder(%9, %10)
  #12 %12: f32[4, 6] = to_float(%2)
  #13 %13: f32[1] = constant {alpha = 0}
  #14 %14: f32[4, 6] = at_least(%12, %13)
  #15 %15: f32[1] = constant {alpha = 5}
  #16 %16: f32[4, 6] = at_most(%14, %15)
  #17 %17: f32[4, 6] = add(%16, %11)
  #18 %18: i32[4, 6] = to_int(%17)
error[E0204]: `gather` takes integers
  = help: these can be fractions: write gather(table, int(ids)); an id that the table does not have ends the run
==== exit 1
