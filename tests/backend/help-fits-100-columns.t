# RUN: for t in $(%fsdpc help | sed -n 's/^\([a-z-]*\):.*/\1/p'); do %fsdpc help $t; done >%t/all; %fsdp-run --help >>%t/all; grep -c '^  shard.unit' %t/all; grep -E '^.{101}' %t/all; true
# Help prints at most 100 columns: chapters, pages, options of fsdp-run.
==== out
1
