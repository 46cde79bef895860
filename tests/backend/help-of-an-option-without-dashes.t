# RUN: %fsdpc help hosts | head -3; %fsdpc help overlap | head -3
# The page of an option is found by its name without dashes.
==== out
--hosts (option of fsdp-run)

    --hosts A:4,B:4
--overlap (option of fsdp-run)

    --overlap auto|on|off
