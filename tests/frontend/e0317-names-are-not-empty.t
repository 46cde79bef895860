# RUN: while IFS= read -r names; do sed "s|NAMES|names hf { $names }|" m.fsd > n.fsd; %fsdpc compile -q n.fsd -o p 2>&1 | grep -E '^error'; done < cases; true
# Each tensor has a name, whether it is a parameter or holds parts of some.
==== m.fsd
module Net { a : Linear(6, 6); forward(x) = a(x) }
model = Net
NAMES
data { train = synthetic(x = [6], y = 6) }
train { loss = cross_entropy(model(x), y); batch = 4; steps = 1 }
==== cases
"a.weight" = ""
"a.weight" = ""[:]
"a*.weight" = "*"
"a.weight" = ["x", ""]
==== out
error[E0317]: this entry gives `a.weight` an empty name
error[E0317]: this entry gives `a.weight` an empty name
error[E0317]: this entry gives `a.weight` an empty name
error[E0317]: this entry gives `a.weight` an empty name
