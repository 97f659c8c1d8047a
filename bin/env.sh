# Sourced by the other scripts here: finds Python, makes .venv beside this folder and installs into it.
# shellcheck shell=bash

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
venv=$root/.venv
python=$venv/bin/python

say() { printf '%s\n' "$*" >&2; }
die() { say "error: $*"; exit 3; }

new_enough() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; }

find_python() {
    local name
    for name in python3 python3.13 python3.12 python3.11; do
        if new_enough "$name"; then
            printf '%s\n' "$name"
            return
        fi
    done
    say "error: Python 3.11 or newer is needed; found $(python3 --version 2>/dev/null || echo 'no python3')."
    die "install it, or put python3.11 or newer on the PATH, and run this again."
}

make_venv() {
    local base
    base=$(find_python)
    say "setting up: $venv with $("$base" --version)"
    "$base" -m venv --clear "$venv" >&2 ||
        die "'$base -m venv' failed; Debian and Ubuntu need the package python3-venv for it."
}

# What the installed set depends on; the folder counts because editable installs point into it.
fingerprint() {
    "$python" - "$root" <<'PYTHON'
import hashlib, pathlib, sys

root = pathlib.Path(sys.argv[1])
digest = hashlib.sha256(f"{root}\n{sys.version}\n".encode())
for name in ("bin/env.sh", "pyproject.toml", "clients/python/pyproject.toml", "constraints.txt"):
    digest.update((root / name).read_bytes())
print(digest.hexdigest())
PYTHON
}

install() {
    local log=$venv/install.log
    local pip=("$python" -m pip --disable-pip-version-check --no-input install -c constraints.txt)
    say "installing: deniable[$1] into $venv (about a minute the first time)"
    # The build tools first, so that both packages, and what comes as source (pyspark), are built with the pinned ones.
    (cd "$root" &&
        "${pip[@]}" hatchling editables setuptools &&
        "${pip[@]}" --no-build-isolation -e ./clients/python -e ".[$1]") >"$log" 2>&1 || {
        tail -n 15 "$log" >&2
        die "pip could not install what Deniable needs (its last lines are above, all of them in $log)."
    }
    # pip compiles what it copies, but not what it only points to: without this, every command would, where Python is
    # told to write no bytecode.
    "$python" -m compileall -q "$root/src" "$root/clients/python/src"
}

# What builds a release, and nothing of ours: pip says in full what packages declare from 25 on.
install_tools() {
    local log=$venv/install.log
    say "installing: what builds a release into $venv"
    (cd "$root" && "$python" -m pip --disable-pip-version-check --no-input install -c constraints.txt \
        'pip>=25' hatchling 'cyclonedx-python-lib[json-validation]') >"$log" 2>&1 || {
        tail -n 15 "$log" >&2
        die "pip could not install what builds a release (its last lines are above, all of them in $log)."
    }
}

# set_up demo|test|site|release: leaves a working environment in $venv; does nothing when the last set-up still holds.
set_up() {
    if ! new_enough "$python" || ! "$python" -m pip --version >/dev/null 2>&1; then
        make_venv
    fi
    local want
    want=$(fingerprint)
    # The set for the tests contains the one for the demo.
    if [[ $(cat "$venv/stamp-test" 2>/dev/null) == "$want" ]]; then return; fi
    case $1 in
        demo)
            if [[ $(cat "$venv/stamp-demo" 2>/dev/null) == "$want" ]]; then return; fi
            install charts,frames,service
            ;;
        test) install charts,frames,fast,service,postgres,spark,test ;;
        site)
            if [[ $(cat "$venv/stamp-site" 2>/dev/null) == "$want" ]]; then return; fi
            install site
            ;;
        release)
            if [[ $(cat "$venv/stamp-release" 2>/dev/null) == "$want" ]]; then return; fi
            install_tools
            ;;
    esac
    printf '%s\n' "$want" >"$venv/stamp-$1"
}
