# RUN: cp %root/tests/runtime/parts/*.fsd . && PYTHONPATH=%root/tests/runtime python3 %root/tests/runtime/parts/make.py && %fsdpc compile -q parts.fsd -o p && %fsdp-run -q --steps 0 --load less p
# A tensor that holds several parameters is named where it is missing or has another shape.
# NEEDS: build:device_cpu.so
==== err
error: less: not the weights of this model: 1 missing, 1 with another shape or type, 0 unexpected
wrong shape: two is [3, 12], the model needs [6, 6]
missing: ab (parameter a.weight)
==== exit 3
