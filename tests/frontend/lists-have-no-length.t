# RUN: python3 make.py && %fsdpc compile -q m.fsd --preset p99 -o %t/plan 2> %t/warnings && %fsdpc dump --raw %t/plan | grep -c '^field'
# RUN: %fsdpc dump --stage=model m.fsd --preset p77x 2>&1 | grep help; %fsdpc dump --stage=model m.fsd -s c699x=1 2>&1 | grep help
# 150 batch fields, 100 presets and 700 config names are as good as one of each.
==== make.py
import struct
names = [f"x{i}" for i in range(150)]
for n in names + ["y"]:
    head = "{'descr': '%s', 'fortran_order': False, 'shape': (8, %s), }" % (("<i4", "") if n == "y" else ("<f4", "4"))
    data = head.encode().ljust(117) + b"\n"
    open(n + ".npy", "wb").write(b"\x93NUMPY\1\0" + struct.pack("<H", 118) + data + bytes(8 * (4 if n == "y" else 16)))
text = "config { " + "; ".join(f"c{i} = {i}" for i in range(700)) + " }\n"
text += "".join(f'preset "p{i}" {{ c{i} = 4 }}\n' for i in range(100))
text += "module Net {\n  w : Linear(4, 4)\n  forward(" + ", ".join(names) + ") = w(" + " + ".join(names) + ")\n}\n"
text += "model = Net\ndata { train = npy(" + ", ".join(f'{n} = "{n}.npy"' for n in names + ["y"]) + ") }\n"
text += "train { loss = cross_entropy(model(" + ", ".join(names) + "), y); batch = 4; steps = c99 }\n"
open("m.fsd", "w").write(text)
==== out
151
  = help: did you mean `p77`?
  = help: did you mean `c699`?
==== exit 1
