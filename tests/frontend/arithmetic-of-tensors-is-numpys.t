# RUN: %fsdpc dump -W no-unread-value --stage=model %s | sed '/^program eval/,$d' | grep -oE '%[0-9]+: f32[^!]* ' | grep -vE 'param|embedding'
# Numbers become constants, factors stay numbers, and the names of axes follow the shapes.
==== m.fsd
config { D = 6; V = 11 }
module Net {
  wte : Embedding(V, D)
  head : Linear(D, V)
  w : param[1] = ones
  forward(ids: [B, T]) {
    x = wte(ids)
    y = 1 - x * 2 / 3
    y = (w as [1, 1, 1]) + sum(x, axis = [1, 2])
    y = x ** 3 + x ** 0.5 - x ** w
    y = where(ids as [B, T, 1] != 0, x, -1)
    y = y as [B, T, D]
    x = x + stop_gradient(y)
    return head(x)
  }
}
model = Net
data { train = text("t.txt"); length = 3 }
train { loss = cross_entropy(model(inputs), targets) }
==== out
%6: f32[1, 3, 6] = scale(%5) {alpha = 2} 
%7: f32[1, 3, 6] = scale(%6) {alpha = 0.3333333333333333} 
%8: f32[1] = constant {alpha = 1} 
%9: f32[1, 3, 6] = sub(%8, %7) 
%11: f32[1, 1, 1] = reshape(%10) 
%12: f32[1, 1, 1] = sum(%5) 
%13: f32[1, 1, 1] = add(%11, %12) 
%14: f32[1, 3, 6] = mul(%5, %5) 
%15: f32[1, 3, 6] = mul(%14, %5) 
%16: f32[1, 3, 6] = sqrt(%5) 
%17: f32[1, 3, 6] = add(%15, %16) 
%18: f32[1, 3, 6] = power(%5, %10) 
%19: f32[1, 3, 6] = sub(%17, %18) 
%21: f32[1, 3, 1] = to_float(%20) 
%22: f32[1] = constant {alpha = 0} 
%23: f32[1, 3, 1] = unequal(%21, %22) 
%24: f32[1] = constant {alpha = -1} 
%25: f32[1, 3, 6] = where(%23, %5, %24) 
%26: f32[1, 3, 6] = reshape(%25) 
%27: f32[1, 3, 6] = stop_gradient(%26) 
%28: f32[1, 3, 6] = add(%5, %27) 
%30: f32[1, 3, 11] = linear(%28, %29) 
%32: f32[1, 3] = cross_entropy(%30, %3) {ignore = -100} 
