# RUN: %fsdpc dump --stage=train -n 2 %s | %fsdpc opt --pass=wrap,shard,optimizer > %t/g
# RUN: sed 's/^mesh dp = 2/mesh ep = 3, dp = 2/' %t/g | %fsdpc opt --pass=comm
# An axis that this version cannot use is an error in a graph that comes as text, too.
==== net.fsd
module Net {
  w : param[3, 3] = zeros
  forward(ids: [B, S]) = gather(w, ids)
}
model = Net
data  { train = text("x"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 24; steps = 2; optimizer = sgd(lr = 0.1) }
==== err
error[E0406]: mesh axis ep = 3 (experts) is not supported yet

==== exit 1
