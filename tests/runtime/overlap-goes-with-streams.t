# RUN: ! %fsdp-run --overlap=always p
# RUN: %fsdpc compile -q net.fsd -o p -n 1 && ! %fsdp-run -q --overlap on p
# RUN: %fsdpc compile -q net.fsd -o p -n 2 && FSDP_CHECK=memory %fsdp-run -q --overlap on p
# What --overlap cannot do is reported, not ignored.
# NEEDS: build:device_cpu.so
==== net.fsd
module Net { fc : Linear(4, 4)
  forward(x) = fc(x) }
model = Net
data { train = synthetic(x = [4], y = [4], samples = 8) }
train { loss = mse(model(x), y); batch = 4; steps = 1; optimizer = sgd(lr = 0.1) }
==== err
error: unknown --overlap `always`: use auto, on or off
help: fsdp-run --help lists the options
error: --overlap on: the plan has no gathers, reductions or copies that could run during the computation
help: leave out the option: it only helps several ranks or offloaded state
error: --overlap on and FSDP_CHECK=memory exclude each other
help: leave out one of them
==== exit 1
