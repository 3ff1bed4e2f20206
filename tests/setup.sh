# SPDX-License-Identifier: LGPL-2.1-or-later
# Sourced by tests/run, tests/demo and tests/bench: what they need, and how to get it.
. packaging/suite.sh

# The scripts remove directories below $BUILD and $LOGS. With an empty variable, they would remove directories of the root file system.
: "${BUILD:?is not set}" "${LOGS:?is not set}"

BUILD_PACKAGES="gcc meson ninja-build pkg-config libc6-dev libsystemd-dev libudev-dev libconfig-dev libseccomp-dev libjson-c-dev libsmartcols-dev"
UNIT_PACKAGES="check clang-format mandoc binutils gcovr jq python3-jsonschema python3-jeepney python3-matplotlib python3-numpy"
SHELL_PACKAGES="zsh fish"
FUZZ_PACKAGES="clang libclang-rt-dev"
MEMCHECK_PACKAGES="valgrind python3"
LINT_PACKAGES="cppcheck clang-tidy"
VM_PACKAGES="qemu-system-x86 qemu-utils mmdebstrap e2fsprogs cpio python3 python3-jsonschema make xz-utils zstd kmod"
ANSIBLE_PACKAGES="ansible-core ansible-lint openssh-client"
PAGE_PACKAGES="chromium gettext python3-jsonschema"
ELSEWHERE_PACKAGES="mmdebstrap"
BENCH_PACKAGES="valgrind"

# Clones on the same machine share compiled files. For this, the paths in debugging symbols are relative to the clone.
CACHE_PACKAGES="ccache"
export CCACHE_DIR=$suite_cache/ccache CCACHE_MAXSIZE=500M CCACHE_BASEDIR=$PWD

say() { printf '%s\n' "$*"; }

missing_packages() { # PACKAGE…
        for p; do
                [ "$(dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null)" = installed ] || printf '%s ' "$p"
        done
}

# Unpacks a program of a package without installing the package: an installed hdparm of Debian could write to the drives of this machine, and
# an installed prometheus would run. If the program is missing, some tests are skipped or fail.
borrow() { # PACKAGE DIRECTORY/PROGRAM
        command -v "${2##*/}" >/dev/null && return
        if [ ! -x "$BUILD/$1/$2" ] && command -v apt-get >/dev/null; then
                mkdir -p "$BUILD/$1"
                (cd "$BUILD/$1" && apt-get download -q "$1" && dpkg-deb -x "$1"_*.deb .) >>"$LOGS/apt.log" 2>&1 || true
        fi
        PATH=$PATH:$BUILD/$1/${2%/*}
}

# Downloads axe-core, which checks the accessibility of the page for Cockpit, from the npm registry, because Debian has no
# package of axe-core. Without npm or the registry, the accessibility is not checked.
AXE_VERSION=4.14.1
AXE_SHA256=29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c
borrow_axe() {
        local axe=$BUILD/axe/package/axe.min.js
        if [ ! -f "$axe" ] && command -v npm >/dev/null; then
                mkdir -p "$BUILD/axe"
                (cd "$BUILD/axe" && npm pack --silent "axe-core@$AXE_VERSION" && tar -xzf "axe-core-$AXE_VERSION.tgz" package/axe.min.js) >>"$LOGS/npm.log" 2>&1 || true
        fi
        if echo "$AXE_SHA256  $axe" | sha256sum --check --status 2>/dev/null; then
                export DRIVEKEEP_AXE=$axe
        else
                say "skipped: the accessibility of the page for Cockpit, because axe-core $AXE_VERSION is not here"
        fi
}

# For scripts that print TAP. result() prints one result, and after a failure the end of the log.
n=0
failed=0
result() { # STATUS TEXT LOG
        n=$((n + 1))
        if [ "$1" = 0 ]; then echo "ok $n - $2"; return; fi
        echo "not ok $n - $2"
        grep -v '^\[[0-9]*/' "$3" | tail -n 60 | sed 's/^/# /'
        failed=1
}

install_packages() { # PACKAGE…
        say "Installing: $*"
        apt-get update -q >"$LOGS/apt.log" 2>&1 || true
        DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends "$@" >>"$LOGS/apt.log" 2>&1
}

# Gets names of packages, and installs the missing packages. If this is not possible, prints what is missing and ends the script.
need() {
        if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
                # Outside Debian, packages have other names, so this looks for the tools.
                for tool in gcc meson ninja pkg-config "$@"; do
                        case $tool in *-dev|check|binutils|python3-*|libc6*|e2fsprogs|xz-utils|kmod|qemu-*|ninja-build) continue ;; esac
                        command -v "$tool" >/dev/null || lacking="${lacking:-} $tool"
                done
                if [ -n "${lacking:-}" ]; then
                        say "This is not a Debian system. Install these first:$lacking" \
                            "(and the headers of libsystemd, libudev, libconfig, libseccomp, json-c, libsmartcols and check)."
                        exit 1
                fi
                return
        fi

        lacking=$(missing_packages "$@")
        [ -n "$lacking" ] || return 0
        if [ "$(id -u)" != 0 ]; then
                say "These packages are missing: $lacking" "Install them as root (apt-get install $lacking), or run this as root."
                exit 1
        fi
        install_packages $lacking || {
                tail -20 "$LOGS/apt.log"
                say "The packages could not be installed."
                exit 1
        }
}

# Like need(), but does not fail: without these packages, some tests are skipped.
want() { # PACKAGE…
        command -v apt-get >/dev/null && [ "$(id -u)" = 0 ] || return 0
        lacking=$(missing_packages "$@")
        [ -z "$lacking" ] || install_packages $lacking || true
}

