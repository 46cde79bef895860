# RUN: mkdir -p %t/v; n=160; [[ %build = *-asan ]] && n=32; %build/tests/modules/variants 8 %root/models/gpt2.fsd $n 1 %t/v 2>/dev/null >%t/list; while read -r i options; do case $i in memory) echo $i $options;; *) eval "%fsdpc compile %root/models/gpt2.fsd -q $options -o %t/plan" 2>%t/err && cmp %t/plan %t/v/$i.plan && echo the same plan || grep ^error %t/v/$i.err;; esac; done <%t/list | uniq -c | sed "s/^ *$((n / 16)) the same/each has the same/; s/^ *1 //"
# RUN: rm %t/v/*; sed 's/cross_entropy(model(inputs), targets)/& + 1e-9 * sum(model(inputs) ** 2)/' %root/models/gpt2.fsd >sum.fsd; %build/tests/modules/variants 8 sum.fsd 64 1 %t/v 2>/dev/null >%t/list; while read -r i options; do case $i in memory) ;; *) eval "%fsdpc compile sum.fsd -q $options -o %t/plan" 2>%t/err && cmp %t/plan %t/v/$i.plan && echo the same plan || grep ^error %t/v/$i.err;; esac; done <%t/list
# Settings that vary on one parsed model, without the verifier, give the plans of fsdpc compile, refusals its messages; no memory is kept.
# NEEDS: build:tests/modules/variants
==== out
each has the same plan
memory is kept between rounds: no
the same plan
the same plan
the same plan
the same plan
