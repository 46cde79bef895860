# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd -o p -n 2; %fsdp-run -q --threads 1 --save w p; sed -i "s,FSDP,%fsdp-run,;s,CRASH.so,%build/tests/modules/crash.so," cut.sh; . ./cut.sh; cut tail; ls | grep out; cut head; ls | grep out | sed 's/-[0-9]*$/-N/'; %fsdp-run -q --load w --predict out.npy p; ls | grep out
# A rank is lost while --predict writes: the unfinished file goes with the run, or where rank 0 itself was lost, with the
# next run that writes there.
# NEEDS: build:device_cpu.so build:tests/modules/crash.so sanitizer:none
==== cut.sh
cut() {
    LD_PRELOAD=CRASH.so CRASH_IN=out.npy CRASH_SLEEP=200 FSDP -q --transport tcp -n 2 --load w --predict out.npy p > /dev/null 2>&1 & run=$!
    until [ -s out.npy.* ] || ! kill -0 $run; do sleep 0.1; done
    kill -9 $(pgrep -P $run | $1 -n 1); wait $run; echo "exit $?"
}
==== toy.fsd
module Toy {
  emb : Embedding(128, 8)
  out : Linear(8, 128)
  forward(x) = out(emb(x))
}
model = Toy
data { train = text("t.txt"); val = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); predict = model(inputs)[:, -1]; batch = 4; steps = 2 }
==== out
exit 4
exit 4
out.npy.part-N
out.npy
