# RUN: %python %root/tests/build/walls.py %build | sed 's/ *$//'
# A room can include the headers of the rooms below it and no others; the runtime sees few.
# NEEDS: sanitizer:none
==== out
           util.h op.h diag.h ir.h ast.h passes.h plan.h checkpoint.h tensors.h device.h
ir         yes    yes  yes    yes  no    no       no     no           no        no
frontend   yes    yes  yes    yes  yes   no       no     no           no        no
passes     yes    yes  yes    yes  no    yes      no     no           no        no
backend    yes    yes  yes    yes  yes   yes      yes    yes          yes       no
checkpoint yes    yes  no     no   no    no       yes    yes          no        no
tensors    yes    yes  no     no   no    no       yes    no           yes       no
runtime    yes    yes  no     no   no    no       yes    yes          yes       yes
kernel     yes    yes  no     no   no    no       yes    no           no        yes
device     yes    yes  no     no   no    no       yes    no           no        yes
