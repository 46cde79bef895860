# RUN: ! %fsdp-run -n 0 plan.bin && ! %fsdp-run --threads=two plan.bin && ! %fsdp-run --threads 1000 plan.bin && ! %fsdp-run --steps -3 plan.bin && ! %fsdp-run --dump-grads x=f plan.bin && ! %fsdp-run --data train plan.bin && ! %fsdp-run --quiet=1 plan.bin && ! %fsdp-run a b
# Numbers and pairs that are none are refused, each with what is needed.
==== err
error: -n 0: a whole number of at least 1 is needed
help: fsdp-run --help lists the options
error: --threads two: a whole number from 1 to 256 is needed
help: fsdp-run --help lists the options
error: --threads 1000: a whole number from 1 to 256 is needed
help: fsdp-run --help lists the options
error: --steps -3: a whole number of at least 0 is needed
help: fsdp-run --help lists the options
error: --dump-grads x=f: `x` is no step number
help: fsdp-run --help lists the options
error: --data train: NAME=PATH is needed, such as --data train=text.txt
help: fsdp-run --help lists the options
error: --quiet takes no value
help: fsdp-run --help lists the options
error: two plans: a and b
help: fsdp-run --help lists the options
