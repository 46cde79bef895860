# The Python module of packaging/fsdpc with the programs of a build, as the wheel puts them together: package.sh
# REPOSITORY BUILD makes ./fsdpc.
mkdir -p fsdpc/bin
cp "$1"/packaging/fsdpc/*.py fsdpc
ln -s "$2/fsdpc" "$2/fsdp-run" fsdpc/bin
printf 'GLIBC = "2.17"\nMACHINE = "%s"\n' "$(uname -m)" >fsdpc/built_for.py
