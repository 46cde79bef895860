# RUN: for c in auto gather; do echo $c; %fsdpc dump --stage=comm -n 1 -s train.precision=bf16 -s shard.cast=$c %root/tests/passes/model-t.fsd 2>&- | sed -n '/^program train/,/^end/p' | grep -E ' (view|cast|embedding|linear|linear_grad_input)\(' | sed 's/ !.*//; s/^ *#[0-9]* //'; done
# A group that every rank holds whole is cast by parameter, before its first reader. Backward reads the casts of forward, except in the unit
# that it reads last, u0, whose weight is cast again; with cast = gather all are.
==== out
auto
%8: f32[4, 4] = view(%3) {offset = 0}
%9: bf16[4, 4] = cast(%8)
%10: bf16[24, 3, 4] = embedding(%9, %6)
%11: f32[6, 4] = view(%0) {offset = 0}
%12: bf16[6, 4] = cast(%11)
%13: bf16[24, 3, 6] = linear(%10, %12)
%15: f32[8, 6] = view(%1) {offset = 0}
%16: bf16[8, 6] = cast(%15)
%17: bf16[24, 3, 8] = linear(%14, %16)
%19: f32[10, 8] = view(%2) {offset = 0}
%20: bf16[10, 8] = cast(%19)
%21: bf16[24, 3, 10] = linear(%18, %20)
%23: f32[2, 10] = view(%3) {offset = 64}
%24: bf16[2, 10] = cast(%23)
%25: bf16[24, 3, 2:8] = linear(%22, %24)
%29: bf16[24, 3, 10] = linear_grad_input(%26, %24)
%32: bf16[24, 3, 8] = linear_grad_input(%30, %20)
%36: bf16[24, 3, 6] = linear_grad_input(%34, %16)
%40: f32[6, 4] = view(%0) {offset = 0}
%41: bf16[6, 4] = cast(%40)
%42: bf16[24, 3, 4] = linear_grad_input(%38, %41)
gather
%8: f32[4, 4] = view(%3) {offset = 0}
%9: bf16[4, 4] = cast(%8)
%10: bf16[24, 3, 4] = embedding(%9, %6)
%11: f32[6, 4] = view(%0) {offset = 0}
%12: bf16[6, 4] = cast(%11)
%13: bf16[24, 3, 6] = linear(%10, %12)
%15: f32[8, 6] = view(%1) {offset = 0}
%16: bf16[8, 6] = cast(%15)
%17: bf16[24, 3, 8] = linear(%14, %16)
%19: f32[10, 8] = view(%2) {offset = 0}
%20: bf16[10, 8] = cast(%19)
%21: bf16[24, 3, 10] = linear(%18, %20)
%23: f32[2, 10] = view(%3) {offset = 64}
%24: bf16[2, 10] = cast(%23)
%25: bf16[24, 3, 2:8] = linear(%22, %24)
%29: f32[2, 10] = view(%3) {offset = 64}
%30: bf16[2, 10] = cast(%29)
%31: bf16[24, 3, 10] = linear_grad_input(%26, %30)
%34: f32[10, 8] = view(%2) {offset = 0}
%35: bf16[10, 8] = cast(%34)
%36: bf16[24, 3, 8] = linear_grad_input(%32, %35)
%40: f32[8, 6] = view(%1) {offset = 0}
%41: bf16[8, 6] = cast(%40)
%42: bf16[24, 3, 6] = linear_grad_input(%38, %41)
%46: f32[6, 4] = view(%0) {offset = 0}
%47: bf16[6, 4] = cast(%46)
%48: bf16[24, 3, 4] = linear_grad_input(%44, %47)
