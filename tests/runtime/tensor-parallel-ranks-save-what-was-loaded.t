# RUN: cp %root/tests/runtime/parts/*.fsd . && PYTHONPATH=%root/tests/runtime python3 %root/tests/runtime/parts/make.py && for m in tp=2 dp=2,tp=2; do %fsdpc compile -q parts.fsd -o p --mesh $m && %fsdp-run -q --threads 1 --steps 0 --load f32 --save out/ --max-file 1KB p && for d in f32 out; do python3 %root/tests/runtime/weights.py show $d > $d.txt; done && cmp f32.txt out.txt && echo parts; done
# RUN: cp %root/tests/parity/cases/gpt2-tiny/{weights.safetensors,tokens.bin} .; for m in tp=2 tp=4 dp=2,tp=2 tp=2,dp=3; do %fsdpc compile -q %root/models/gpt2.fsd -o p --mesh $m -s L=2 -s D=64 -s H=4 -s vocab=257 -s seq=32 -s 'data.train=tokens("tokens.bin")' -s data.val=none -s data.length=32 -s train.batch=6 || exit; %fsdp-run -q --threads 1 --steps 0 --load weights.safetensors --save out p && for f in weights.safetensors out; do python3 %root/tests/runtime/weights.py show $f > $f.txt; done && cmp weights.safetensors.txt out.txt && echo $m; done
# Ranks along tp read their parts of tensors, which may be transposed, joined or split in the files; what is saved is whole
# again, with the same bytes.
# NEEDS: build:device_cpu.so
==== out
parts
parts
tp=2
tp=4
dp=2,tp=2
tp=2,dp=3
