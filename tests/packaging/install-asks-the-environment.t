# RUN: (umask 077; PREFIX=/opt/own DESTDIR=$PWD/d %root/packaging/install %build) | sed 's/[0-9]* files/N files/'; cd d/opt/own && find . ! -perm -o=r; ls . share/fsdpc lib/fsdpc/device_cpu.so; bin/fsdpc --version | head -n 1; find . -name '.fsdpc*'
# RUN: mkdir empty && cd empty && p=../d/opt/own/bin; echo 'use "models/mlp.fsd"' >own.fsd; for f in models/linear.fsd own.fsd; do $p/fsdpc compile -q $f -o p.bin && echo $f; done; $p/fsdp-run --version | cut -d: -f1 | grep 'device cpu'; $p/fsdpc compile -q models/none.fsd -o p.bin 2>&1 || true; $p/fsdpc fit -q models/linear.fsd --machine machines/a100-40.machine | head -n 1
# RUN: touch file; for p in relative /x; do PREFIX=$p DESTDIR=$PWD/file %root/packaging/install %build 2>&1; echo $?; done; cat file; cd d/opt/own; rm -r bin share/fsdpc/models; mkdir -p share/fsdpc; touch share/fsdpc/models; PREFIX=/opt/own DESTDIR=${PWD%%/opt*} %root/packaging/install %build 2>&1; echo $?; find . -name '.fsdpc*' -o -path '*bin/*'
# PREFIX and DESTDIR say where an installation goes. From any folder its programs find modules, models and machine
# files. What cannot be written is said, and replaces nothing.
# NEEDS: build:device_cpu.so sanitizer:none
==== out
install: N files in %d/d/opt/own; the programs are in %d/d/opt/own/bin
lib/fsdpc/device_cpu.so

.:
bin
lib
share

share/fsdpc:
machines
models
fsdpc 0.1.0
models/linear.fsd
own.fsd
device cpu
error[E0110]: cannot read models/none.fsd: No such file or directory

linear.fsd: 1 rank, 40.0 GiB on cuda, of which 3.0 GiB are not for the plan
install: PREFIX=relative is not an absolute path
1
mkdir: cannot create directory '%d/file': Not a directory
install: cannot write to %d/file/x; choose another PREFIX, or be root
2
mkdir: cannot create directory '%d/d/opt/own/./share/fsdpc/models': File exists
install: nothing was replaced in %d/d/opt/own
2
