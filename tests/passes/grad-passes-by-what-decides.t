# RUN: for y in "where(relu(w), w * w, 2) * m" "where(w, m, w)" "where(w, m, 2)" "where(w, 3, 2) * m"; do sed "s/VALUE/$y/" m.fsd > n.fsd; echo "$y"; { %fsdpc dump --stage=grad n.fsd 2>&1 || true; } | sed -nE '/!backward/s/ !.*//p; /^error|note/p'; done
# No gradient flows to the operand of `where` that decides; a parameter that is only that gets none.
==== m.fsd
module M {
  w : param[3] = ones
  m : param[3] = ones
  forward(x) = x * VALUE
}
model = M
data { train = synthetic_tokens(vocab = 9); length = 3 }
train { loss = mean(model(inputs)); batch = 4; steps = 1; optimizer = sgd(lr = 0.1) }
==== out
where(relu(w), w * w, 2) * m
  #17 %16: f32[4, 3] = average_grad(%13) {exponent = -4, alpha = 1}
  #18 %17: f32[4, 3] = mul(%16, %9)
  #19 %18: f32[3] = sum_leading(%17)
  #20 set_grad(%18) {index = 1}
  #21 %19: f32[4, 3] = mul(%16, %10)
  #22 %20: f32[4, 3] = mul(%19, %8)
  #23 %21: f32[3] = sum_leading(%20)
  #24 %22: f32[3] = keep(%21, %4)
  #25 %23: f32[3] = mul(%22, %3)
  #26 %24: f32[3] = mul(%22, %3)
  #27 %25: f32[3] = add(%23, %24)
  #28 set_grad(%25) {index = 0}
where(w, m, w)
  #13 %12: f32[4, 3] = average_grad(%9) {exponent = -4, alpha = 1}
  #14 %13: f32[4, 3] = mul(%12, %6)
  #15 %14: f32[3] = sum_leading(%13)
  #16 %15: f32[3] = drop(%14, %3)
  #17 set_grad(%15) {index = 0}
  #18 %16: f32[3] = keep(%14, %3)
  #19 set_grad(%16) {index = 1}
where(w, m, 2)
error[E0420]: w gets no gradient; mark it @frozen or use it
note: it is used here, but nothing leads from here to the loss
where(w, 3, 2) * m
error[E0420]: w gets no gradient; mark it @frozen or use it
note: it is used here, but nothing leads from here to the loss
