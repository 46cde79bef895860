# RUN: %fsdpc dump --stage=model -n 2 -s train.accumulate=2 %s | grep -E ' average(_loss)?\(' | sed 's/ !.*//'
# A sum over the batch is its mean times the elements that all ranks and micro-batches have; factors, signs and weights multiply.
==== m.fsd
config { D = 6; V = 11 }
module Net {
  emb, head : Embedding(V, D)
  forward(ids: [B, T]) {
    x = emb(ids)
    z = mean(x * x, axis = -1)
    aux(mean(z), weight = 0.5)
    aux(-(2 * mean(x) - sum(z) / 4), weight = 3)
    aux(sum(head.weight ** 2), weight = 0.1)
    aux(mean(ids), weight = 1)
    return linear(x, head.weight)
  }
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets); batch = 16 }
==== out
  #14 %15: i64[25] = average(%7, %3) {ignore = -100, alpha = 0.5}
  #15 %16: i64[25] = average(%5, %3) {ignore = -100, alpha = -6}
  #16 %17: i64[25] = average(%7, %3) {ignore = -100, alpha = 96}
  #17 %18: i64[25] = average(%10, %3) {ignore = -100, alpha = 0.1}
  #18 %19: i64[25] = average(%11, %3) {ignore = -100, alpha = 1}
  #19 %20: i64[24] = average_loss(%13, %15) {alpha = 0.5}
  #20 %21: i64[24] = average_loss(%20, %16) {alpha = -6}
  #21 %22: i64[24] = average_loss(%21, %17) {alpha = 96}
  #22 %23: i64[24] = average_loss(%22, %18) {alpha = 0.1}
  #23 %24: i64[24] = average_loss(%23, %19) {alpha = 1}
  #39 %40: i64[25] = average(%32, %28) {ignore = -100, alpha = 0.5}
  #40 %41: i64[25] = average(%30, %28) {ignore = -100, alpha = -6}
  #41 %42: i64[25] = average(%32, %28) {ignore = -100, alpha = 96}
  #42 %43: i64[25] = average(%35, %28) {ignore = -100, alpha = 0.1}
  #43 %44: i64[25] = average(%36, %28) {ignore = -100, alpha = 1}
  #44 %45: i64[24] = average_loss(%38, %40) {alpha = 0.5}
  #45 %46: i64[24] = average_loss(%45, %41) {alpha = -6}
  #46 %47: i64[24] = average_loss(%46, %42) {alpha = 96}
  #47 %48: i64[24] = average_loss(%47, %43) {alpha = 0.1}
  #48 %49: i64[24] = average_loss(%48, %44) {alpha = 1}
