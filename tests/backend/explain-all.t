# RUN: %fsdpc explain >%t/all && grep -q "^E0504  missing or extra argument" %t/all
# RUN: ! grep -v "^[EW][0-9][0-9][0-9][0-9]  ." %t/all
# Without a code all are listed with their titles.
