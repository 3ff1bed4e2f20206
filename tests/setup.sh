# SPDX-License-Identifier: LGPL-2.1-or-later
# Sourced by tests/run and tests/demo: what they need, and how to get it.

BUILD_PACKAGES="gcc meson ninja-build pkg-config libc6-dev libsystemd-dev libudev-dev libconfig-dev libjson-c-dev libsmartcols-dev"
UNIT_PACKAGES="check clang-format mandoc"
VM_PACKAGES="qemu-system-x86 qemu-utils mmdebstrap e2fsprogs cpio python3 make xz-utils kmod"

say() { printf '%s\n' "$*"; }

missing_packages() { # PACKAGE…
        for p; do
                [ "$(dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null)" = installed ] || printf '%s ' "$p"
        done
}

# Installs what is missing of PACKAGE…; where that cannot be done, says what is missing and ends.
need() {
        if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
                # Not Debian: names differ, so look for the tools.
                for tool in gcc meson ninja pkg-config "$@"; do
                        case $tool in *-dev|check|libc6*|e2fsprogs|xz-utils|kmod|qemu-*|ninja-build) continue ;; esac
                        command -v "$tool" >/dev/null || lacking="${lacking:-} $tool"
                done
                if [ -n "${lacking:-}" ]; then
                        say "This is not a Debian system. Install these first:$lacking" \
                            "(and the headers of libsystemd, libudev, libconfig, json-c, libsmartcols and check)."
                        exit 1
                fi
                return
        fi

        lacking=$(missing_packages "$@")
        [ -n "$lacking" ] || return 0
        if [ "$(id -u)" != 0 ]; then
                say "These packages are missing: $lacking" "Install them (sudo apt-get install $lacking), or run this with sudo."
                exit 1
        fi
        say "Installing: $lacking"
        apt-get update -q >"$LOGS/apt.log" 2>&1 || true
        # shellcheck disable=SC2086
        DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends $lacking >>"$LOGS/apt.log" 2>&1 || {
                tail -20 "$LOGS/apt.log"
                say "The packages could not be installed."
                exit 1
        }
}

# Builds in DIR with meson options…, quietly unless it fails.
build() {
        dir=$1; shift
        [ -d "$dir" ] && [ ! -f "$dir/build.ninja" ] && rm -rf "$dir"
        if [ ! -d "$dir" ]; then
                meson setup "$dir" "$@" >"$LOGS/meson.log" 2>&1 || { cat "$LOGS/meson.log"; say "meson failed."; exit 1; }
        fi
        ninja -C "$dir" >"$LOGS/ninja.log" 2>&1 || { cat "$LOGS/ninja.log"; say "The build failed."; exit 1; }
}

# Builds the program as a distribution would, and installs it below $BUILD/root. Builds the kernel modules of the virtual
# machine: MODULES, the options that say where they are.
build_for_vm() {
        build "$BUILD/release" --buildtype=release -Dtests=disabled
        rm -rf "$BUILD/root"
        DESTDIR="$BUILD/root" meson install -C "$BUILD/release" --quiet >"$LOGS/install.log" 2>&1 || {
                cat "$LOGS/install.log"
                exit 1
        }

        say "Preparing the virtual machine's kernel (the first time, a minute or two)…"
        kernel=$(/usr/bin/python3 tests/vm/image.py --kernel-version | tail -1)
        [ -n "$kernel" ] || { say "The virtual machine's base system could not be built."; exit 1; }
        need "linux-headers-$kernel"
        built=$(/usr/bin/python3 tests/vm/modules.py "$kernel") || exit 1
        mapfile -t MODULES <<<"$built"
        MODULES=("${MODULES[@]/#/--module=}")
}
