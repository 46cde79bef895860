"""greedy.py FOLDER PROMPT N: continues the prompt with transformers, choosing the likeliest token
each time."""
import sys

import torch
import transformers

transformers.utils.logging.set_verbosity_error()
transformers.utils.logging.disable_progress_bar()
model = transformers.AutoModelForCausalLM.from_pretrained(sys.argv[1]).eval()
ids = list(sys.argv[2].encode())
with torch.no_grad():
    for _ in range(int(sys.argv[3])):
        ids.append(int(model(torch.tensor([ids])).logits[0, -1].argmax()))
sys.stdout.buffer.write(bytes(ids) + b"\n")
