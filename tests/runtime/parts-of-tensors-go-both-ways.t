# RUN: cp %root/tests/runtime/parts/*.fsd . && PYTHONPATH=%root/tests/runtime python3 %root/tests/runtime/parts/make.py && for n in 1 3; do %fsdpc compile -q parts.fsd -o p$n -n $n && for f in f32 bf16; do %fsdp-run -q --threads 1 --steps 0 --load $f --save out/ --max-file 1KB --save-dtype $f p$n && for d in $f out; do python3 %root/tests/runtime/weights.py show $d > $d.txt; done && cmp $f.txt out.txt && echo same; done; done
# Tensors that hold several parameters, or of which several make one, come back as they were loaded, on any number of ranks.
# NEEDS: build:device_cpu.so
==== out
same
same
same
same
