# RUN: mkdir -p %t/else/deep && cp -r tiny.fsd parts ds.json a.txt %t/else && cd %t/else/deep && %fsdpc compile -q -n 2 ../tiny.fsd --deepspeed ../ds.json -s c=3 -o b.bin
# RUN: %fsdpc compile -q tiny.fsd -n 2 --deepspeed $PWD/ds.json -s c=3 -o %t/a.bin && cmp %t/a.bin %t/else/deep/b.bin
# RUN: %fsdpc compile -q %t/else/deep/../tiny.fsd -n 2 --deepspeed ds.json -s c=3 -o %t/c.bin && cmp %t/a.bin %t/c.bin
# RUN: %fsdp-run -n 3 %t/a.bin
# The same files and options give the same bytes in whatever folder, also with a used file and an imported one: help
# for another number of ranks names the files alone.
==== parts/m.fsd
config { c = 4 }
module M {
  e    : Embedding(256, c)
  out  : Linear(c, 256)
  forward(x) = out(e(x))
}
==== tiny.fsd
use "parts/m.fsd"
model = M
data  { train = text("a.txt"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 5; optimizer = sgd(lr = 0.1) }
==== ds.json
{"gradient_clipping": 1.0}
==== a.txt
0123456789012345678901234567890
==== err
error: %t/a.bin was compiled for 2 ranks, but -n asks for 3
help: fsdpc compile tiny.fsd --deepspeed ds.json -s c=3 -o %t/a.bin -n 3
==== exit 1
