# RUN: %fsdpc compile -q net.fsd -o p.bin && %fsdp-run -q --threads 1 --dump-grads 0=g p.bin && %python show.py %root
# Where a gradient jumps it is that of PyTorch 2.15: of relu, abs, max, min, clamp to numbers and to tensors.
# NEEDS: build:device_cpu.so
==== show.py
import sys
sys.path.insert(0, sys.argv[1] + "/tests/parity")
import safetensors
for name, t in sorted(safetensors.load("g").items()):
    print(name, [round(v, 6) for v in t.values])
==== net.fsd
module Net {
  a_relu, b_abs, c_max, d_clamp, e_clamp : param[3] = zeros
  f_amax, g_min, h_clamp, i_limit : param[2] = ones
  forward(x: [B]) {
    y = relu(a_relu) + abs(b_abs) + max(c_max, 0) + clamp(d_clamp, 0, 1) + clamp(e_clamp, -1, 0)
    z = max(f_amax, axis = 0) + min(g_min, 1) + clamp(h_clamp, i_limit, 2)
    return x + sum(y) + sum(z * 2) / 2
  }
}
model = Net
data { train = synthetic(samples = 4, inp = 4, classes = 2) }
train { loss = mean(model(inp)); batch = 4; steps = 1; optimizer = sgd(lr = 1) }
==== out
a_relu [0.0, 0.0, 0.0]
b_abs [0.0, 0.0, 0.0]
c_max [0.5, 0.5, 0.5]
d_clamp [0.0, 0.0, 0.0]
e_clamp [0.0, 0.0, 0.0]
f_amax [1.0, 1.0]
g_min [0.5, 0.5]
h_clamp [0.5, 0.5]
i_limit [0.5, 0.5]
