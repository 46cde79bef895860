# RUN: ! %fsdp-run --device gpu plan.bin && %fsdp-run --transport=ncll plan.bin
# A misspelt word of an option names the one that was meant.
==== err
error: unknown device `gpu`; did you mean `cuda`?
help: fsdp-run --help lists the options
error: unknown transport `ncll`; did you mean `nccl`?
help: fsdp-run --help lists the options
==== exit 1
