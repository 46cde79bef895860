# RUN: %fsdpc compile -q tiny.fsd -n 2 -o b.bin
# RUN: for o in '' --all --raw '--only=out' '--format=json --rank=1'; do %fsdpc dump $o b.bin >%t/a; %fsdpc dump $o tiny.fsd -n 2 | cmp - %t/a && grep -qa . %t/a && echo "$o"; done
# A model file dumps as the plan that it would become.
==== tiny.fsd
module M {
  e    : Embedding(256, 4)
  out  : Linear(4, 256)
  forward(x) = out(e(x))
}
model = M
data  { train = text("a.txt"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 5; optimizer = sgd(lr = 0.1) }
==== out

--all
--raw
--only=out
--format=json --rank=1
