# RUN: for n in 64 4096; do for r in '' '--rank 5' '--rank all'; do %fsdpc dump --format=json -n $n $r m.fsd >%t/$n"$r"; done; done; %python sizes.py %t
# Only --rank all writes a list with an entry a rank; what is written as a formula means the same.
==== m.fsd
module M { e : Embedding(256, 4); out : Linear(4, 256, bias = true); forward(x) = out(e(x)) }
model = M
data  { train = text("a.txt"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 4096; steps = 5; optimizer = sgd(lr = 0.1) }
==== sizes.py
import json, os, sys
def read(name):
    with open(os.path.join(sys.argv[1], name)) as f:
        text = f.read()
    return len(text), json.loads(text)
for rank in "", "--rank 5":
    small, large = read("64" + rank)[0], read("4096" + rank)[0]
    print("plain" if not rank else rank, "grows by less than 1 %:", large < 1.01 * small)
for n in 64, 4096:
    _, short = read(f"{n}")
    _, whole = read(f"{n}--rank all")
    _, five = read(f"{n}--rank 5")
    ranks = [range(e[5]["first"], e[5]["count"]) for e in short["collectives"]]
    print(all(list(r) == e[5] for r, e in zip(ranks, whole["collectives"])), len(ranks[0]))
    layout, full = short["layout"][""], whole["layout"][""]
    padding = [p for k, p in layout["shard_padding"]["runs"] for _ in range(k)]
    print(padding == full["shard_padding"], sum(padding) == full["padded"] - full["unpadded"])
    print(full["pieces"][5] == five["layout"][""]["pieces"], len(full["pieces"]))
==== out
plain grows by less than 1 %: True
--rank 5 grows by less than 1 %: True
True 64
True True
True 64
True 4096
True True
True 4096
