# Makes a small folder of the hub: hub.sh REPOSITORY PROGRAMS makes ./hub, as if downloaded. Without the
# Python package `tokenizers`, ./standin has one that knows only tokens of one byte.
mkdir -p hub standin
cat >config.json <<'END'
{"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 32, "intermediate_size": 48, "vocab_size": 420,
 "num_attention_heads": 4, "num_key_value_heads": 2, "num_hidden_layers": 2, "max_position_embeddings": 256}
END
"$2/fsdpc" compile -q --hf config.json -s train.steps=1 -s train.schedule=none -o first.bin &&
    "$2/fsdp-run" -q --steps 0 --save hub first.bin
cp "$1/tests/runtime/tokenizer.json" hub
python3 -c 'import tokenizers' 2>/dev/null || cat >standin/tokenizers.py <<'END'
import json
OWN = [*range(33, 127), *range(161, 173), *range(174, 256)]
REST = [b for b in range(256) if b not in OWN]
class Tokenizer:
    @staticmethod
    def from_file(path):
        t = Tokenizer()
        with open(path, encoding="utf-8") as f:
            all = json.load(f)
        t.vocabulary = {**all["model"]["vocab"], **{a["content"]: a["id"] for a in all["added_tokens"]}}
        t.of = [t.vocabulary[chr(b if b in OWN else 256 + REST.index(b))] for b in range(256)]
        return t
    def get_vocab_size(self): return len(self.vocabulary)
    def token_to_id(self, token): return self.vocabulary.get(token)
    def encode(self, text, add_special_tokens):
        self.ids = [self.of[b] for b in text.encode()]
        return self
END
