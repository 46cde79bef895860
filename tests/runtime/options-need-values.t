# RUN: %fsdp-run plan.bin --log
# An option without its value is the user's mistake.
==== err
error: --log needs a value
help: fsdp-run --help lists the options
==== exit 1
