"""with_transformers.py FOLDER..: loads each folder as transformers does, and prints the class,
missing and unexpected tensors, the type of its numbers, and whether it has the bytes of the
files.

With FOLDER=LOG of an --eval-only run over val.txt (4 samples of 32 bytes), or over the val_*.npy
next to the log, also whether the loss equals that of the log."""
import json
import pathlib
import sys
import warnings

import numpy
import torch
import transformers
import weights

warnings.simplefilter("ignore")
transformers.utils.logging.set_verbosity_error()
transformers.utils.logging.disable_progress_bar()


def same_bytes(model, folder):
    have, same = model.state_dict(), True
    for name, (dtype, shape, raw) in weights.read(folder).items():
        if name in have:
            mine = have[name].contiguous().view(-1).view(torch.uint8).numpy().tobytes()
            same &= list(have[name].shape) == shape and mine == raw
    return same


def logits_and_targets(model, folder):
    def array(name):
        return torch.tensor(numpy.load(folder / f"val_{name}.npy")).long()

    if model.config.model_type == "bert":
        ids, mask, kind = array("inputs"), array("mask"), array("segments")
        return model(ids, attention_mask=mask, token_type_ids=kind).logits, array("labels"), -100
    if model.config.model_type == "t5":
        return model(array("source"), decoder_input_ids=array("target")).logits, array("labels"), 0
    text = torch.tensor(list(open("val.txt", "rb").read(129)))
    return model(text[:128].view(4, 32)).logits, text[1:], -100


def same_loss(model, log):
    ours = [e["loss"] for e in map(json.loads, open(log)) if e["event"] == "eval"][0]
    with torch.no_grad():
        logits, targets, ignored = logits_and_targets(model, pathlib.Path(log).parent)
    theirs = torch.nn.functional.cross_entropy(
        logits.flatten(0, 1), targets.flatten(), ignore_index=ignored).item()
    return f"loss {abs(ours / theirs - 1) < 2e-6 or (ours, theirs)}"


for argument in sys.argv[1:]:
    folder, _, log = argument.partition("=")
    config = transformers.AutoConfig.from_pretrained(folder)
    kind = getattr(transformers, config.architectures[0])
    model, info = kind.from_pretrained(folder, output_loading_info=True, dtype="auto")
    wrong = {key: sorted(map(str, names)) for key, names in info.items() if names}
    print(kind.__name__, wrong or "all keys", next(model.parameters()).dtype,
          same_bytes(model, folder), *([same_loss(model.eval(), log)] if log else []))
