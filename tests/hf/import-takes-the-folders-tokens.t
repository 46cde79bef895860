# RUN: mkdir hub; mv config.json hub; for f in 1 2; do python3 -c "import struct, sys; sys.stdout.buffer.write(struct.pack('<256i', 20240520, 1, 500, *[0] * 253) + bytes(1000))" >hub/train_000$f.bin; done; %fsdpc import -q hub/ -o m.fsd && grep -B1 '^data' m.fsd && %fsdpc compile -q m.fsd -s train.steps=1 -s data.length=8 -s train.schedule=none -o p.bin && %fsdp-run -q --threads 1 p.bin
# RUN: %fsdpc import -q hub/config.json -o - | grep '^data'; mkdir 'a"b' t5; cp hub/* 'a"b'; ! %fsdpc import -q 'a"b' -o -; cp hub/*.bin t5; cp t5.json t5/config.json; %fsdpc import -q t5 -o - | grep '^data'
# RUN: cp -r hub 'h[1]*?\'; %fsdpc import -q 'h[1]*?\' -o m.fsd && grep '^data' m.fsd && %fsdpc compile -q m.fsd -s train.steps=1 -s data.length=8 -s train.schedule=none -o p.bin && %fsdp-run -q --threads 1 p.bin && echo read
# Token files that tools/tokenize.py wrote into a folder of the hub are what the imported model file trains on, whatever the folder's name; a name that no string can have is refused.
# NEEDS: build:device_cpu.so
==== config.json
{"model_type": "llama", "hidden_size": 32, "intermediate_size": 48, "num_attention_heads": 4, "num_hidden_layers": 1, "vocab_size": 97}
==== t5.json
{"model_type": "t5", "d_model": 32, "d_kv": 8, "d_ff": 48, "num_layers": 1, "num_heads": 4, "vocab_size": 97}
==== out
}
data  { train = tokens("hub/train_*.bin"); length = min(seq, 4096) }
data  { train = synthetic_tokens(vocab = vocab); length = min(seq, 4096) }
data  { train = span_corruption(tokens("t5/train_*.bin"), rate = 0.15, span = 3, mark = vocab - 29); length = 512 }
data  { train = tokens("h\[1\]\*\?\\/train_*.bin"); length = min(seq, 4096) }
read
==== err
error[E0503]: a"b has token files, which no string of a model file can name
  = help: rename the folder

