# RUN: cp %root/tests/runtime/tokenizer*.json . && %fsdpc compile -q toy.fsd -o p -n 2 && %fsdp-run -q --threads 1 --save w p && python3 ids.py && %fsdp-run -q --load w --generate "$(cat ids)" --tokens 40 --temperature 1 p > numbers && %fsdp-run -q --load w --generate "$(cat text)" --tokens 40 --temperature 1 --tokenizer tokenizer.json p > words && python3 compare.py
# RUN: %fsdpc compile -q toy.fsd -o bytes -s 'data.train=text("toy.fsd")'; for a in "--tokenizer none p" "--tokenizer w p" "--tokenizer tokenizer.json bytes"; do %fsdp-run -q --load w --generate hello $a; echo $?; done
# With a tokenizer, prompt and text of a model that reads ids are text: the same tokens as in numbers.
# NEEDS: build:device_cpu.so
==== ids.py
import json
text, ids = next(c for c in json.load(open("tokenizer-cases.json")) if len(c[1]) > 12 and "<|" in c[0] and "\u2028" not in c[0])
open("text", "w").write(text)
open("ids", "w").write(" ".join(map(str, ids)))
==== compare.py
import json
shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
byte = {chr(b): b for b in shown} | {chr(256 + i): b for i, b in enumerate(b for b in range(256) if b not in shown)}
t = json.load(open("tokenizer.json"))
piece = {i: bytes(byte[c] for c in k) for k, i in t["model"]["vocab"].items() if k[:2] != "<|"}
piece |= {a["id"]: a["content"].encode() for a in t["added_tokens"]}
ids = list(map(int, open("numbers").read().split()))
print(b"".join(piece[i] for i in ids) + b"\n" == open("words", "rb").read(), len(set(ids)) > 20)
==== toy.fsd
module Toy {
  emb : Embedding(420, 8)
  out : Linear(8, 420)
  forward(x) = out(emb(x))
}
model = Toy
data { train = synthetic_tokens(420); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 12; steps = 60; optimizer = adamw(lr = 0.1) }
==== out
True True
2
3
1
==== err
error: cannot open none: No such file or directory
error: w: not a tokenizer: unable to decode byte 0xb0
error: --generate: the model reads bytes: leave out --tokenizer