# Arguments: DIR [OPTION…] [--targets TARGET]. Builds in the directory DIR, with the given options of meson if DIR is new. With --targets,
# builds only TARGET. Prints the output only on failure.
build() {
        dir=$1; shift
        target=
        if [ "${*: -2:1}" = --targets ]; then target=${*: -1}; set -- "${@:1:$#-2}"; fi
        [ -d "$dir" ] && [ ! -f "$dir/build.ninja" ] && rm -rf "$dir"
        if [ ! -d "$dir" ]; then
                want $CACHE_PACKAGES
                cache=$(command -v ccache)
                CC="${cache##*/} ${CC:-cc}" meson setup "$dir" "-Dc_args=-ffile-prefix-map=$PWD=." "$@" >"$LOGS/meson.log" 2>&1 || {
                        cat "$LOGS/meson.log"
                        say "meson failed."
                        exit 1
                }
        fi
        # shellcheck disable=SC2086
        ninja -C "$dir" $target >"$LOGS/ninja.log" 2>&1 || { cat "$LOGS/ninja.log"; say "The build failed."; exit 1; }
}

# Prepares a machine for an interactive script (tests/demo or tests/play).
prepare_machine() { # SCRIPT SUITE
        if [ "$(id -u)" != 0 ]; then
                say "This needs root, to install packages and to make a disk image with its owners and modes; run $1 as root."
                exit 1
        fi
        need $BUILD_PACKAGES $VM_PACKAGES
        build_machine "$2"
}

# Makes the files for the machines of a suite, below $MACHINES/SUITE. The directory "root" gets the files of drivekeep's packages, the
# packages before.deb, now.deb, tune.deb and cockpit.deb, and the test program "settled". The directory "modules" gets the kernel modules.
MACHINES=$BUILD/machines
build_machine() { # SUITE [--twice]
        machine=$MACHINES/$1
        say "Building the package of $1, and one of a lower version to upgrade from…"
        built=$BUILD/packages/$1
        packages=$machine/root/usr/lib/drivekeep-test/packages
        rm -rf "$machine"
        mkdir -p "$packages" "$machine/modules"
        # With --all, two builds of the package are compared in each run, even if an earlier run has found no difference.
        [ -z "${all:-}" ] || rm -f "$suite_cache/package-$1/same"
        {
                # -0 compresses fast: this source package is not kept.
                XZ_OPT=-0 packaging/build deb --suite "$1" --nocheck --cached ${2:-} --output "$built" &&
                cp "$built"/drivekeep_*_*.deb "$packages/now.deb" &&
                tests/vm/lower-version "$packages/now.deb" "$packages/before.deb" &&
                cp "$built"/drivekeep-tune_*_all.deb "$packages/tune.deb" &&
                cp "$built"/cockpit-drivekeep_*_all.deb "$packages/cockpit.deb" &&
                dpkg-deb -x "$packages/now.deb" "$machine/root" &&
                dpkg-deb -x "$packages/tune.deb" "$machine/root"
        } >"$LOGS/package-$1.log" 2>&1 || {
                cat "$LOGS/package-$1.log"
                exit 1
        }

        gcc -o "$machine/root/usr/lib/drivekeep-test/settled" tests/vm/settled.c -lsystemd || exit 1

        say "Preparing the virtual machine of $1 and its kernel (the first time, some minutes)…"
        kernel=$(/usr/bin/python3 tests/vm/image.py --suite "$1" --kernel-version) || exit 1
        headers=(make gcc "linux-headers-$kernel")
        suite_make "$1" "${headers[@]}" >"$LOGS/headers-$1.log" 2>&1 || {
                tail -n 20 "$LOGS/headers-$1.log"
                say "There are no headers of the kernel $kernel. If the archive of $1 has a newer one, remove $suite_cache/base-*."
                exit 1
        }
        built=$(/usr/bin/python3 tests/vm/modules.py --root "$(suite_directory "$1" "${headers[@]}")" "$kernel") || exit 1
        # shellcheck disable=SC2086
        cp $built "$machine/modules"
}

# Makes the files for a machine with the sanitized program, below $BUILD/sanitized-machines. Units get the options that sanitizers need
# (tests/vm/faulty/relax.conf). This host's compiler builds the program, so the program runs only in the suite of this host.
build_sanitized_machine() { # SUITE, whose build_machine has been called
        machine=$BUILD/sanitized-machines/$1
        root=$machine/root
        build "$BUILD/sanitized" -Db_sanitize=address,undefined -Db_lundef=false -Dtests=disabled
        rm -rf "$machine"
        mkdir -p "$machine"
        cp -r "$MACHINES/$1/modules" "$machine"
        DESTDIR="$root" meson install -C "$BUILD/sanitized" --quiet >"$LOGS/install.log" 2>&1 || { cat "$LOGS/install.log"; exit 1; }
        for unit in drivekeep drivekeep-broker drivekeep-tracer; do
                install -D -m 644 tests/vm/faulty/relax.conf "$root/etc/systemd/system/$unit.service.d/sanitizers.conf"
        done
        # The sandbox of the tracer forbids the thread that searches for leaks.
        sed -i s/detect_leaks=1/detect_leaks=0/ "$root/etc/systemd/system/drivekeep-tracer.service.d/sanitizers.conf"
        mkdir -p "$root/usr/lib/drivekeep-test"
        cp "$MACHINES/$1/root/usr/lib/drivekeep-test/settled" "$root/usr/lib/drivekeep-test"
        gcc -g -fsanitize=address,undefined -o "$root/usr/lib/drivekeep-test/faulty" tests/vm/faulty/faulty.c || exit 1
}
