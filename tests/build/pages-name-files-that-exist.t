# RUN: names=$PWD/names.py; cd %root && python3 -B $names
# Links of the pages lead somewhere, and each source file or folder that a page names is there.
# NEEDS: tool:git sanitizer:none
==== names.py
import glob, os, re, subprocess
TOP = "ir|frontend|passes|backend|foresight|checkpoint|tensors|runtime|tests|models|docs|editors|tools"
files = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"],
                       capture_output=True, text=True, check=True).stdout.split("\n")
bare = {os.path.basename(f) for f in files}
for page in files:
    if not page.endswith(".md") or page == "docs/reference.md":
        continue
    with open(page, encoding="utf-8") as f:
        text = f.read()
    for link in re.findall(r"\]\(([^)#]+)[^)]*\)", text):
        if "://" not in link and not os.path.exists(os.path.join(os.path.dirname(page), link)):
            print(f"{page}: link {link}")
    for name in re.findall(rf"`((?:{TOP})/[\w./*-]*)", text):
        name = name.rstrip("./")
        if not re.search("[A-Z]{2}", name.replace("README", "")) and not glob.glob(name + "*"):
            print(f"{page}: {name}")
    for name in re.findall(r"`(\w+\.(?:def|h|c|cu|y|l))`", text):
        if name not in bare:
            print(f"{page}: {name}")
