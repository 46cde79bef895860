# RUN: %python %root/tests/parity/random_models.py %fsdpc %fsdp-run 1 4 2>/dev/null
# RUN: %python %root/tests/parity/random_models.py %fsdpc %fsdp-run 7081 1 2>/dev/null
# RUN: for seed in 24 198 308 334; do %python %root/tests/parity/random_models.py %fsdpc %fsdp-run $seed 1 2>/dev/null; done
# Random models: plans are proved, settings change no bit, loss and gradients are as by the formulas.
# Of seed 4 backward gathers terms along tp again, whose sums forward completed after it gathered them along cp. Seed
# 7081 keeps gradients that are whole along cp and terms along tp whole until the last micro-batch; of 24 and 198 a
# stage reads a shared parameter and contributes nothing to its gradient; of 308 it is its readers' stage that gathers
# again along cp; of 334 what moves a term of a shared gradient is of the stage of the term.
# TIME: 120
# NEEDS: build:device_cpu.so sanitizer:none
==== out
4 models, 0 wrong
1 models, 0 wrong
1 models, 0 wrong
1 models, 0 wrong
1 models, 0 wrong
1 models, 0 wrong
