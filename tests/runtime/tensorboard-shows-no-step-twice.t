# RUN: seq 300 > t.txt; %fsdpc compile -q %root/tests/runtime/toy.fsd -s train.steps=60 -s train.eval_every=10 -s 'train.metric=accuracy(model(inputs), targets)' -o p -n 2; r="%fsdp-run -q --threads 1 --tensorboard runs --checkpoint ck"; $r --checkpoint-every 20 --steps 30 p; rm -r ck/step-00000030; $r --resume ck --steps 45 p; $r --resume ck p; %python curve.py %root 60
# RUN: mkfifo runs/tfevents; ln -s tfevents runs/tfevents.2; r="%fsdp-run -q --threads 1 --tensorboard runs --checkpoint c2"; $r --steps 17 p; $r --resume c2 --steps 18 p; %python curve.py %root 18
# RUN: rm -r runs; %fsdpc compile -q %root/tests/runtime/toy.fsd -s train.steps=60 -s train.eval_every=20 -s 'train.metric=accuracy(model(inputs), targets)' -o q -n 2; r="%fsdp-run -q --threads 1 --tensorboard runs --checkpoint"; $r c3 --steps 15 p; $r c4 --steps 10 q; $r c4 --resume c4 --steps 30 q; %python curve.py %root 30
# Attempts of a run are one curve with each step and each evaluation once, as TensorBoard puts files together; an
# evaluation of another run in the same folder is not taken for one of theirs.
# NEEDS: build:device_cpu.so
# TIME: 60
==== curve.py
import glob, os, sys
sys.path.insert(0, sys.argv[1] + "/tests/runtime")
from events import fields, records, scalars
shown = []
for path in filter(os.path.isfile, sorted(glob.glob("runs/*"))):
    for record in records(open(path, "rb").read()):
        event = dict(fields(record))
        if 7 in event:
            shown = [s for s in shown if s[1] < event.get(2, 0)]
        shown += scalars(record)
steps = lambda wanted: [step for tag, step, _, _ in shown if tag == wanted]
print(steps("train/loss") == list(range(1, int(sys.argv[2]) + 1)), steps("eval/loss"), steps("eval/accuracy"))
==== out
True [10, 20, 30, 40, 50, 60] [10, 20, 30, 40, 50, 60]
True [10] [10]
True [20] [20]
