# RUN: seq 3000 > t.txt; %fsdpc compile -q %root/models/gpt2.fsd -o p -n 2 -s L=2 -s D=64 -s H=4 -s vocab=257 -s seq=32 -s 'data.train=text("t.txt")' -s data.val=none -s data.length=32 -s train.batch=4 -s train.steps=2 -s train.schedule='constant()'
# RUN: %fsdp-run -q --save one/ p && %fsdp-run -q --save parts/ --max-file 100KB p && %fsdp-run -q --save half/ --save-dtype bf16 p && ls one parts
# RUN: PYTHONPATH=%root/tests/runtime %python %root/tests/runtime/with_transformers.py one parts half
# transformers loads a folder that --save wrote, in one file or several, without a key too many or
# too few, and with the same bytes.
# NEEDS: build:device_cpu.so python:torch python:transformers
# TIME: 240
==== out
one:
config.json
model.safetensors

parts:
config.json
model-00001-of-00007.safetensors
model-00002-of-00007.safetensors
model-00003-of-00007.safetensors
model-00004-of-00007.safetensors
model-00005-of-00007.safetensors
model-00006-of-00007.safetensors
model-00007-of-00007.safetensors
model.safetensors.index.json
GPT2LMHeadModel all keys torch.float32 True
GPT2LMHeadModel all keys torch.float32 True
GPT2LMHeadModel all keys torch.bfloat16 True
