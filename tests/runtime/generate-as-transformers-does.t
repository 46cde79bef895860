# RUN: %fsdpc compile -q %root/models/gpt2.fsd -o p -n 2 -s L=2 -s D=64 -s H=4 -s vocab=257 -s seq=64 -s 'data.train=text("%root/LICENSE")' -s data.val=none -s train.batch=8 -s train.steps=120 -s train.schedule='constant()' -s train.precision=f32 -s train.optimizer='adamw(lr=0.01)' && %fsdp-run -q --threads 1 --save w/ p
# RUN: for t in "The plan is " "fsdp-run"; do %fsdp-run -q --load w --generate "$t" --tokens 40 p > ours; %python %root/tests/runtime/greedy.py w "$t" 40 2> /dev/null | cmp - ours && test $(fold -w1 ours | sort -u | wc -l) -gt 6 && echo same; done
# A saved GPT-2 continues a text in transformers as it does here.
# NEEDS: build:device_cpu.so python:torch python:transformers
# TIME: 240
==== out
same
same
