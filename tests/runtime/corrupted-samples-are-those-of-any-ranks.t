# RUN: for m in bert t5; do for n in 1 2 4; do %fsdpc compile -q %root/models/$m.fsd -o p -n $n -s L=1 -s D=16 -s H=2 -s vocab=64 -s data.length=16 -s train.steps=2 -s train.batch=8 -s 'train.schedule=constant()' $(test $m = bert && echo -s seq=16 || echo -s dk=8 -s F=32) 2>/dev/null && %fsdp-run --quiet --threads 1 --log l p && %python show.py $m; done; done | uniq -c | sed 's/^ *//'
# mlm and span_corruption depend only on the sample's number: 1, 2 and 4 ranks train alike.
# NEEDS: build:device_cpu.so
==== show.py
import json, sys
steps = [json.loads(line) for line in open("l", encoding="utf-8")]
print(sys.argv[1], *("%.4f" % s["loss"] for s in steps if s["event"] == "step"))
==== out
3 bert 4.1704 4.1738
3 t5 5.3514 4.9843
