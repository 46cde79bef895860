# RUN: grep -o '^DIAG([EW][0-9]*, [EW]_[a-z_]*' %root/ir/base/diag_codes.def | sed 's/.*, //' | sort >%t/rows; test -s %t/rows
# RUN: cd %root && grep -rohw '[EW]_[a-z_]*' --include=*.[cly] ir frontend passes backend | sort -u >%t/used; comm -23 %t/rows %t/used
# A row of diag_codes.def that nothing reports would be documentation of a mistake that nobody can make.
# NEEDS: sanitizer:none
