# RUN: %fsdpc dump --stage=comm -n 2 -s train.accumulate=3 %s | %python %root/tests/passes/order.py --compute | cut -d' ' -f1,2 | grep -E 'accumulate|metric_add|all_reduce|step_scale|sgd|set_state|reduce_scatter|free'
# first stores gradients and loss, micro and last add to them; only last updates and sums metrics.
==== net.fsd
module Net {
  w : param[3, 3] = zeros
  forward(ids: [B, S]) = gather(w, ids)
}
model = Net
data  { train = text("x"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 24; steps = 2; optimizer = sgd(lr = 0.1) }
==== out
first set_state
first reduce_scatter
first set_state
first free
micro metric_add
micro set_state
micro reduce_scatter
micro accumulate
micro set_state
micro free
last metric_add
last reduce_scatter
last accumulate
last set_state
last free
last all_reduce
last set_state
last step_scale
last set_state
last sgd
last set_state
eval all_reduce
eval set_state
