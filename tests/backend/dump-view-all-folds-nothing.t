# RUN: %fsdpc dump --all %root/tests/backend/models/layers.fsd | awk '/forward h.[0-9]|view|state p|as h/ && ++n < 20'
# With --all each layer, each view and each entry and exit of a state has its line.
==== out
#0     state param.h.0                                                                                       4  13.2 KiB
#1     state param.h.1                                                                                       4  13.2 KiB
#2     state param.h.2                                                                                       4  13.2 KiB
#3     state param.h.3                                                                                       4  13.2 KiB
#4     state param.h.4                                                                                       4  13.2 KiB
#5     state param.h.5                                                                                       4  13.2 KiB
#6     state param                                                                                          12  13.2 KiB
#13    view e <- (root)                                            <- (root)                                 7  16.8 KiB
--- forward h.0 Block ---------------------------------------------------------------------------------------- 4.3 kFLOP
#16    view a <- h.0                                               <- h.0                                    1  18.0 KiB
#19    view b <- h.0                                               |                                         1  18.5 KiB
--- forward h.1 Block ---------------------------------------------------------------------------------------- 4.3 kFLOP
#24    view a <- h.1                                               <- h.1                                    1  18.8 KiB
#27    view b <- h.1                                               |                                         1  19.2 KiB
--- forward h.2 Block ---------------------------------------------------------------------------------------- 4.3 kFLOP
#32    view a <- h.2                                               <- h.2                                    1  19.5 KiB
#35    view b <- h.2                                               |                                         1  20.0 KiB
--- forward h.3 Block ---------------------------------------------------------------------------------------- 4.3 kFLOP
#40    view a <- h.3                                               <- h.3                                    1  20.2 KiB
