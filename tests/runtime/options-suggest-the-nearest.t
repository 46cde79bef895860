# RUN: %fsdp-run --trheads 2 plan.bin
# A misspelt option names the one that was meant.
==== err
error: unknown option `--trheads`; did you mean `--threads`?
help: fsdp-run --help lists the options
==== exit 1
