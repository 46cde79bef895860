# RUN: grep -o '^DIAG([EW][0-9]*, [EW]_[a-z_]*' %root/ir/base/diag_codes.def | sed 's/.*, //' | sort >%t/rows; test -s %t/rows
# RUN: cd %root && grep -rohw '[EW]_[a-z_]*' --include=*.[cly] ir frontend passes backend foresight | sort -u >%t/used; comm -23 %t/rows %t/used
# Every row of diag_codes.def is reported somewhere: otherwise it would document a mistake that cannot occur.
# NEEDS: sanitizer:none
