# SPDX-License-Identifier: LGPL-2.1-or-later
# Sourced by tests/setup.sh and packaging/build: roots with other suites of Debian, made by mmdebstrap and kept where the system
# tests keep theirs. Needs root, and a Debian host whose archive has these suites.

suite_cache=${DRIVEKEEP_TEST_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/drivekeep-test}
mkdir -p "$suite_cache"

# Where the root of a suite with these packages is, or will be.
suite_directory() { # SUITE PACKAGE…
        printf '%s/suite-%s-%s' "$suite_cache" "$1" "$(printf '%s' "$*" | sha256sum | cut -c 1-16)"
}

# Removes what an interrupted run left. mmdebstrap mounts /proc, /sys and devices of the host there, in which nothing must be removed.
suite_clear() { # DIRECTORY
        local mounted
        while read -r mounted; do umount --lazy "$mounted"; done < <(awk -v below="$1/" 'index($2, below) == 1 { print $2 }' /proc/mounts | sort -r)
        rm -rf --one-file-system "$1"
}

# Makes it, unless it is there. From where the host gets its own packages, and as it does: for the host's own suite with the updates that
# the host gets, too; failing that, from where mmdebstrap thinks.
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

# Runs a shell command in it, in mount, process and network namespaces of its own. Nothing of the host is seen in there but its kernel's
# /proc and /sys, the latter read-only. The root stays as it is: what the command writes is in SCRATCH/written afterwards, and what is
# there before, the command finds. A cache of the host is its /cache.
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
