# RUN: ! %fsdp-run --overlap=always p
# RUN: %fsdpc compile -q net.fsd -o p -n 1 && ! %fsdp-run -q --overlap on p
# RUN: %fsdpc compile -q net.fsd -o p -n 2 && FSDP_CHECK=memory %fsdp-run -q --overlap on p
# What --overlap cannot do is said, not left undone.
# NEEDS: build:device_cpu.so
==== net.fsd
module Net { fc : Linear(4, 4)
  forward(x) = fc(x) }
model = Net
data { train = synthetic(x = [4], y = [4], samples = 8) }
train { loss = mse(model(x), y); batch = 4; steps = 1; optimizer = sgd(lr = 0.1) }
==== err
error: unknown --overlap `always`: it is auto, on or off
help: fsdp-run --help lists the options
error: --overlap on: the plan has no gathers, reductions or copies that could run beside the computation
help: it is for several ranks, and for what is offloaded
error: --overlap on and FSDP_CHECK=memory: one at a time
==== exit 1
