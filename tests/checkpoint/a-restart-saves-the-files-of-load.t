# RUN: cp %root/tests/checkpoint/toy.fsd . && echo 'config hf { model_type = "toy" }' >> toy.fsd
# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd -n 2 -o p; run() { %fsdp-run -q --threads 1 "$@" p; }; run --save hf/; sed -i 's/{/{"bos_token_id": 3,/' hf/config.json; echo '{}' > hf/tokenizer_config.json; run --load hf/ --save whole/; LD_PRELOAD=%build/tests/modules/crash.so CRASH_IN=ck/step CRASH_SLEEP=300 %fsdp-run -q --threads 1 --load hf --checkpoint ck --checkpoint-every 1 --restarts 1 --save killed/ p 2> err & p=$!; until [ -e ck/step-00000002 ] || ! kill -0 $p; do sleep 0.05; done; kill -9 $(pgrep -P $p); wait $p; echo "exit $?"; grep -o 'restart 1 of 1' err; grep -o bos.* killed/config.json; ls killed; diff -r whole killed
# A run that was started again saves what it would have saved: also tokenizer files and keys of config.json that come
# from the folder of --load.
# NEEDS: build:device_cpu.so build:tests/modules/crash.so sanitizer:none
==== out
exit 0
restart 1 of 1
bos_token_id": 3
config.json
model.safetensors
tokenizer_config.json
