# RUN: cp %root/tests/runtime/toy.fsd toy.fsd; seq 3000 > t.txt; %fsdpc compile -q toy.fsd -o p -n 1; go() { %fsdp-run -q --threads 1 --save $1/ "${@:2}" p 2> err; echo "exit $?"; sed 's/-[0-9]*$/-N/' err; mv $1/kept-* $1/kept; find $1 -type f | sort; }; mkdir -p one/model.safetensors/x; touch one/model.safetensors.index.json; go one; mkdir -p many/model-00002-of-00003.safetensors/x; touch many/model.safetensors; go many --max-file 4KB
# If a folder takes only some of the files of a save, all of them stay together under another name, and old weights stay.
==== out
exit 2
error: cannot write one: Is a directory
help: the files were kept as one/kept-N
one/kept/model.safetensors
one/model.safetensors.index.json
exit 2
error: cannot write many: Is a directory
help: the files were kept as many/kept-N
many/kept/model-00001-of-00003.safetensors
many/kept/model-00002-of-00003.safetensors
many/kept/model-00003-of-00003.safetensors
many/kept/model.safetensors.index.json
many/model.safetensors
