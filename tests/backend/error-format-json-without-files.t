# RUN: for c in 'check nope.bin' 'dump nope.bin' 'reshard nope -n 2 -o out'; do %fsdpc $c --error-format=json; echo "exit $?"; done
# A file that cannot be read is a JSON object too.
==== out
exit 2
exit 2
exit 2
==== err
{"code":null,"severity":"error","message":"cannot open nope.bin: No such file or directory","file":null,"line":0,"col":0,"end_line":0,"end_col":0,"notes":[],"help":null}
{"code":null,"severity":"error","message":"cannot read nope.bin: No such file or directory","file":null,"line":0,"col":0,"end_line":0,"end_col":0,"notes":[],"help":null}
{"code":null,"severity":"error","message":"cannot read nope: No such file or directory","file":null,"line":0,"col":0,"end_line":0,"end_col":0,"notes":[],"help":null}
