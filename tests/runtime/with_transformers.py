"""with_transformers.py FOLDER..: loads each folder as transformers does, and prints the class, what it
missed or did not expect, the type of its numbers, and whether the weights are those of the file."""
import sys
import warnings

import torch
import transformers
import weights

warnings.simplefilter("ignore")
transformers.utils.logging.set_verbosity_error()
transformers.utils.logging.disable_progress_bar()
for folder in sys.argv[1:]:
    config = transformers.AutoConfig.from_pretrained(folder)
    kind = getattr(transformers, config.architectures[0])
    model, info = kind.from_pretrained(folder, output_loading_info=True, dtype="auto")
    wrong = {key: sorted(map(str, names)) for key, names in info.items() if names}
    have = model.state_dict()
    same = True
    for name, (dtype, shape, raw) in weights.read(folder).items():
        if name in have:
            mine = have[name].contiguous().view(-1).view(torch.uint8).numpy().tobytes()
            same &= list(have[name].shape) == shape and mine == raw
    print(kind.__name__, wrong or "all keys", next(model.parameters()).dtype, same)
