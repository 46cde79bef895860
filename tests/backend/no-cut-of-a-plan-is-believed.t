# NEEDS: build:tests/modules/mutate_cut sanitizer:none
# RUN: FSDP_ROOT=%root %build/tests/modules/mutate_cut -n 300 %fsdp-run 2>%t/err; c=$?; grep -q '^300 mutants' %t/err || cat %t/err; exit $c
# Faults are planted in plans whose ranks share out heads, widths, vocabularies and positions: in sums and exchanges, in what
# kernels are told, in cuts of parameters. What reader and checker accept trains the same weights, to the bit, or ends.
# TIME: 60
