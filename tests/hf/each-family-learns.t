# RUN: for f in %root/models/hf/*.fsd; do m=${f##*/}; for n in 1 2; do bash %root/tests/hf/small.sh %fsdpc $f -n $n -o p >log 2>&1 || cat log; %fsdp-run --threads 1 --log l $([ $n = 2 ] && echo --steps 1) p >/dev/null 2>&1; sed -n 's/.*"loss":\([0-9.]*\).*/\1/p' l | sed -n '1p;$p'; rm l; done | paste -sd ' ' | awk -v m=$m '{d = $1 - $3; print m, ($2 < $1 - 0.15 && d * d < 1e-10 ? "learns, and begins on two ranks as on one" : $0)}'; done
# Each of them, at a small size, learns, and two ranks begin with the loss of one.
# TIME: 120
# NEEDS: sanitizer:none build:device_cpu.so
==== out
albert.fsd learns, and begins on two ranks as on one
bert.fsd learns, and begins on two ranks as on one
bloom.fsd learns, and begins on two ranks as on one
cohere.fsd learns, and begins on two ranks as on one
deepseek_v2.fsd learns, and begins on two ranks as on one
falcon.fsd learns, and begins on two ranks as on one
gemma.fsd learns, and begins on two ranks as on one
gemma2.fsd learns, and begins on two ranks as on one
gpt2.fsd learns, and begins on two ranks as on one
gpt_neox.fsd learns, and begins on two ranks as on one
gpt_oss.fsd learns, and begins on two ranks as on one
gptj.fsd learns, and begins on two ranks as on one
granite.fsd learns, and begins on two ranks as on one
llama.fsd learns, and begins on two ranks as on one
mistral.fsd learns, and begins on two ranks as on one
mixtral.fsd learns, and begins on two ranks as on one
modernbert.fsd learns, and begins on two ranks as on one
olmo.fsd learns, and begins on two ranks as on one
phi.fsd learns, and begins on two ranks as on one
phi3.fsd learns, and begins on two ranks as on one
qwen2.fsd learns, and begins on two ranks as on one
qwen3.fsd learns, and begins on two ranks as on one
stablelm.fsd learns, and begins on two ranks as on one
starcoder2.fsd learns, and begins on two ranks as on one
t5.fsd learns, and begins on two ranks as on one
vit.fsd learns, and begins on two ranks as on one
