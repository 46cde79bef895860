# RUN: PATH=$(dirname %fsdpc):$PATH; source <(fsdpc completion bash); bash rows | sort -u >%t/rows; last=; while IFS='|' read -r COMP_LINE word; do COMP_POINT=${#COMP_LINE}; [ "$COMP_LINE" = "$last" ] || _fsdpc_bash 2>/dev/null; last=$COMP_LINE; case " ${COMPREPLY[*]} " in *" $word "*) ;; *) echo "$COMP_LINE lacks $word" ;; esac; done <%t/rows; test $(wc -l <%t/rows) -gt 300
# Each command, option, key that can be set, word of a key and topic is completed; what is not in
# this version is not.
# NEEDS: sanitizer:none
==== rows
for command in $(fsdpc help commands | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
    echo "fsdpc ${command%?}|$command"
    fsdpc $command --help | sed -n "s/^  .*\(--[a-z-]*\).*/fsdpc $command --|\1/p"
done
fsdp-run --help | sed -n 's/^  .*\(--[a-z-]*\).*/fsdp-run --|\1/p'
for section in data train shard; do
    for key in $(fsdpc help $section | sed -n "s/^  \($section\.[a-z_]*\).*/\1/p"); do
        echo "fsdpc compile -s $section.|$key="
        fsdpc help $key | sed ':a; N; $!ba; s/\n       *\([^ ]\)/ \1/g' |
            sed -n "/not in this/d; /^  values/,/^$/!d; s/^    \([a-z0-9_][a-z0-9_]*\) .*/fsdpc dump -s $key=|\1/p"
    done
done
for chapter in language modules attributes inits functions numbers options exit-codes diagnostics; do
    fsdpc help $chapter | sed -n 's/^  \([^ ][^ ]*\).*/fsdpc help |\1/p'
done
==== out
fsdpc machine -- lacks --profile
