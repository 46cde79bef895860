# RUN: %fsdpc dump --stage=model m.fsd 2>&1 >/dev/null | grep -A1 '^[wn]'
# A local that hides a field, an argument of the module or a config name is a warning.
==== m.fsd
config { D = 4 }
module Net(n = 2) {
  fc : Linear(D, D)[n]
  forward(x) {
    D = x
    for fc in fc { x = fc(D) }
    n = x
    return n
  }
}
model = Net
data { train = synthetic(a = [4], b = [4]) }
train { loss = mse(model(a), b) }
==== out
warning[W0310]: `D` hides a config value of the same name
 --> m.fsd:5:5
--
note: it is declared here
 --> m.fsd:1:10
--
warning[W0310]: `fc` hides a field of the same name
 --> m.fsd:6:9
--
note: it is declared here
 --> m.fsd:3:3
--
warning[W0310]: `n` hides an argument of the module of the same name
 --> m.fsd:7:5
--
note: it is declared here
 --> m.fsd:2:12
