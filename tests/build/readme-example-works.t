# RUN: cp %root/README.md . && ln -s %build build && sed -n '/^    config/,/^    shard/s/^    //p' README.md >net.fsd
# RUN: sed -n '/^    build\//{/cuda\|transport\|--hosts/d;s/^    //;s/   .*//;p}' README.md >commands; cat commands; while read -r line; do bash -c "$line" >out 2>err </dev/null || { echo "$line: $?"; cat err; }; done <commands
# The example of the README and the commands below it work as printed.
# TIME: 120
# NEEDS: sanitizer:none
==== out
build/fsdpc compile net.fsd -o net.bin
build/fsdp-run net.bin
build/fsdp-run --log net.jsonl net.bin && build/fsdpc plot net.jsonl -o net.svg
build/fsdpc dump net.bin
build/fsdpc dump --stage=comm net.fsd
build/fsdpc dump --format=json --rank 2 net.fsd
build/fsdpc check net.bin
build/fsdpc compile -n 8 -s train.batch=64 net.fsd -o net8.bin
build/fsdpc compile --mesh rep=2,dp=4 net.fsd -o net8.bin
build/fsdpc compile --mesh dp=2,tp=2 net.fsd -o net4.bin
build/fsdpc fit net.fsd --memory 16GiB
build/fsdpc help attention
build/fsdp-run --save mine/ net.bin
build/fsdp-run --load mine/ net.bin
build/fsdp-run --load mine/ --generate The --tokens 80 --temperature 0.8 net.bin
build/fsdp-run --resume-or-start ck --checkpoint-every 500 net.bin
