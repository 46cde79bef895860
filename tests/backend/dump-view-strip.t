# RUN: %fsdpc dump -n 1 -s shard.unit=root %root/tests/backend/models/layers.fsd | sed -n "/^memory by address/,/^$/p"
# The arena over time: who holds what, where the phases begin, where the peak is.
==== out
memory by address over the instructions of train (a column is 1.0 of them)
    44.8 KiB ........................a....aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.a.............................
    42.0 KiB ................................aaaaaaaaaaaaaaaaaaaaaaaaaa......................................
    39.2 KiB ...............a....aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa..........................
    36.4 KiB .........a..................................aaaaa.aaaaa.aaaaa.aaaaa.aaaaa.aaaaa.aa..............
    33.6 KiB ...............................................gggggggggggggggggggggggggggggggggggggggggggggg...
    30.8 KiB ...............................................gggggggggggggggggggggggggggggggggggggggggggggg...
    28.0 KiB ...............................................gggggggggggggggggggggggggggggggggggggggggggggg...
    25.2 KiB OOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOO
    22.4 KiB OOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOO
    19.6 KiB OOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOO
    16.8 KiB OOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOO
    14.0 KiB OOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOO
    11.2 KiB OOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOO
     8.4 KiB PPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPP
     5.6 KiB PPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPP
     2.8 KiB PPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPP
             |forward                                       |backward                               |update
                                              the peak, #47 ^
             g gradients, a activations, P parameters, O optimizer, . free

