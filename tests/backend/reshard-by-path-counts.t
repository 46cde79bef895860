# RUN: for s in '' '"fc.3" = reshard(false)' '"fc.*" = reshard(false)' '"fc.1" = reshard(true); "fc.*" = reshard(false)' 'reshard = false' 'reshard = false; "fc.1" = reshard(true)' 'reshard = 2' 'reshard = 2; "fc.1" = reshard(true); "fc.2" = reshard(false)' '"fc.3" = reshard(2)' 'reshard = false; "fc.3" = reshard(2)' '"fc.3" = reshard(4); "fc.2" = reshard(1)'; do sed "s/SETTING/$s/" net.fsd > one.fsd; %fsdpc dump --format=json one.fsd | %python counts.py "$s"; done
# A unit that a path keeps is not gathered again in backward, one that it gives back is, among all
# ranks or in groups of K, whatever the others are (fc.0 is not: its input needs no gradient).
==== net.fsd
module Net { fc : Linear(128, 128)[4]
  forward(x) { for layer in fc { x = relu(layer(x)) }
    return x } }
model = Net
data  { train = synthetic(x = [128], y = [128], samples = 64) }
train { loss = mse(model(x), y); batch = 8; steps = 1; optimizer = adamw() }
shard { mesh = (dp = 4); unit = Linear; SETTING }
==== counts.py
import json
import sys
gathers = [c for c in json.load(sys.stdin)["collectives"] if c[1] == "all_gather"]
again = [f"{c[2]} of {len(c[5])}" for c in gathers if c[0].startswith("backward")]
print(f"{sys.argv[1]}: {len(gathers) - len(again)} + {', '.join(again) or 'none'}")
==== out
: 4 + fc.3 of 4, fc.2 of 4, fc.1 of 4
"fc.3" = reshard(false): 4 + fc.2 of 4, fc.1 of 4
"fc.*" = reshard(false): 4 + none
"fc.1" = reshard(true); "fc.*" = reshard(false): 4 + fc.1 of 4
reshard = false: 4 + none
reshard = false; "fc.1" = reshard(true): 4 + fc.1 of 4
reshard = 2: 4 + fc.3 of 2, fc.2 of 2, fc.1 of 2
reshard = 2; "fc.1" = reshard(true); "fc.2" = reshard(false): 4 + fc.3 of 2, fc.1 of 4
"fc.3" = reshard(2): 4 + fc.3 of 2, fc.2 of 4, fc.1 of 4
reshard = false; "fc.3" = reshard(2): 4 + fc.3 of 2
"fc.3" = reshard(4); "fc.2" = reshard(1): 4 + fc.3 of 4, fc.1 of 4
==== err
note[W0404]: not gathered for backward, which does not read their parameters: fc.0

note[W0404]: not gathered for backward, which does not read their parameters: fc.0

note[W0404]: not gathered for backward, which does not read their parameters: fc.0

note[W0404]: not gathered for backward, which does not read their parameters: fc.0

note[W0404]: not gathered for backward, which does not read their parameters: fc.0

note[W0404]: not gathered for backward, which does not read their parameters: fc.0

