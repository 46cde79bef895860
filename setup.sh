#!/bin/bash
# Prepares a machine for building and testing fsdpc: installs missing packages of the distribution
# (Debian and its relatives; as root or through sudo), creates a Python environment for the tests
# that read .safetensors, extracts the training text from the bible-kjv package, and writes
# .local.ninja. Each step first checks whether it is done, so a second run changes nothing.
#
# setup.sh --local-ninja installs and downloads nothing: it only writes .local.ninja from what it
# finds, for a machine that only runs plans (tests/gpu/run).
#
# Exit code 2: something is missing and cannot be installed from here; the message names it.
set -euo pipefail
cd "$(dirname "$0")"

did=0
say() { echo "setup: $*"; }
done_now() { did=1; say "$*"; }
fail() {
    say "$*" >&2
    exit 2
}

has_command() { command -v "$1" >/dev/null; }
has_header() { gcc -E -include "$1" -x c /dev/null -o /dev/null 2>/dev/null; }
has_runtime_of_clang() {
    has_command clang && [ -e "$(clang -print-file-name="libclang_rt.$1-$(uname -m).a")" ]
}
has_module() { "$1" -c "import $2" 2>/dev/null; }

# ---- packages: which package provides what, and how to tell that it is there

missing=()
need() {
    local package=$1
    shift
    "$@" || missing+=("$package")
}
find_missing() {
    missing=()
    need gcc has_command gcc
    need libc6-dev has_header stdlib.h
    need binutils has_command ar
    need ninja-build has_command ninja
    need flex has_command flex
    need bison has_command bison
    need libdnnl-dev has_header dnnl.h
    need libjansson-dev has_header jansson.h
    need libyaml-dev has_header yaml.h
    need libxxhash-dev has_header xxhash.h
    need libcmocka-dev has_header_of_cmocka
    need clang has_command clang
    need libclang-rt-dev has_runtime_of_clang fuzzer
    need libopenmpi-dev has_command mpicc
    need openmpi-bin has_command mpirun
    need python3 has_command python3
    need python3-venv has_module python3 ensurepip
    need bible-kjv has_command bible
    # Provides libcrypto, which fsdp-run loads if ranks share a secret, and generates secrets.
    need openssl has_command openssl
}
# <cmocka.h> needs these three before it.
has_header_of_cmocka() {
    gcc -E -include stdarg.h -include stddef.h -include setjmp.h -include cmocka.h -x c /dev/null \
        -o /dev/null 2>/dev/null
}

install_packages() {
    local packages="$*" as_root=()
    has_command apt-get || fail "missing packages: $packages; there is no apt-get here, so install" \
        "what provides them on this system"
    if [ "$(id -u)" != 0 ]; then
        # Without a terminal nobody can answer sudo's question for a password.
        if has_command sudo && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
            as_root=(sudo)
        else
            fail "missing packages; run as root: apt-get install $packages"
        fi
    fi
    say "installing $packages"
    local log
    log=$(mktemp)
    if ! { "${as_root[@]}" apt-get update -q &&
        "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y \
            --no-install-recommends $packages; } >"$log" 2>&1 </dev/null; then
        tail -n 20 "$log" >&2
        rm -f "$log"
        fail "apt-get failed to install $packages; its last messages are above"
    fi
    rm -f "$log"
    did=1
}

only_ninja=
case "${1-}" in
--local-ninja) only_ninja=1 ;;
"") ;;
*) fail "usage: setup.sh [--local-ninja]" ;;
esac

