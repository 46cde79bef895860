# RUN: %fsdpc dump --stage=config %s -n 2 -s 'shard."fc.*"=reshard(false)' -s 'shard."fc.1"=unit' -s 'shard."fc.*"=reshard(true)' -s 'train."fc.0.*"=frozen' | grep '"'; for s in 'shard."fc.0=unit' 'shard.fc.*=unit' 'shard.""=unit' 'shard."g.*"=unit' 'data."fc.*"=unit'; do %fsdpc dump -n 2 --stage=wrap %s -s "$s" 2>&1 | grep -E '^error|help:'; done; true
# -s sets what a section says of a path; the last one comes first, and takes the place of one like it.
==== m.fsd
module Net { fc : Linear(8, 8)[2]
  forward(x) { for layer in fc { x = relu(layer(x)) }
    return x } }
model = Net
data  { train = synthetic(x = [8], y = [8], samples = 64) }
train { loss = mse(model(x), y); batch = 8; steps = 1; optimizer = adamw() }
shard { "fc.*" = reshard(2); "fc.0" = unit }
==== out
  "fc.0.*"         = frozen                   # -s
  "fc.*"           = reshard(true)            # -s
  "fc.1"           = unit                     # -s
  "fc.0"           = unit                     # m.fsd:7
error[E0307]: a path must be in double quotes
  = help: for example -s 'shard."h.*"=unit'
error[E0307]: a path must be in double quotes
  = help: for example -s 'shard."h.*"=unit'
error[E0307]: a path must be in double quotes
  = help: for example -s 'shard."h.*"=unit'
error[E0402]: unit "g.*": no module of that path
error[E0306]: section data takes no "path" = value entries; only train, shard and names do
