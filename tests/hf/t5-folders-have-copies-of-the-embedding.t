# RUN: bash %root/tests/hf/small.sh %fsdpc %root/models/hf/t5.fsd -q -o p && %fsdp-run -q --steps 0 --save hub/ p && mv hub/model.safetensors plain && python3 add.py same && %fsdpc import hub -o m.fsd && %fsdp-run -q --steps 0 --load hub p && echo loaded
# RUN: python3 add.py other; ! %fsdp-run -q --steps 0 --load hub p
# Published files of T5 have copies of the embedding, and a tensor that Transformers does not read. Copies that differ from the embedding are refused: Transformers would not tie them.
# NEEDS: build:device_cpu.so
==== add.py
import json, struct, sys
with open("plain", "rb") as file:
    header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
    data = file.read()
begin, end = header["shared.weight"]["data_offsets"]
copy = bytearray(data[begin:end])
copy[0] ^= sys.argv[1] == "other"
for name in ("encoder.embed_tokens", "decoder.embed_tokens",
             "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias"):
    offsets = [len(data), len(data) + len(copy)]
    header[name + ".weight"] = {**header["shared.weight"], "data_offsets": offsets}
    data += copy
text = json.dumps(header).encode()
with open("hub/model.safetensors", "wb") as file:
    file.write(struct.pack("<Q", len(text)) + text + data)
==== out
loaded
==== err
m.fsd: a model of family t5 with 154,688 parameters; its weights: fsdp-run --load hub
error: hub: tensors shared.weight and encoder.embed_tokens.weight differ, but they are one tied parameter (shared.weight)
