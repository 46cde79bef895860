# RUN: %fsdpc dump --stage=precision -s train.precision=bf16 %s | sed -n '/program train/,/program eval/p' | grep '!forward' | grep -E 'linear|slice|concat|stack' | sed 's/ !.*//'
# RUN: %fsdpc compile -q -n 2 -s train.precision=bf16 %s -o p && %fsdpc check p
# Weights marked @f32 stay so where they are cut or joined, but not where one that is not marked is among them.
==== m.fsd
config { D = 8; V = 11; H = 4 }
module Net {
  wte : Embedding(V, D)
  u, v, w : param[2, D] = normal(0.02) @f32
  plain : param[2, D] = normal(0.02)
  head : Linear(H, V)
  forward(ids: [B, T]) {
    x = wte(ids)
    a = linear(x, concat(u, v, axis = 0)[1:])
    b = linear(x, stack(u, w, axis = 0)[0])
    c = linear(x, concat(u, plain, axis = 0))
    return head(c + concat(a, b[:, :, 1:], axis = 2))
  }
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 1 }
==== out
  #8 %8: f32[4, 8] = concat(%6, %7) {axis = 0}
  #9 %9: f32[3, 8] = slice(%8) {axis = 0, start = 1, count = 3}
  #10 %10: f32[4, 8, 3] = linear(%5, %9)
  #12 %12: f32[2, 2, 8] = stack(%6, %11) {axis = 0}
  #13 %13: f32[1, 2, 8] = slice(%12) {axis = 0, start = 0, count = 1}
  #15 %15: f32[4, 8, 2] = linear(%5, %14)
  #17 %17: bf16[4, 8] = concat(%6, %16) {axis = 0}
  #18 %18: bf16[4, 8, 4] = linear(%5, %17)
  #19 %19: f32[4, 8, 1] = slice(%15) {axis = 2, start = 1, count = 1}
  #20 %20: f32[4, 8, 4] = concat(%10, %19) {axis = 2}
  #23 %23: bf16[4, 8, 11] = linear(%21, %22)
