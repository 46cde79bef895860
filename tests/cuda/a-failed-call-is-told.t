# RUN: seq 300 >t.txt; for n in 1 2; do %fsdpc compile -q net.fsd -o %t/$n.bin -n $n; run() { rm -f %t/log; FSDP_EMULATE_FAIL=$1 %build/emulated/run/fsdp-run -n $n --device cuda --transport local --quiet --log %t/log %t/$n.bin 2>&1 | grep -c '^error: .*an error'; grep -o '"loss":[0-9.]*' %t/log; }; run -1 >%t/right; seq $((50 * n)) $((13 * n)) $((330 * n)) | while read i; do run $i | tr '\n' ' ' >%t/got; read told rest <%t/got; [ $told = 1 ] && echo told || cmp -s <(tr '\n' ' ' <%t/right) %t/got && echo as without || echo "call $i: not told"; done | sort -u; done
# If a call of the CUDA runtime fails, the run reports it, unless it was a trial: then the losses are the same.
# NEEDS: build:device_cpu.so build:emulated/run/transport_nccl.so
# TIME: 120
==== net.fsd
module Net {
  emb : Embedding(128, 24)
  out : Linear(24, 128)
  forward(x) = out(emb(x))
}
model = Net
data { train = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 4; accumulate = 2; optimizer = adamw(lr = 0.01); eval_every = none }
==== out
as without
told
as without
told
