# RUN: for m in 'gpt2' 'gpt2 xl' 'llama2' 'llama2 7b' 'llama2 13b' 'llama2 70b' 'gptj' 'mixtral'; do set -- $m; echo $m $(%fsdpc dump --stage=model %root/models/$1.fsd ${2:+--preset $2} -s 'data.train=tokens("a")' -s data.val=none -s data.length=64 2>&1 | %python count.py); done
# The models have the published numbers of parameters; a tied one counts once.
==== count.py
import math, re, sys
text = sys.stdin.read()
shapes = re.findall(r'^param .*? f32\[([\d, ]+)\]', text, re.M)
print(f"{sum(math.prod(map(int, s.split(','))) for s in shapes):,}" if shapes else text)
==== out
gpt2 124,439,808
gpt2 xl 1,557,611,200
llama2 6,738,415,616
llama2 7b 6,738,415,616
llama2 13b 13,015,864,320
llama2 70b 68,976,648,192
gptj 6,050,882,784
mixtral 46,702,792,704
