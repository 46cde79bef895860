# RUN: %build/cuda/refused | sort >all; grep -c refused <all; grep -v refused <all
# The emulated cuBLASLt and cuDNN refuse what the libraries' manuals do not allow.
# NEEDS: build:cuda/refused
# TIME: 120
==== out
42
D where B is: ended
a product: accepted
attention: accepted
of f32 in TF32: accepted
with an algorithm that is asked about: accepted
with f32 results: accepted
workspace where D is: ended
