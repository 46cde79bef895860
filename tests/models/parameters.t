# RUN: for f in %root/tests/models/*.fsd; do %fsdpc compile $f -o p 2>&1 | sed -n '1s/ parameters.*//p'; done
# Architectures that models/ does not hold, written from their descriptions alone, have their published numbers of parameters.
# NEEDS: sanitizer:none
==== out
albert.fsd: 11,221,680
bloom.fsd: 559,214,592
cohere.fsd: 34,980,831,232
deepseek.fsd: 15,706,484,224
falcon.fsd: 6,921,720,704
gemma.fsd: 2,506,172,416
gemma2.fsd: 2,614,341,888
gpt_oss.fsd: 20,914,757,184
granite.fsd: 2,533,531,648
modernbert.fsd: 149,655,232
olmo.fsd: 1,176,764,416
phi2.fsd: 2,779,683,840
phi3.fsd: 3,821,079,552
pythia.fsd: 1,414,647,808
qwen3.fsd: 596,049,920
stablelm.fsd: 1,644,515,328
starcoder2.fsd: 3,030,371,328
vit.fsd: 86,567,656
