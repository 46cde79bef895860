# RUN: mkdir build && ln -s %build/* build/ && ln -s %root/models %root/data %root/tools . && bash %root/tests/build/hub.sh %root %build && sed -n '/^    config { D = 64; F/,/^    shard/s/^    //p' %root/docs/tutorial.md >build/net.fsd
# RUN: export PYTHONPATH=$PWD/standin; sed -n '/^    [$] /{:a;/\\$/{N;s/\\\n *//;ba};s/^    [$] //p}' %root/docs/tutorial.md | sed "s/train.steps=200/train.steps=50/; s/--tokens 60/--tokens 10/" >commands; while read -r line; do bash -c "$line" >out 2>err </dev/null || { echo "$line: $?"; cat err; }; done <commands; wc -l <commands; ls build/tuned build/text-model; tail -1 out
# The commands of the tutorial work as printed, in its order; the model of section 2 is trained for fewer steps and says less.
# TIME: 200
# NEEDS: sanitizer:none build:device_cpu.so
==== out
17
build/text-model:
config.json
model.safetensors

build/tuned:
config.json
model.safetensors
tokenizer.json
#10128                              after cross_entropy ->                            all_reduce metrics        12.0 GiB
