# RUN: %fsdpc compile net.fsd -o p -s 'shard.offload=(states = cpu, grads = cpu, path = "far")' 2>&1 | grep '^kept'; %fsdpc dump p | sed -n '/^kept/,/^$/p'
# RUN: %fsdpc dump --raw p | grep -E '^host|^state .* moment1 |\[evict\]' | sed 's, !update.*,,'
# RUN: %fsdpc compile net.fsd -o p -s 'shard.offload=(states = cpu, pin = false)' 2>&1 | grep '^kept'; %fsdpc dump p | grep '^kept'; %fsdpc dump --raw p | grep '^host'; %fsdpc dump --format=json p | grep -A1 '"path"'
# The dump shows what is kept in host memory, or in a file, with its size next to the device's peak; its addresses are @host.
==== net.fsd
module Net { emb : Embedding(16, 8); out : Linear(8, 16); forward(x) = out(emb(x)) }
model = Net
data { train = synthetic_tokens(vocab = 16); length = 2 }
train { loss = cross_entropy(model(inputs), targets); batch = 2; steps = 1 }
==== out
kept in a file in far: gradients 1.0 KiB, optimizer 2.0 KiB
kept by a rank in a file, mapped, in far
  gradients                1.0 KiB  33.3 %  ####################
  optimizer                2.0 KiB  66.7 %  ########################################
  together                 3.0 KiB

host persistent 2048 bytes 3072 path far
state 6 "m" moment1 f32[256] group 0 @host+0
  #16 [evict] wait(#14) %16: f32[256] @host+2048 = evict(%14)
  #27 [evict] wait(#25) %27: f32[256] @host+0 = evict(%25)
  #29 [evict] %28: f32[256] @host+1024 = evict(%26)
kept in host memory, not pinned: optimizer 2.0 KiB
kept by a rank in memory of the host, not pinned
host persistent 2048 bytes 2048 pageable
   "path": "",
   "pinned": false,
