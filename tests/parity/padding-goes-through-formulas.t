# RUN: for f in '*' '/'; do sed "s#OP#$f#" net.fsd >f.fsd; for n in 1 3; do %fsdpc compile -q f.fsd --mesh tp=$n -o p 2>/dev/null && %fsdp-run -q --threads 1 --log log p && %python -c 'import json; print([round(json.loads(l)["loss"], 5) for l in open("log") if "\"step\"" in l])'; rm -f log; done; %fsdpc dump --stage=fuse_elementwise --mesh tp=3 f.fsd 2>/dev/null | grep -c 'tp of 8.*fused'; done; true
# RUN: %python %root/tests/parity/random_models.py %fsdpc %fsdp-run 1005 1 2>/dev/null && %python %root/tests/parity/random_models.py %fsdpc %fsdp-run 1007 1 2>/dev/null
# A vocabulary of 8 rows that three ranks share out ends in a row of zeros, which products keep, in formulas as well;
# a quotient would be 0 / 0 there, so ranks do not share it out.
# NEEDS: build:device_cpu.so sanitizer:none
# TIME: 60
==== net.fsd
module Net {
  h : param[8, 6] = normal(0.5)
  e : param[8, 6] = normal(0.5)
  forward(f: [B, F]) { return linear(f, h OP e) }
}
model = Net
data { train = synthetic(a = [6], b = 8, samples = 64) }
train { loss = cross_entropy(model(a), b); batch = 4; steps = 3; optimizer = sgd(lr = 0.05) }
shard { unit = root }
==== out
[2.14697, 2.07368, 1.94399]
[2.14697, 2.07368, 1.94399]
1
[20.34407, 4.41122, 2.6641]
[20.34407, 4.41122, 2.6641]
0
1 models, 0 wrong
1 models, 0 wrong
