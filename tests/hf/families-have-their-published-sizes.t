# RUN: for f in %root/models/hf/*.fsd; do %fsdpc compile $f -o p 2>&1 | sed -n '1s/ parameters.*//p'; done
# Without settings each family's file is the model in its first line, with the published number of parameters.
# NEEDS: sanitizer:none
==== out
albert.fsd: 11,221,680
bert.fsd: 109,514,298
bloom.fsd: 559,214,592
cohere.fsd: 34,980,831,232
deepseek_v2.fsd: 15,706,484,224
falcon.fsd: 6,921,720,704
gemma.fsd: 2,506,172,416
gemma2.fsd: 2,614,341,888
gpt2.fsd: 124,439,808
gpt_neox.fsd: 1,414,647,808
gpt_oss.fsd: 20,914,757,184
gptj.fsd: 6,050,882,784
granite.fsd: 2,533,531,648
llama.fsd: 6,738,415,616
mistral.fsd: 7,241,732,096
mixtral.fsd: 46,702,792,704
modernbert.fsd: 149,655,232
olmo.fsd: 1,176,764,416
phi.fsd: 2,779,683,840
phi3.fsd: 3,821,079,552
qwen2.fsd: 7,615,616,512
qwen3.fsd: 596,049,920
stablelm.fsd: 1,644,515,328
starcoder2.fsd: 3,030,371,328
t5.fsd: 60,506,624
vit.fsd: 86,567,656
