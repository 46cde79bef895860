# RUN: seq 900 >t.txt; %fsdpc compile -q m.fsd -o p && %fsdp-run -q --steps 0 --save w p && %fsdp-run -q --load w --generate "12" --tokens 5 p | wc -c
# For a model that computes with its inputs as numbers, only the logits limit the ids.
# NEEDS: build:device_cpu.so
==== m.fsd
module Net {
  fc : Linear(1, 8)
  out : Linear(8, 128)
  forward(ids: [B, T]) = out(relu(fc(sum(ids as [B, T, 1], axis = 2) / 128)))
}
model = Net
data { train = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 12; steps = 2; optimizer = adamw(lr = 0.1) }
==== out
8
