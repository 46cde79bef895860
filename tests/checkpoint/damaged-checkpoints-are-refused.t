# RUN: cp %root/tests/checkpoint/net.fsd .
# RUN: seq 300 > t.txt; %fsdpc compile -q net.fsd -n 2 -o p && %fsdp-run -q --threads 1 --checkpoint ck --checkpoint-every 2 --keep 0 p; flip() { printf '\377' | dd of=ck/step-0000000$1 bs=1 seek=$2 conv=notrunc 2> /dev/null; }; flip 8/rank-00001-of-00002.safetensors 4099; %fsdp-run -q --resume ck p; echo "exit $?"; %fsdp-run -q --eval-only --load ck p; echo "exit $?"; flip 6/manifest.json 99; flip 8/manifest.json 500; %fsdp-run -q --resume ck/ p; echo "exit $?"; rm ck/step-00000004/rank-00000*; %fsdp-run -q --resume ck/step-00000004 p; echo "exit $?"; rm -r ck/step-00000002; %fsdp-run -q --resume ck/step-00000006 p
# A bit that changed, a file that is missing: refused with the place and the newest whole checkpoint before it.
# NEEDS: build:device_cpu.so
==== out
exit 3
exit 3
exit 3
exit 3
==== err
error: rank 1: ck/step-00000008/rank-00001-of-00002.safetensors: tensor fc.weight: bytes 0 to 30207 are damaged: checksum mismatch
help: the newest intact checkpoint before it is ck/step-00000006
error: rank 1: ck/step-00000008/rank-00001-of-00002.safetensors: tensor fc.weight: bytes 0 to 30207 are damaged: checksum mismatch
help: the newest intact checkpoint before it is ck/step-00000006
error: ck/step-00000008/manifest.json: checksum mismatch: the file is damaged
help: the newest intact checkpoint before it is ck/step-00000004
error: rank 0: ck/step-00000004/rank-00000-of-00002.safetensors: tensor fc.weight: the file is missing
help: the newest intact checkpoint before it is ck/step-00000002
error: ck/step-00000006/manifest.json: checksum mismatch: the file is damaged
help: no earlier checkpoint is intact
==== exit 3
