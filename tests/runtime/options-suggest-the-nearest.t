# RUN: %fsdp-run -v plan.bin; %fsdp-run --trheads 2 plan.bin
# A misspelt option names the one that was meant, a letter none.
==== err
error: unknown option `-v`
help: fsdp-run --help lists the options
error: unknown option `--trheads`; did you mean `--threads`?
help: fsdp-run --help lists the options
==== exit 1
