# RUN: cp %root/tests/runtime/parts/*.fsd . && PYTHONPATH=%root/tests/runtime python3 %root/tests/runtime/parts/make.py && %fsdpc compile -q whole.fsd -o whole.bin -n 2 && %fsdpc compile -q parts.fsd -o parts.bin -n 2
# RUN: %fsdp-run -q --threads 1 --load whole --save trained.safetensors whole.bin && %fsdp-run -q --threads 1 --load f32 --save parts.safetensors --checkpoint ck parts.bin && %fsdpc convert -q ck whole.fsd -o back.safetensors && for f in trained back; do python3 %root/tests/runtime/weights.py show $f.safetensors > $f.txt; done && cmp trained.txt back.txt && echo the same training
# RUN: %fsdpc convert -q ck -o again.safetensors && cmp parts.safetensors again.safetensors && %fsdpc convert -q parts.safetensors parts.bin -o new && %fsdpc convert -q new -o again.safetensors && cmp parts.safetensors again.safetensors && echo the same file
# Training from parts of tensors is training from the same numbers in whole ones, and checkpoints convert to the files that --save writes.
# NEEDS: build:device_cpu.so
==== out
the same training
the same file
