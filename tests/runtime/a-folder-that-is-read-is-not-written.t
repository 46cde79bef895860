# RUN: seq 300 > t.txt; %fsdpc compile -q %root/tests/runtime/toy.fsd -o p && %fsdp-run -q --save d/ p; cp d/model.safetensors mine; cp mine d/mine; for a in "--load d" "--load d/model.safetensors" "--load d/mine" "--load mine"; do %fsdp-run -q $a --save d/ --steps 1 p; echo $?; done; (cd d; %fsdp-run -q --data train=../t.txt --data val=../t.txt --load model.safetensors --save ./ ../p); true
# RUN: for a in "--save d/ --dump-grads 0=d/model.safetensors" "--save d/ --dump-grads 0=d/config.json" "--save d/ --dump-grads 0=d/grads"; do %fsdp-run -q $a --steps 1 p; echo $?; done
# A save into a folder would replace the files that a save makes there, and no others.
# NEEDS: build:device_cpu.so
==== out
1
1
0
0
1
1
0
==== err
error: --save d would overwrite the weights to load of this run (d/model.safetensors)
error: --save d would overwrite the weights to load of this run (d/model.safetensors)
error: --save . would overwrite the weights to load of this run (model.safetensors)
error: --dump-grads d/model.safetensors and --save d are the same file
error: --dump-grads d/config.json and --save d are the same file
