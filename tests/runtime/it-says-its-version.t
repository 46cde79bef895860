# RUN: %fsdp-run --version && %fsdp-run --help | sed -n 1p
# --version prints program and number, --help how it is used; both end with 0.
==== out
fsdp-run 0.1.0
usage: fsdp-run [-n RANKS] [options] plan.bin
