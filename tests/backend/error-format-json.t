# RUN: %fsdpc compile --error-format=json x.fsd --ranks two
# Mistakes on the command line are JSON too when that is wanted.
==== err
{"code":"E0503","severity":"error","message":"`-n` takes a number of ranks from 1 to 1048576, not `two`","file":null,"line":0,"col":0,"end_line":0,"end_col":0,"notes":[],"help":null}
==== exit 1
