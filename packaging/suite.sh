# SPDX-License-Identifier: LGPL-2.1-or-later
# Sourced by tests/setup.sh and packaging/build: makes roots of Debian suites with mmdebstrap, and keeps them in the cache of the system
# tests. Needs root, and a Debian host whose archive has these suites.

suite_cache=${DRIVEKEEP_TEST_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/drivekeep-test}
mkdir -p "$suite_cache"

# Prints the path of the root file system of SUITE that has the packages PACKAGE….
suite_directory() { # SUITE PACKAGE…
        printf '%s/suite-%s-%s' "$suite_cache" "$1" "$(printf '%s' "$*" | sha256sum | cut -c 1-16)"
}

# Removes the files of an interrupted run. Unmounts first: mmdebstrap mounts /proc, /sys and devices of the host there.
suite_clear() { # DIRECTORY
        local mounted
        while read -r mounted; do umount --lazy "$mounted"; done < <(awk -v below="$1/" 'index($2, below) == 1 { print $2 }' /proc/mounts | sort -r)
        rm -rf --one-file-system "$1"
}

# Makes the root file system if it does not exist. Uses the host's apt options, and the host's package sources for this suite, including
# updates. If the host has no sources for this suite, uses the host's mirror. If the host has no sources at all, mmdebstrap uses its default
# mirror.
suite_make() { # SUITE PACKAGE…
        local suite=$1 root options=() targets sources
        root=$(suite_directory "$@"); shift
        [ ! -d "$root" ] || return 0
        while read -r line; do options+=("--aptopt=$line"); done < <(apt-config dump | grep -E '^Acquire::(https?|Check-)[^ ]* ".+";$')
        targets=$(apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Identifier: Packages' 'Origin: Debian')
        sources=$(grep " $suite[^ ]* " <<<"$targets" | sort -u)
        [ -n "$sources" ] || sources=$(sed -n "s/ [^- ]* main$/ $suite main/p" <<<"$targets" | sort -u | head -1)
        suite_clear "$root.new"
        mmdebstrap --variant=minbase --format=directory --include="$(IFS=,; echo "$*")" --dpkgopt='path-exclude=/usr/share/doc/*' \
                --dpkgopt='path-exclude=/usr/share/locale/*' "${options[@]}" "$suite" "$root.new" ${sources:+-} <<<"$sources" &&
                mv "$root.new" "$root"
}

# Runs a shell command in the root file system, in separate mount, process and network namespaces. Of the host, the command sees only
# /proc and a read-only /sys. The root file system is not modified: it is the lower layer of an overlay. SCRATCH/written is the upper layer,
# and may contain files before the call. CACHE, a directory of the host, is mounted on /cache.
suite_run() { # ROOT SCRATCH COMMAND [CACHE]
        mkdir -p "$2/written" "$2/overlay" "$2/root"
        unshare --mount --pid --net --fork --kill-child -- /bin/bash -c '
                root=$2/root
                mount -t overlay -o "lowerdir=$1,upperdir=$2/written,workdir=$2/overlay" overlay "$root" &&
                mkdir -p "$root/dev/pts" "$root/dev/shm" &&
                mount -t proc proc "$root/proc" && mount -t sysfs -o ro sysfs "$root/sys" &&
                { [ -z "${4:-}" ] || { mkdir -p "$root/cache" && mount --bind "$4" "$root/cache"; }; } &&
                mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts" && mount -t tmpfs tmpfs "$root/dev/shm" &&
                exec chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 TERM=dumb \
                        /bin/bash -c "$3"' bash "$@"
}
