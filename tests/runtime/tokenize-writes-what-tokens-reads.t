# RUN: %python make.py && %python %root/tools/tokenize.py tokenizer.json a.txt b.txt -o t --tokens 300
# RUN: %fsdpc compile -q net.fsd -o p.bin && %fsdp-run -q p.bin && %python back.py
# A text that tools/tokenize.py cut into files of tokens is read as one stream, and decodes to itself.
# NEEDS: python:tokenizers build:device_cpu.so
==== make.py
from tokenizers import Tokenizer, models, pre_tokenizers, decoders, trainers
lines = ["word %d of the text, with two  spaces\n" % i for i in range(60)]
open("a.txt", "w").writelines(lines[:40]); open("b.txt", "w").writelines(lines[40:])
t = Tokenizer(models.BPE())
t.pre_tokenizer, t.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
t.train(["a.txt"], trainers.BpeTrainer(vocab_size=300, show_progress=False, special_tokens=["<|endoftext|>"],
                                       initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
t.save("tokenizer.json")
==== back.py
import glob, struct
from tokenizers import Tokenizer
ids = []
for f in sorted(glob.glob("t_*.bin")):
    b = open(f, "rb").read()
    magic, version, n = struct.unpack("<3i", b[:12])
    assert (magic, version, len(b)) == (20240520, 1, 1024 + 2 * n)
    ids += struct.unpack("<%dH" % n, b[1024:])
print(ids.count(0), Tokenizer.from_file("tokenizer.json").decode(ids) == open("a.txt").read() + open("b.txt").read())
==== net.fsd
module Net {
  e : Embedding(300, 8)
  o : Linear(8, 300)
  forward(x) = o(e(x))
}
model = Net
data { train = tokens("t_*.bin"); length = 16 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 20; optimizer = sgd(lr = 0.1) }
==== out
t_0000.bin: 300 tokens
t_0001.bin: 300 tokens
t_0002.bin: 101 tokens
2 True
