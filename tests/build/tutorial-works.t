# RUN: mkdir build && ln -s %build/* build/ && ln -s %root/models %root/data . && sed -n '/^    config { D = 64; F/,/^    shard/s/^    //p' %root/docs/tutorial.md >build/net.fsd
# RUN: sed -n 's/^    [$] //p' %root/docs/tutorial.md | sed s/train.steps=200/train.steps=60/ >commands; while read -r line; do bash -c "$line" >out 2>err </dev/null || { echo "$line: $?"; cat err; }; done <commands; wc -l <commands; ls build/text-model; tail -1 out
# The commands of the tutorial work as printed, in its order; the model is trained for fewer steps.
# TIME: 200
# NEEDS: sanitizer:none build:device_cpu.so
==== out
13
config.json
model.safetensors
#10128                              after cross_entropy ->                            all_reduce metrics        12.0 GiB
