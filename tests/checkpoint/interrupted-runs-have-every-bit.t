# RUN: python3 %root/tests/checkpoint/resume.py %fsdpc %fsdp-run signals 5
# A run that is interrupted or killed at random moments ends with the bits of one that is not, and its log has each step once.
# NEEDS: build:device_cpu.so sanitizer:none
# TIME: 120
==== out
same
