# RUN: %fsdpc help hosts | sed -n 1,3p; %fsdpc help overlap | sed -n 1,3p
# The page of an option is found by its name without dashes.
==== out
--hosts (option of fsdp-run)

    --hosts A:4,B:4
--overlap (option of fsdp-run)

    --overlap auto|on|off
