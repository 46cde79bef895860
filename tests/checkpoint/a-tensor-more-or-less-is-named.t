# RUN: seq 300 > t.txt; sed 's/= out(emb(x))/= out(emb(x)) + z/; s/^  out/  z : param[128] = zeros\n  out/' less.fsd > more.fsd; for m in less more; do %fsdpc compile -q $m.fsd -o $m && %fsdp-run -q --threads 1 --checkpoint ck-$m $m; done; for m in "less more" "more less"; do set -- $m; %fsdp-run -q --resume ck-$1 --checkpoint ck $2; echo $?; %fsdpc reshard ck-$1 $2 -o ck3; echo $?; done
# A tensor that only the checkpoint or only the plan has is named, even the last of all names.
# NEEDS: build:device_cpu.so
==== less.fsd
module Net {
  emb : Embedding(128, 4)
  out : Linear(4, 128)
  forward(x) = out(emb(x))
}
model = Net
data { train = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 2; optimizer = sgd(lr = 0.1) }
==== out
3
3
3
3
==== err
error: ck-less/step-00000002: the checkpoint is of another model
  z: f32[128] here, not in the checkpoint
error[E0512]: the plan is for a different model or optimizer
    z: not in the checkpoint, f32[128] in the plan

error: ck-more/step-00000002: the checkpoint is of another model
  z: in the checkpoint, not here
error[E0512]: the plan is for a different model or optimizer
    z: f32[128] in the checkpoint, not in the plan

