# RUN: %fsdpc dump --stage=config --error-format=json %s 2>&1 | sed -n 1p
# An error in JSON has code, place, end and help.
==== m.fsd
train { btach = 4 }
==== out
{"code":"E0301","severity":"error","message":"section train has no key `btach`","file":"m.fsd","line":1,"col":9,"end_line":1,"end_col":14,"notes":[],"help":"did you mean `batch`?"}
==== exit 1
