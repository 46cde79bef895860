# RUN: python3 %root/tests/hf/hf_cases.py replay %fsdpc %fsdp-run %root/tests/hf/recorded.json
# Imported folders of 26 families have the loss and the gradient norm that Transformers computed from them, within 1e-6 and 1e-5; what is refused is refused by the same keys. (hf_cases.py record)
# TIME: 200
# NEEDS: build:device_cpu.so sanitizer:none
==== out
52 cases, 7 refused, 0 wrong
