# RUN: sh machine.sh %root %t
# RUN: cd %t && PATH=%t/bin USER_ID=1000 bash setup.sh; echo "exit code $?"
# RUN: cd %t && PATH=%t/bin USER_ID=0 bash setup.sh; echo "exit code $?"
# RUN: cd %t && PATH=%t/bin USER_ID=0 bash setup.sh; echo "exit code $?"
# RUN: cd %t && PATH=%t/bin USER_ID=1000 bash setup.sh && head -n 3 data/bible.txt
# Without root it says what to install, as root it installs it, and then there is nothing to do.
# NEEDS: sanitizer:none
==== machine.sh
# A machine with all programs of this one but bible and sudo; apt-get can bring bible.
mkdir "$2/bin" && cp "$1/setup.sh" "$2" && cd "$2/bin"
ln -s /usr/bin/* . 2>/dev/null
ln -s /bin/* . 2>/dev/null
rm -f bible sudo id apt-get
cat >id <<'END'
#!/bin/bash
echo $USER_ID
END
cat >apt-get <<'END'
#!/bin/bash
echo "apt-get ${*: -1}" >>log
[ "$1" = update ] && exit
[ "${*: -1}" = bible-kjv ] && mv bin/bible-of-the-package bin/bible
END
cat >bible-of-the-package <<'END'
#!/bin/bash
printf '\nGenesis 1\n\n'
for ((i = 0; i < 100000; i++)); do
    printf '  %d In the beginning there were many bytes, 42 a verse\n' $i
done
END
chmod +x id apt-get bible-of-the-package
# No test reaches for a package index.
mkdir -p ../build/venv/bin
printf '#!/bin/sh\n' >../build/venv/bin/python3
chmod +x ../build/venv/bin/python3
==== out
exit code 2
setup: installing bible-kjv
setup: packages installed
setup: wrote data/bible.txt (5100011 bytes)
setup: wrote .local.ninja
exit code 0
setup: everything is installed, nothing to do
exit code 0
setup: everything is installed, nothing to do
Genesis 1

In the beginning there were many bytes, 42 a verse
==== err
setup: missing packages; run as root: apt-get install bible-kjv
