# RUN: %fsdpc help reference | diff - %root/docs/reference.md
# docs/reference.md is printed from the tables: fsdpc help reference >docs/reference.md
