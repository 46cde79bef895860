# RUN: ln -s %build build; ln -s %root/README.md .; awk '/^    # [a-z-]+\.fsd$/ {f = $2} !/^    / && !/^$/ {f = ""} f {sub(/^    /, ""); print > f}' %root/docs/language.md; ls *.fsd; for f in *.fsd; do build/fsdpc compile -q $f -o p.bin 2>/dev/null && build/fsdp-run -q --threads 1 p.bin >/dev/null && rm -rf ck || echo $f; done
# RUN: sed -n 's/^    [$] //p' %root/docs/language.md %root/docs/commands.md >commands; while read -r line; do bash -o pipefail -c "$line" >out 2>err </dev/null || { echo "$line: $?"; cat err; }; done <commands; wc -l <commands
# The model files of docs/language.md train, and the commands of docs/commands.md work as printed, in their order.
# TIME: 120
# NEEDS: sanitizer:none build:device_cpu.so
==== out
every-other.fsd
experts.fsd
lm.fsd
loops.fsd
losses.fsd
saving.fsd
sharding.fsd
training.fsd
using.fsd
19
