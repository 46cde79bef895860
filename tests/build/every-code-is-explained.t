# RUN: cd %root && cat ir/*.c frontend/*.[chyl] passes/*.c backend/*.c 2>&- | grep -oE '"[EW][0-9]{4}"' | sort -u > %t/used || true
# RUN: cd %root && grep -oE '^DIAG\("[EW][0-9]{4}"' ir/diag_codes.def | cut -d'(' -f2 | sort -u > %t/explained
# RUN: comm -23 %t/used %t/explained
# Every code that a source mentions has its row in diag_codes.def, so `fsdpc explain` knows it.
