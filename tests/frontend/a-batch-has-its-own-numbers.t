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
  #6 %6: i64[25] = average(%5, %3) {ignore = -100, alpha = -6}
  #9 %9: i64[25] = average(%8, %3) {ignore = -100, alpha = 0.5}
  #10 %10: i64[25] = average(%8, %3) {ignore = -100, alpha = 96}
  #14 %14: i64[25] = average(%13, %3) {ignore = -100, alpha = 0.1}
  #16 %16: i64[25] = average(%15, %3) {ignore = -100, alpha = 1}
  #19 %20: i64[24] = average_loss(%18, %9) {alpha = 0.5}
  #20 %21: i64[24] = average_loss(%20, %6) {alpha = -6}
  #21 %22: i64[24] = average_loss(%21, %10) {alpha = 96}
  #22 %23: i64[24] = average_loss(%22, %14) {alpha = 0.1}
  #23 %24: i64[24] = average_loss(%23, %16) {alpha = 1}
  #31 %31: i64[25] = average(%30, %28) {ignore = -100, alpha = -6}
  #34 %34: i64[25] = average(%33, %28) {ignore = -100, alpha = 0.5}
  #35 %35: i64[25] = average(%33, %28) {ignore = -100, alpha = 96}
  #39 %39: i64[25] = average(%38, %28) {ignore = -100, alpha = 0.1}
  #41 %41: i64[25] = average(%40, %28) {ignore = -100, alpha = 1}
  #44 %45: i64[24] = average_loss(%43, %34) {alpha = 0.5}
  #45 %46: i64[24] = average_loss(%45, %31) {alpha = -6}
  #46 %47: i64[24] = average_loss(%46, %35) {alpha = 96}
  #47 %48: i64[24] = average_loss(%47, %39) {alpha = 0.1}
  #48 %49: i64[24] = average_loss(%48, %41) {alpha = 1}
