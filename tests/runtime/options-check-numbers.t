# RUN: ! %fsdp-run -n 0 plan.bin && ! %fsdp-run --threads=two plan.bin && ! %fsdp-run --threads 1000 plan.bin && ! %fsdp-run --steps -3 plan.bin && ! %fsdp-run --steps 3000000000 plan.bin && ! %fsdp-run --seed 99999999999999999999 plan.bin && ! %fsdp-run --dump-grads x=f plan.bin && ! %fsdp-run --data train plan.bin && ! %fsdp-run --quiet=1 plan.bin && ! %fsdp-run a b
# Invalid numbers and pairs are refused, each with what is needed. If a number is too large, the message names the limit.
==== err
error: -n 0: must be a whole number of at least 1
help: fsdp-run --help lists the options
error: --threads two: must be a whole number from 1 to 256
help: fsdp-run --help lists the options
error: --threads 1000: must be a whole number from 1 to 256
help: fsdp-run --help lists the options
error: --steps -3: must be a whole number of at least 0
help: fsdp-run --help lists the options
error: --steps 3000000000: must be a whole number from 0 to 2147483647
help: fsdp-run --help lists the options
error: --seed 99999999999999999999: must be a whole number from 0 to 9223372036854775807
help: fsdp-run --help lists the options
error: --dump-grads x=f: `x` is not a step number
help: fsdp-run --help lists the options
error: --data train: must be NAME=PATH, such as --data train=text.txt
help: fsdp-run --help lists the options
error: --quiet takes no value
help: fsdp-run --help lists the options
error: two plans are given: a and b
help: fsdp-run --help lists the options
