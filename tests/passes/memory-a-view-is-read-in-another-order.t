# RUN: %fsdpc compile -q net.fsd -o p && %fsdpc dump --stage=sched net.fsd | awk '!done && / = (scale|reshape|fused)\(/ { sub(" *#[0-9]+ %[0-9]+: ", ""); sub(" \\{.*| !.*", ""); print } / = fused/ { done = 1 }'
# A result takes the memory of an operand only where each operand in that memory is read in the result's order.
==== net.fsd
module Net {
  w : param[40] = ones
  forward(x: [B, 40]) {
    y = (2 * x) as [B, 40, 1]
    z = sum(y * (y as [B, 1, 40]), axis = -1)
    return (z as [B, 40]) * w
  }
}
model = Net
data { train = synthetic(x = [40], t = [40], samples = 16) }
train { loss = mse(model(x), t); batch = 2; steps = 1; optimizer = sgd(lr = 0.1) }
==== out
f32[2, 40] @3584 = scale(%3)
f32[2, 40, 1] @3584 = reshape(%5)
f32[2, 1, 40] @3584 = reshape(%6)
f32[2, 40, 1] @3072 = fused(%6, %7)
