# RUN: for s in 'unit = Linear' '"wte" = unit; unit = Linear'; do sed "s/SET/$s/" net.txt > net.fsd; %fsdpc dump -n 4 net.fsd | grep '^  reduces'; echo .; done
# Two untied embeddings in the root are reduced at once: the report shows it, and how to reduce them separately.
==== net.txt
module Net { wte : Embedding(512, 16); fc : Linear(16, 16)[2]; head : Head
  forward(ids: [B, S]) { x = wte(ids)
    for f in fc { x = relu(f(x)) }
    return head(x) } }
module Head { w : param[512, 16] = normal(0.1); forward(x) = linear(x, w) }
model = Net
data  { train = text("x"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 8; steps = 1; optimizer = sgd(lr = 0.1) }
shard { SET }
==== out
  reduces     64.0 KiB of (root) at once, including wte.weight and head.w; "wte" = unit in section shard separates them
.
.
==== err
note[W0404]: not gathered for backward, which does not read their parameters: wte

