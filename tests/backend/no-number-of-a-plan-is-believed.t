# NEEDS: build:tests/modules/mutate_words sanitizer:none
# RUN: FSDP_ROOT=%root %build/tests/modules/mutate_words -n 400 -r %fsdp-run >%t/out 2>&1; c=$?; grep -v "mutants:\|^accepted" %t/out; exit $c
# Numbers anywhere in plans are changed. What reader and checker accept trains the same weights, to the bit, or ends.
# TIME: 120
