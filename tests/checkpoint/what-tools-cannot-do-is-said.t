# RUN: seq 300 > t.txt; for s in "-n 2 -o p" "-s D=16 -o q" "-s train.optimizer=sgd(lr=0.1) -o r"; do a=(${s/ -o/ -o}); %fsdpc compile -q net.fsd "${a[@]}"; done; %fsdp-run -q --threads 1 --checkpoint ck --save w p; cp w cut; truncate -s -4 cut; mkdir empty
# RUN: try() { %fsdpc "$@"; echo "exit $?" >&2; }; try check none; try check empty; try reshard ck -n 2; try reshard ck -o x; try reshard ck p -n 2 -o x; try reshard ck -n 0 -o x; try reshard ck -n 2 -o ck; try reshard ck q -o x; try reshard ck r -o x; try reshard ck t.txt -o x; try reshard ck -n 2 -o ck/step-00000002; try reshard ck -n 2 -o no/x
# RUN: try() { %fsdpc "$@"; echo "exit $?" >&2; }; try convert ck; try convert ck -o x --max-file 1GB; try convert ck -o x --dtype f8; try convert ck q -o x; try convert w -o x; try convert w p -o x --dtype f16; try convert w q -o x; try convert cut p -o x; try convert none p -o x; try convert ck -o no/x; try convert ck -o /dev/null; (ulimit -f 1; try reshard ck -n 2 -o x; try convert ck -o y); ls x y
# Each mistake is named with what helps, before anything is written.
# NEEDS: build:device_cpu.so
==== net.fsd
config { D = 12 }
module Net {
  emb : Embedding(128, D)
  out : Linear(D, 128)
  forward(x) = out(emb(x))
}
model = Net
data { train = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 12; steps = 2; optimizer = adamw(lr = 0.01) }
==== out
x:
lock
==== err
error: cannot open none: No such file or directory
exit 2
error: empty contains no checkpoint
exit 2
error[E0504]: `fsdpc reshard` needs -o FOLDER, where the new checkpoint goes

exit 1
error[E0504]: `fsdpc reshard` needs -n M or a plan
  = help: -n M divides the checkpoint evenly among M ranks; a plan gives its own layout

exit 1
error[E0504]: `fsdpc reshard` needs -n or a plan, not both
  = help: -n M divides the checkpoint evenly among M ranks; a plan gives its own layout

exit 1
error[E0503]: `-n` takes a number of ranks from 1 to 1048576, not `0`

exit 1
error[E0503]: ck already has step 2
  = help: name another folder

exit 1
error[E0512]: the plan is for a different model or optimizer
    emb.weight: f32[128, 12] in the checkpoint, f32[128, 16] in the plan
    out.weight: f32[128, 12] in the checkpoint, f32[128, 16] in the plan
    optimizer.state.emb.weight.exp_avg: f32[128, 12] in the checkpoint, f32[128, 16] in the plan
    and 3 more

exit 3
error[E0512]: the plan is for a different model or optimizer
    optimizer.state.emb.weight.exp_avg: f32[128, 12] in the checkpoint, not in the plan
    optimizer.state.out.weight.exp_avg: f32[128, 12] in the checkpoint, not in the plan
    optimizer.state.emb.weight.exp_avg_sq: f32[128, 12] in the checkpoint, not in the plan
    and 1 more

exit 3
error[E0510]: t.txt: this is not a plan: it does not start with FSDPLAN1

exit 3
error[E0503]: -o takes a folder of checkpoints, but ck/step-00000002 is a single checkpoint

exit 1
error: cannot make no/x: No such file or directory
exit 2
error[E0504]: `fsdpc convert` needs -o FILE or -o FOLDER/

exit 1
error[E0503]: --max-file goes with a folder
  = help: -o x/ makes a folder

exit 1
error[E0503]: `--dtype` takes f32, bf16 or f16, not `f8`

exit 1
error[E0512]: the plan is for a different model
    emb.weight: f32[128, 12] in the checkpoint, f32[128, 16] in the plan

exit 3
error[E0504]: w is not a checkpoint; converting weights to one needs a plan
  = help: fsdpc convert WEIGHTS plan.bin -o FOLDER makes a checkpoint of them

exit 1
error[E0503]: --dtype and --max-file are for files of weights
  = help: the plan determines the types in a checkpoint

exit 1
error[E0513]: w: not the weights of this model: 0 missing, 2 with another shape or type, 0 unexpected
  wrong shape: emb.weight is [128, 12], the model needs [128, 16]
  wrong shape: out.weight is [128, 12], the model needs [128, 16]

exit 3
error[E0513]: cut: tensor out.weight: its data lie outside the file

exit 3
error: cannot read none: No such file or directory
exit 2
error: cannot write no/x: there is no folder no/
exit 2
error[E0503]: cannot write /dev/null: it is a device
  = help: name a file to create or replace

exit 1
error: cannot write to x: a file of the checkpoint needs 22528 bytes, and the limit on a file's size (ulimit -f) is 1024
exit 2
error: cannot write y: it needs 12472 bytes, and the limit on a file's size (ulimit -f) is 1024 bytes
exit 2
ls: cannot access 'y': No such file or directory
==== exit 2
