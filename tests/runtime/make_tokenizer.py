"""make_tokenizer.py FOLDER: writes tokenizer.json, a byte-level BPE of 420 tokens made from this
repository's LICENSE, and tokenizer-cases.json, texts with the ids that the library `tokenizers`
gives them, for tokenizer_test.c."""
import json
import pathlib
import random
import sys

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, processors, trainers

folder = pathlib.Path(sys.argv[1])
root = pathlib.Path(__file__).parents[2]
t = Tokenizer(models.BPE())
t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
t.decoder = decoders.ByteLevel()
t.post_processor = processors.ByteLevel(trim_offsets=False)
more = ["I'll  say: it's 1,000\n\n  times"] * 20 + ["αβγ ñandú привет 日本語 ² ½"] * 5
lines = (root / "LICENSE").read_text().splitlines(keepends=True) + more
alphabet = pre_tokenizers.ByteLevel.alphabet()
trainer = trainers.BpeTrainer(vocab_size=418, initial_alphabet=alphabet, show_progress=False)
t.train_from_iterator(lines, trainer)
t.add_special_tokens([AddedToken(x, special=True) for x in ("<|endoftext|>", "<|end|>")])
t.save(str(folder / "tokenizer.json"), pretty=False)

random.seed(1)
parts = """the| the|'s|'ll|'S| '|  |\n|\n\n |\t| \u00a0|\u3000|1|23 | ½|²|é|Ünicode| привет|日本語|한국
ªº|×÷|€|…|—|→|😀|.|,|!?|_|x_1|<end>|<endoftext>|<en|Software| copyright|ß|a|\u2028|שלום"""
parts = [p.replace("<", "<|").replace(">", "|>") for p in parts.split("|")]
texts = ["", " ", "  ", "a", " a", "a  b", "a \n b", "end "] + [
    "".join(random.choices(parts, k=random.randint(1, 12))) for _ in range(300)]
cases = [[text, t.encode(text).ids] for text in texts]
assert all(t.decode(ids, skip_special_tokens=False) == text for text, ids in cases)
text = json.dumps(cases, ensure_ascii=False, separators=(",", ":"))
(folder / "tokenizer-cases.json").write_text(text)
