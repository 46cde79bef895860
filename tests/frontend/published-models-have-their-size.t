# RUN: while read m p; do echo $m $p $(%fsdpc dump --stage=model %root/models/$m.fsd ${p:+--preset $p} -s data.length=64 $(test $m = gpt2 && echo -s 'data.train=synthetic_tokens()' -s data.val=none) 2>&1 | %python count.py); done < models.txt
# The models have the published numbers of parameters; a tied one counts once.
==== count.py
import math, re, sys
text = sys.stdin.read()
shapes = re.findall(r'^param .*? f32\[([\d, ]+)\]', text, re.M)
print(f"{sum(math.prod(map(int, s.split(','))) for s in shapes):,}" if shapes else text)
==== models.txt
gpt2
gpt2 medium
gpt2 large
gpt2 xl
gpt3-175b
llama2
llama2 7b
llama2 13b
llama2 70b
llama3
llama3 8b
llama3 70b
llama3 405b
gptj
bert
t5
mixtral
mlp
==== out
gpt2 124,439,808
gpt2 medium 354,823,168
gpt2 large 774,030,080
gpt2 xl 1,557,611,200
gpt3-175b 174,604,259,328
llama2 6,738,415,616
llama2 7b 6,738,415,616
llama2 13b 13,015,864,320
llama2 70b 68,976,648,192
llama3 8,030,261,248
llama3 8b 8,030,261,248
llama3 70b 70,553,706,496
llama3 405b 405,853,388,800
gptj 6,050,882,784
bert 109,514,298
t5 60,506,624
mixtral 46,702,792,704
mlp 407,050
