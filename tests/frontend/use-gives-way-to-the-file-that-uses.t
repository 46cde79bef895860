# RUN: %fsdpc dump --stage=config main.fsd | grep -E '^  (batch|steps|epochs|prefetch) |"'; %fsdpc dump --stage=model main.fsd | grep -E '^(param|module 0)' | sed 's/ key.*//; s/ checkpoint.*//'; %fsdpc dump --stage=wrap main.fsd | sed -n 's/.*by_path = /by_path = /p'
# RUN: cat used.fsd > both.fsd; echo 'model = Net' >> both.fsd; echo 'use "both.fsd"' > user.fsd; for f in both.fsd user.fsd; do %fsdpc dump --stage=model $f 2>&1 | grep -A1 '^error.E0304'; done; true
# What the file that uses says stands before what a used file says, directives too; `model` stands once in a file.
==== main.fsd
use "other.fsd"
use "used.fsd"
model = Net
train { "a.*" = group(lr = 2e-3); "b.weight" = group(weight_decay = 0.5); batch = 4; epochs = 1 }
shard { "b" = reshard(false) }
==== used.fsd
module Net { a, b, c : Linear(8, 8)
  forward(x) = c(b(a(x))) }
module Other { forward(x) = x }
model = Other
data  { train = synthetic(x = [8], y = [8], samples = 64) }
train { loss = mse(model(x), y); batch = 8; steps = 10; optimizer = adamw(lr = 1e-3)
        "a.*" = frozen; "b.*" = frozen; "c.*" = group(lr = 4e-3) }
shard { mesh = (dp = 2); unit = Linear; "b" = unit; "b" = reshard(true) }
==== other.fsd
train { "c.*" = frozen; batch = 16 }
==== out
  batch            = 4                        # main.fsd:4
  steps            = none                     # epochs is given later
  epochs           = 1                        # main.fsd:4
  "a.*"            = group(lr = 2e-3)         # main.fsd:4
  "b.weight"       = group(weight_decay = 0.5) # main.fsd:4
  "b.*"            = frozen                   # used.fsd:7
  "c.*"            = group(lr = 4e-3)         # used.fsd:7
  prefetch         = 1                        # default
  "b"              = reshard(false)           # main.fsd:5
  "b"              = unit                     # used.fsd:8
module 0 "" Net 1:3:9-3:12
param 0 "a.weight" module 1 3:3:3-3:9 f32[8, 8] normal(0.02)
param 1 "b.weight" module 2 3:3:3-3:9 f32[8, 8] normal(0.02)
param 2 "c.weight" module 3 3:3:3-3:9 f32[8, 8] normal(0.02)
by_path = list("b" reshard kept 1:5:9-5:12)
error[E0304]: the `model` is given twice
 --> both.fsd:9:9
error[E0304]: the `model` is given twice
 --> both.fsd:9:9
