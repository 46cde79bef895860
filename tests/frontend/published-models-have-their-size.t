# RUN: for m in 'gpt2.fsd' 'gpt2.fsd --preset xl' ; do %fsdpc dump --stage=model %root/models/$m -s 'data.train=tokens("a")' -s data.val=none -s data.length=64 2>&1 | %python count.py; done
# GPT-2 counts 124,439,808 parameters, its XL preset 1,557,611,200; a tied one counts once.
==== count.py
import math, re, sys
text = sys.stdin.read()
shapes = re.findall(r'^param .*? f32\[([\d, ]+)\]', text, re.M)
print(sum(math.prod(map(int, s.split(','))) for s in shapes) or text)
==== out
124439808
1557611200