[ $only_ninja ] || find_missing
if [ ${#missing[@]} != 0 ]; then
    install_packages "${missing[@]}"
    find_missing
    [ ${#missing[@]} = 0 ] || fail "apt-get succeeded, but these packages are still missing: ${missing[*]}"
    say "packages installed"
fi

# ---- Python's safetensors (Debian 12 has no package of it): only for the tests that open files
# saved by fsdp-run. They are skipped without it, so a missing package index is not an error.

if [ ! $only_ninja ] && ! has_module python3 "safetensors, numpy" &&
    ! has_module build/venv/bin/python3 "safetensors, numpy"; then
    mkdir -p build
    venv=(build/venv) pip=(build/venv/bin/python3 -m pip)
    # An installed pip that can install elsewhere halves the time.
    if has_module python3 "pip; assert int(pip.__version__.split('.')[0]) > 22"; then
        venv=(--without-pip build/venv) pip=(python3 -m pip --python build/venv/bin/python3)
    fi
    if python3 -m venv "${venv[@]}" && "${pip[@]}" install --quiet --no-compile \
        --disable-pip-version-check --retries 1 safetensors numpy 2>build/venv/pip.log; then
        done_now "installed Python's safetensors and numpy into build/venv"
    else
        say "pip could not install safetensors and numpy into build/venv (see build/venv/pip.log);" \
            "tests that open .safetensors files with Python will be skipped"
    fi
fi

# ---- the training text: one verse per line, without verse numbers, with chapter headings

if [ ! $only_ninja ] && [ ! -s data/bible.txt ]; then
    mkdir -p data
    bible -l100000 'Genesis1:1-Revelation22:21' </dev/null | sed -E 's/^ +[0-9]+ //' |
        sed '1{/^$/d}' >data/bible.txt.part
    size=$(stat -c %s data/bible.txt.part)
    [ "$size" -gt 4000000 ] ||
        fail "the program bible printed $size bytes instead of over 4000000; reinstall bible-kjv"
    mv data/bible.txt.part data/bible.txt
    done_now "wrote data/bible.txt ($size bytes)"
fi

# ---- .local.ninja: what differs from machine to machine

onednn_flags=-DHAVE_ONEDNN=1 onednn_libs=-ldnnl
has_header dnnl.h || onednn_flags='' onednn_libs=''
local_ninja="# Written by setup.sh, read by build.ninja.
onednn_flags = $onednn_flags
onednn_libs = $onednn_libs
mpi_ninja = runtime/transports/mpi/none.ninja"
# Only Open MPI's mpicc prints its flags this way, and the module is for Open MPI.
if mpi_flags=$(mpicc --showme:compile 2>/dev/null) && mpi_libs=$(mpicc --showme:link 2>/dev/null); then
    local_ninja="${local_ninja/none.ninja/mpi.ninja}
mpi_flags = $(sed 's/-I/-isystem /g' <<<"$mpi_flags")
mpi_libs = $mpi_libs"
fi
# The CUDA toolkit: in CUDA_HOME or /usr/local/cuda, around the nvcc in the PATH, or in Python wheels
# (site-packages/nvidia/...), whose headers and libraries are in several folders and whose libraries
# have no plain .so names.
cuda_roots=("${CUDA_HOME:-/usr/local/cuda}")
if nvcc_found=$(command -v nvcc); then # a toolkit elsewhere; one in /usr needs no folders named
    nvcc_root=$(dirname "$(dirname "$(readlink -f "$nvcc_found")")")
    [ "$nvcc_root" = /usr ] || cuda_roots+=("$nvcc_root")
fi
for site in $(python3 -c 'import site; print(*site.getsitepackages(), site.getusersitepackages())' \
    2>/dev/null); do
    cuda_roots+=("$site"/nvidia/cu1[0-9] "$site"/nvidia/cuda_nvcc "$site"/nvidia/cuda_runtime
        "$site"/nvidia/cublas "$site"/nvidia/cudnn "$site"/nvidia/nccl)
done
# Prints the first file of that name below the toolkit's folders.
in_cuda() {
    local root found
    for root in "${cuda_roots[@]}"; do
        for found in "$root"/$1; do
            if [ -e "$found" ]; then
                echo "$found"
                return
            fi
        done
    done
    return 1
}
cuda_lines() {
    local nvcc runtime_h lt_h runtime lt flags dnn_h dnn libs
    nvcc=$(in_cuda bin/nvcc) || nvcc=$(command -v nvcc) || return 1
    runtime_h=$(in_cuda include/cuda_runtime_api.h) && lt_h=$(in_cuda include/cublasLt.h) &&
        runtime=$(in_cuda 'lib*/libcudart.so*') && lt=$(in_cuda 'lib*/libcublasLt.so*') || return 1
    flags="-isystem $(dirname "$runtime_h")"
    [ "$(dirname "$lt_h")" = "$(dirname "$runtime_h")" ] || flags+=" -isystem $(dirname "$lt_h")"
    libs="$runtime $lt -Wl,-rpath,$(dirname "$runtime"),-rpath,$(dirname "$lt")"
    # cuDNN is loaded at run time if it exists: building needs only its header.
    if dnn_h=$(in_cuda include/cudnn_graph.h) && dnn=$(in_cuda 'lib*/libcudnn.so.9'); then
        [ "$(dirname "$dnn_h")" = "$(dirname "$runtime_h")" ] || flags+=" -isystem $(dirname "$dnn_h")"
        libs+=",-rpath,$(dirname "$dnn")"
        echo "cudnn_ninja = tests/cuda/cudnn.ninja"
        echo "cudnn_libs = -Wl,-rpath,$(dirname "$dnn")"
    fi
    echo "cuda_ninja = runtime/devices/cuda/cuda.ninja"
    echo "nvcc = $nvcc"
    echo "cuda_flags = $flags"
    echo "cuda_libs = $libs"
}
# NCCL: beside the toolkit, in its own wheel, or the distribution's.
nccl_lines() {
    local header library
    header=$(in_cuda include/nccl.h) || header=/usr/include/nccl.h
    library=$(in_cuda 'lib*/libnccl.so*') ||
        library=$(compgen -G '/usr/lib*/libnccl.so*' || compgen -G '/usr/lib/*/libnccl.so*') ||
        return 1
    [ -e "$header" ] || return 1
    library=${library%%$'\n'*}
    echo "nccl_ninja = runtime/transports/nccl/nccl.ninja"
    echo "nccl_flags = -isystem $(dirname "$header")"
    echo "nccl_libs = $library -Wl,-rpath,$(dirname "$library")"
}
# Its module has a kernel that counts on the device, so it needs nvcc too.
no_nccl="nccl_ninja = runtime/transports/nccl/none.ninja"
if cuda=$(cuda_lines); then
    local_ninja+="
$cuda
$(nccl_lines || echo "$no_nccl")"
else
    local_ninja+="
cuda_ninja = runtime/devices/cuda/none.ninja
$no_nccl"
fi

if [ ! -e .local.ninja ] || [ "$(cat .local.ninja)" != "$local_ninja" ]; then
    echo "$local_ninja" >.local.ninja
    done_now "wrote .local.ninja"
fi

[ $did = 1 ] || say "everything is installed, nothing to do"
