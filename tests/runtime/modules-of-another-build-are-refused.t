# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd -o p.bin -n 2; python3 older.py %build %t
# RUN: cd %t; number='s/0x//; s/[0-9a-f]{8},/OTHER,/; s/not [0-9a-f]{8}/not OURS/'; for o in "" "--device cpu --transport mpi"; do cp %build/device_cpu.so now.so; [ "$o" ] && mv now.so device_cpu.so; ./fsdp-run -q $o ../p.bin 2>&1 | sed -E "$number"; done
# A module that was compiled with other headers than fsdp-run is refused before it is used, with what to do.
# NEEDS: build:device_cpu.so build:transport_mpi.so tool:mpirun sanitizer:none
==== toy.fsd
module Toy {
  emb : Embedding(128, 4)
  out : Linear(4, 128)
  forward(x) = out(emb(x))
}
model = Toy
data { train = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 6; steps = 1; optimizer = sgd(lr = 0.1) }
==== older.py
import pathlib, re, shutil, struct, sys
build, to = map(pathlib.Path, sys.argv[1:])
shutil.copy(build / "fsdp-run", to)
number = struct.pack("<I", int(re.search(r"0x(\w+)u", (build / "include/runtime/interface.h").read_text())[1], 16))
for name in ("device_cpu.so", "transport_mpi.so"):
    code = (build / name).read_bytes()
    assert code.count(number) == 1
    (to / name).write_bytes(code.replace(number, struct.pack("<I", 8)))
==== out
error: device cpu: the module device_cpu.so next to fsdp-run comes from another build (interface OTHER, not OURS)
help: build both from the same sources; `ninja` does
error: transport mpi: the module transport_mpi.so next to fsdp-run comes from another build (interface OTHER, not OURS)
help: build both from the same sources; `ninja` does
==== exit 2
