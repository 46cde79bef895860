# RUN: while read -r m loss norm; do bash %root/tests/models/trained.sh %fsdpc %fsdp-run %root/tests/models/$m.fsd | awk -v m=$m -v l=$loss -v n=$norm '{a = $1 / l - 1; b = $2 / n - 1; print m, (a * a < 1e-12 && b * b < 1e-12 ? "as Transformers" : $0 ", Transformers " l " " n)}'; done <%s
# Loss and gradient norm of trained weights are those that Transformers computes from them (peer.py), within 1e-6; 7e-8 were seen.
# TIME: 120
# NEEDS: build:device_cpu.so sanitizer:none
==== transformers.txt
bloom 4.53278372 3.25912411
cohere 4.57227318 0.273904621
deepseek 4.60254705 4.2002112
falcon 4.67716863 5.73892693
gemma 4.54598537 3.05255069
gemma2 4.52993833 7.85178728
gpt_oss 4.57364969 5.81372702
granite 4.57352625 0.362852205
olmo 4.49748475 5.17476146
phi2 4.59920419 6.01007451
phi3 4.55825986 4.47597162
pythia 4.54185966 6.61780266
qwen3 4.51430603 6.37303696
stablelm 4.58946112 4.43467039
starcoder2 4.58410559 6.78466419
==== out
bloom as Transformers
cohere as Transformers
deepseek as Transformers
falcon as Transformers
gemma as Transformers
gemma2 as Transformers
gpt_oss as Transformers
granite as Transformers
olmo as Transformers
phi2 as Transformers
phi3 as Transformers
pythia as Transformers
qwen3 as Transformers
stablelm as Transformers
starcoder2 as Transformers
