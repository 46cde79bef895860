# RUN: %fsdpc dump --stage=model %root/tests/passes/router.fsd | sed -n "/program train/,/program eval/p" | grep -vE "state|field|program|end" | sed "s, !forward,,; s, [0-9]*:[0-9]*:[0-9]*-[0-9:]*$,,"
# An array of modules is elaborated once: a product has the weights of all experts.
==== out
  #4 %4: f32[11, 6] = param {index = 0} "wte"
  #5 %5: f32[4, 8, 6] = embedding(%4, %2) "wte"
  #6 %6: f32[3, 6] = param {index = 2} "gate"
  #7 %7: f32[4, 8, 3] = linear(%5, %6) "gate"
  #8 %8: f32[4, 8, 3] = softmax(%7) -
  #9 %9: f32[4, 8, 2], %10: i32[4, 8, 2] = topk(%8) {count = 2} -
  #10 %11: f32[4, 8, 3] = linear(%5, %6) "gate"
  #11 %12: i32[64], %13: i32[4, 8, 2], %14: i32[4] = route(%10) {count = 3} -
  #12 %15: f32[64, 6] = dispatch(%5, %12, %13) -
  #13 %16: f32[6, 6] = param {index = 3} "experts.0.up"
  #14 %17: f32[6, 6] = param {index = 5} "experts.0.up"
  #15 %18: f32[6, 6] = param {index = 7} "experts.0.up"
  #16 %19: f32[64, 6] = experts_linear(%15, %14, %16, %17, %18) "experts"
  #17 %20: f32[64, 6] = silu(%19) "experts"
  #18 %21: f32[6, 6] = param {index = 4} "experts.0.down"
  #19 %22: f32[6, 6] = param {index = 6} "experts.0.down"
  #20 %23: f32[6, 6] = param {index = 8} "experts.0.down"
  #21 %24: f32[64, 6] = experts_linear(%20, %14, %21, %22, %23) "experts"
  #22 %25: f32[4, 8, 6] = combine(%24, %9, %12, %13) -
  #23 %26: f32[11, 6] = param {index = 1} -
  #24 %27: f32[4, 8, 11] = linear(%25, %26) -
  #25 %28: i64[24], %29: f32[4, 8] = cross_entropy(%27, %3) {ignore = -100} -
  #26 %30: i64[8] = balance(%11, %10, %3) {ignore = -100, alpha = 0.5} -
  #27 %31: i64[24] = balance_loss(%28, %30) {alpha = 0.5} -
